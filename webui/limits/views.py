"""The Limits page, where owners set the limits of all transfers and the hours of slow speeds."""

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from webui.activity import events
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.limits import page as pages
from webui.limits.forms import AllLimitsForm, Hours
from webui.limits.half_hours import PER_WEEK
from webui.limits.screen import add_refusal, fixed_rows, initial_of
from webui.models import Role
from webui.v1.errors import Rejected
from webui.v1.own_records import Limits
from webui.words import reasons
from webui.words.formatting import Calendar


@open_to(Role.OWNER, "GET", "POST")
def show(request: Request) -> HttpResponse:
    limits = read_limits(request)
    if request.method != "POST":
        return respond(request, limits)
    form = form_of(limits, request.POST)
    if not form.is_valid():
        return respond(request, limits, 422, form=form)
    try:
        if form.has_changed():
            service_of(request).v1.set_limits(form.sent)
    except Rejected as failure:
        add_refusal(form, failure)
        return respond(request, limits, 422, form=form)
    return leave(request)


@open_to(Role.OWNER, "POST")
def change_schedule(request: Request) -> HttpResponse:
    """Save the marks of the table, and those of a whole row of hours if a button sent them."""
    limits, marked = read_limits(request), set(request.POST.getlist("slow"))
    schedule = "".join("01"[str(index) in marked] for index in range(PER_WEEK))
    mark = request.POST.get("mark", "")
    if mark in ("0", "1"):
        hours = Hours(request.POST)
        if not hours.is_valid():
            return respond(request, limits, 422, hours=hours, week=pages.week_of(schedule))
        schedule = hours.mark(schedule, mark)
    service_of(request).v1.set_limits({"schedule": schedule})
    return leave(request, "schedule")


def read_limits(request: Request) -> Limits:
    service = service_of(request)
    if not service.is_embedded:
        raise Http404
    return service.v1.limits()


def form_of(limits: Limits, sent: QueryDict | None = None) -> AllLimitsForm:
    return AllLimitsForm(initial_of(limits, AllLimitsForm), limits.fixed, sent)


def respond(request: Request, limits: Limits, status: int = 200, **more: object) -> HttpResponse:
    form = form_of(limits)
    context = {
        "form": form,
        "has_focus": "focus" in request.GET,
        "fixed": fixed_rows(form, limits),
        "hours": Hours(),
        "week": pages.week_of(limits.schedule),
        "limits": limits,
        "refusal": "" if limits.may_change else reasons.find("first_account_only").text,
        "state": pages.speed_state_words(limits, Calendar.now()),
    }
    return render(request, "limits/show.html", context | more, status=status)


def leave(request: Request, section: str = "") -> HttpResponse:
    events.record(request, events.Kind.LIMITS_CHANGED)
    messages.success(request, _("Saved"))
    return redirect(reverse("account-limits", fragment=section or None))
