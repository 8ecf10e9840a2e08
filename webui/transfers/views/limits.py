"""Which speeds apply, and how an owner switches them for a time."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from webui.activity import events
from webui.http.requests import Request, no_content, service_of
from webui.http.roles import open_to
from webui.limits.page import speed_state_words
from webui.limits.screen import speed_context
from webui.models import Role
from webui.transfers.screen import confirm
from webui.words.formatting import Calendar


@open_to(Role.GUEST, "GET")
def show_speed(request: Request) -> HttpResponse:
    """Send which speeds apply, unless the page shows that already."""
    context = speed_context(request)
    state = context.get("speed")
    if not context or request.GET.get("seen") == getattr(state, "seen", ""):
        return no_content()
    return render(request, "transfers/_speed.html", context)


@open_to(Role.OWNER, "POST")
def switch(request: Request) -> HttpResponse:
    """Apply the slow or full speeds for a time, or what the schedule says."""
    service = service_of(request)
    if not service.is_embedded:
        raise Http404
    fields = {"switch": request.GET.get("to", ""), "until": request.GET.get("until", "")}
    limits = service.v1.set_limits(fields)
    events.record(request, events.Kind.SPEED_SWITCHED)
    words = speed_state_words(limits, Calendar.now())
    return confirm(request, words or _("Full speed applies."))
