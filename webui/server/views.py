"""The Server screen: what everyone shares, and the settings that owners change there."""

import logging
from contextlib import suppress

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from common.host import host
from webui import owner_settings
from webui.activity import events
from webui.add import parse
from webui.add import send as add_send
from webui.add.send import SendContext
from webui.connection import connection
from webui.errors import answers as error_answers
from webui.http.requests import Request, leave_for, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.entries import ROOT
from webui.models import Connection, Role
from webui.people import program_password
from webui.server import traffic, wishlist
from webui.server.forms import Connect, words_of
from webui.server.pages.server import forget_page, place_of, refusal_of
from webui.server.pages.traffic import PERIODS, traffic_page
from webui.server.screen import (
    BYTES_PER_GB,
    context_for,
    is_owner,
    names_form,
    page_context_for,
    programs_of,
    storage_form,
)
from webui.signin.ask_password import require_password
from webui.transfers import actions
from webui.v1.errors import Failure, NotFound
from webui.v1.records import Account, Wish
from webui.words.formatting import Calendar

log = logging.getLogger("ferry.connection")
account_log = logging.getLogger("ferry.account")


@open_to(Role.GUEST, "GET")
def show(request: Request) -> HttpResponse:
    return render(request, "server/show.html", page_context_for(request))


@open_to(Role.OWNER, "POST")
@require_password("account-server", "storage")
def change_storage(request: Request) -> HttpResponse:
    if not service_of(request).is_embedded:
        raise Http404
    form = storage_form(request.POST, service_of(request).v1.account())
    if not form.is_valid():
        return show_again(request, 422, storage_form=form)
    space_gb, days = form.cleaned_data["space_gb"], form.cleaned_data.get("deleted_days")
    if "space_gb" in form.changed_data:
        set_space(request, space_gb * BYTES_PER_GB)
        events.record(request, events.Kind.SPACE_CHANGED, str(space_gb))
    if "deleted_days" in form.changed_data:
        owner_settings.change("DELETED_DAYS", days)
        events.record(request, events.Kind.DELETED_DAYS_CHANGED, str(days))
    return leave(request, "storage", _("Saved"))


@open_to(Role.OWNER, "POST")
@require_password("account-server", "names")
def change_names(request: Request) -> HttpResponse:
    form = names_form(request, request.POST)
    if not form.is_valid():
        return show_again(request, 422, names_form=form)
    if "server_name" in form.changed_data:
        owner_settings.change("SERVER_NAME", form.cleaned_data["server_name"])
        events.record(request, events.Kind.SERVER_NAMED, owner_settings.server_name())
    if "host_names" in form.changed_data:
        names = form.cleaned_data["host_names"]
        owner_settings.change("HOST_NAMES", words_of(names))
        events.record(request, events.Kind.ADDRESSES_CHANGED, names or "\N{EN DASH}")
    return leave(request, "names", _("Saved"))


def set_space(request: Request, size_bytes: int) -> None:
    host().embedded.set_space(size_bytes)
    # The meter of every page shows what the latest listing says.
    with suppress(Failure):
        folders.read(service_of(request), ROOT, now=timezone.now())


def show_again(request: Request, status: int, *, part: str = "", **context: object) -> HttpResponse:
    """Show the screen with more than usual. htmx gets only the part, if the form names one."""
    if part and request.htmx:
        return render(
            request, f"server/_{part}.html", context_for(request) | context, status=status
        )
    return render(request, "server/show.html", page_context_for(request) | context, status=status)


def leave(request: Request, section: str, message: str) -> HttpResponse:
    messages.success(request, message)
    return leave_for(request, reverse("account-server", fragment=section))


# The wishlist of the account at the storage service


@open_to(Role.MEMBER, "POST")
def retry_wish(request: Request, wish: str) -> HttpResponse:
    account, target = find_wish(request, wish)
    items = parse.read(target.magnet or "")
    if not items:
        raise NotFound("not_found", status=404)
    context = SendContext(service_of(request), request.user, None, timezone.now())
    result = add_send.send(context, items[:1]).results[0]
    if result.is_well:
        wishlist.hide(service_of(request), account, target)
        actions.mark_changed(service_of(request))
    tell = messages.success if result.is_well else messages.error
    tell(request, f"{result.name}: {result.sentence}")
    return redirect(reverse("account-server", fragment="plan"))


