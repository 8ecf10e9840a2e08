"""The storage service on the Server screen: whether it answers, and which one it is."""

import logging
from contextlib import suppress

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST

from webui.activity import events
from webui.activity.events import Kind
from webui.connection import connection
from webui.errors import answers as error_answers
from webui.http.requests import Request, asks_and_acts, leave_for
from webui.http.roles import open_to
from webui.models import Connection, Role
from webui.server.forms import Connect
from webui.server.pages.server import forget_page, place_of, refusal_of
from webui.server.screen import context_for, page_context_for
from webui.signin.ask_password import require_password
from webui.v1.errors import Failure

log = logging.getLogger("ferry.connection")


@require_POST
@open_to(Role.GUEST)
def check(request: Request) -> HttpResponse:
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
@require_POST
@open_to(Role.OWNER)
@require_password("account-server", "connection")
def connect(request: Request) -> HttpResponse:
    """Save a connection, but only after the service has accepted the account."""
    if settings.SERVICE_URL:
        return refuse_change(request)
    form = Connect(own_hosts(request), request.POST)
    if not form.is_valid() or not save_connection(form):
        if request.htmx:
            context = context_for(request, connect=form)
            return render(request, "server/_connection.html", context, status=422)
        return render(request, "server/show.html", page_context_for(request, form), status=422)
    place = place_of(form.cleaned_data["url"])
    events.record(request, Kind.CONNECTED, place)
    messages.success(request, _("Connected. Your files are at %(place)s.") % {"place": place})
    return leave_for(request, part_url())


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


def part_url() -> str:
    return reverse("account-server", fragment="connection")


def own_hosts(request: Request) -> list[str]:
    """Return the hosts of this Ferry: a connection to itself would turn off its own service."""
    names = ("localhost", "127.0.0.1", "::1", "[::1]")
    return [request.get_host(), *(f"{name}:{settings.PORT}" for name in names)]


@asks_and_acts
@open_to(Role.OWNER)
@require_password("account-server", "connection")
def forget(request: Request) -> HttpResponse:
    if settings.SERVICE_URL:
        return refuse_change(request)
    stored = Connection.objects.first()
    if stored is None:
        return leave_for(request, part_url())
    if request.method != "POST":
        return render(request, "server/forget.html", {"page": forget_page(stored.url)})
    connection.disconnect()
    events.record(request, Kind.DISCONNECTED, place_of(stored.url))
    messages.success(request, _("Disconnected. Your files are on this machine."))
    return leave_for(request, part_url())


def refuse_change(request: Request) -> HttpResponse:
    return error_answers.plain(
        request,
        409,
        title=_("The setting SERVICE_URL decides this"),
        text=_("Remove the setting and restart Ferry, then choose the service here."),
    )