@open_to(Role.MEMBER, "POST")
def forget_wish(request: Request, wish: str) -> HttpResponse:
    account, target = find_wish(request, wish)
    wishlist.hide(service_of(request), account, target)
    account_log.info("removed wish name=%r", request.user.username)
    return leave(request, "plan", _("Hidden. The item stays on the service's list."))


def find_wish(request: Request, key: str) -> tuple[Account, Wish]:
    account = service_of(request).v1.account()
    for wish in wishlist.visible_wishes(service_of(request), account):
        if wishlist.key_of(wish) == key:
            return account, wish
    raise NotFound("not_found", status=404)


# The storage service: whether it answers, and which one it is


@open_to(Role.GUEST, "POST")
def check_service(request: Request) -> HttpResponse:
    """Check the service. A failure is a normal response: the section shows it."""
    with suppress(Failure):
        service = connection.service()
        with suppress(Failure):
            service.v1.account()
        connection.share_health(service.key, service.v1.health)
    if not request.htmx:
        return redirect(reverse("account-server", fragment="service"))
    return render(request, "server/_service.html", {**context_for(request), "is_checked": True})


@sensitive_post_parameters("password")
@open_to(Role.OWNER, "POST")
@require_password("account-server", "connection")
def connect(request: Request) -> HttpResponse:
    """Save a connection, but only after the service has accepted the account."""
    if settings.SERVICE_URL:
        return refuse_change(request)
    form = Connect(own_hosts(request), request.POST)
    if not form.is_valid() or not save_connection(form):
        return show_again(request, 422, part="connection", connect=form)
    place = place_of(form.cleaned_data["url"])
    events.record(request, events.Kind.CONNECTED, place)
    words = _("Connected. Your files are at %(place)s.")
    return leave(request, "connection", words % {"place": place})


@sensitive_variables()
def save_connection(form: Connect) -> bool:
    url, name, password = (form.cleaned_data[field] for field in ("url", "email", "password"))
    try:
        connection.check(url, name, password)
    except Failure as failure:
        log.warning("refused connection place=%r reason=%s", place_of(url), failure.reason)
        form.add_error(None, refusal_of(failure))
        return False
    connection.store(url, name, password)
    return True


def own_hosts(request: Request) -> list[str]:
    """Return the hosts of this Ferry: a connection to itself would turn off its own service."""
    names = ("localhost", "127.0.0.1", "::1", "[::1]")
    return [request.get_host(), *(f"{name}:{settings.PORT}" for name in names)]


@open_to(Role.OWNER, "GET", "POST")
@require_password("account-server", "connection")
def disconnect(request: Request) -> HttpResponse:
    if settings.SERVICE_URL:
        return refuse_change(request)
    stored = Connection.objects.first()
    if stored is None:
        return leave_for(request, reverse("account-server", fragment="connection"))
    if request.method != "POST":
        return render(request, "server/forget.html", {"page": forget_page(stored.url)})
    connection.disconnect()
    events.record(request, events.Kind.DISCONNECTED, place_of(stored.url))
    return leave(request, "connection", _("Disconnected. Your files are on this machine."))


def refuse_change(request: Request) -> HttpResponse:
    return error_answers.plain(
        request,
        409,
        title=_("The setting SERVICE_URL decides this"),
        text=_("Remove the setting and restart Ferry, then choose the service here."),
    )


# The password that other programs had before there were tokens


@open_to(Role.OWNER, "POST")
def change_programs(request: Request) -> HttpResponse:
    """Revoke the password. Programs that use it lose access."""
    if programs_of(request) is None:
        raise Http404
    program_password.revoke()
    events.record(request, events.Kind.PROGRAMS_BLOCKED)
    return leave(request, "programs", _("Other programs can't sign in anymore"))


@open_to(Role.MEMBER, "GET")
def show_traffic(request: Request) -> HttpResponse:
    """Show how much was received and sent. Owners see it of each person, members their own."""
    service = service_of(request)
    if not service.is_embedded:
        raise Http404
    period = next((each for each in PERIODS if each == request.GET.get("period")), PERIODS[0])
    sums = service.v1.traffic(period)
    people = traffic.by_person(service, sums.transfers)
    if not is_owner(request):
        people = [each for each in people if each.name == request.user.username]
    page = traffic_page(period, sums.parts, people, Calendar.now())
    return render(request, "server/traffic.html", {"page": page})
