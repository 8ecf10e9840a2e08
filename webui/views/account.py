import logging
import sqlite3
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from webui import (
    activity,
    attempts,
    connection,
    devices,
    folders,
    languages,
    people,
    sharing,
    shell,
)
from webui.activity import Kind
from webui.confirmation import note_password
from webui.forms import ChangePassword, Connect
from webui.http import Request
from webui.models import Connection, Role, SendToken, User
from webui.pages.account import (
    AccountPage,
    ConnectionPart,
    ProgramsPart,
    ServicePart,
    connection_part,
    ill_part,
    language_choices,
    service_part,
)
from webui.pages.devices import MOST_DEVICES, DevicesPart, devices_part
from webui.pages.entries import ROOT
from webui.pages.measures import Calendar
from webui.pages.people import PeoplePart, people_part
from webui.pages.shares import ShareRow, share_rows
from webui.pages.storage import StoragePart, storage_part
from webui.pages.ways import WaysPart, token_rows, ways_part
from webui.roles import open_to, open_to_strangers
from webui.v1.address import split_service_url
from webui.v1.connection import Health
from webui.v1.errors import Failure
from webui.views.plan import plan_of
from webui.views.signin import count_own_failure, limited_own, remember_device

log = logging.getLogger("ferry.account")


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    return render(request, "account/show.html", context_for(request))


def context_for(
    request: Request, form: ChangePassword | None = None, connect: Connect | None = None
) -> dict[str, object]:
    """What asks the service, and what tells how it answered, wait for a template that shows it."""
    role = Role(request.user.role)
    page = AccountPage(
        request.user.username,
        str(role.label),
        storage=storage_of(request),
        service=cast("ServicePart", SimpleLazyObject(service_of)),
        languages=language_choices(settings.LANGUAGES, request.user.language),
        connection=connection_of() if role.includes(Role.OWNER) else None,
        devices=devices_of(request),
        programs=programs_of(request) if role.includes(Role.OWNER) else None,
        people=people_of(request) if role.includes(Role.OWNER) else None,
    )
    is_member = role.includes(Role.MEMBER)
    return {
        "page": page,
        "plan": SimpleLazyObject(lambda: plan_of(request)) if is_member else None,
        "is_plain": not is_secure_context(request),
        "programs": page.programs,
        "shares": shares_of(request),
        "form": form or ChangePassword(request.user),
        "connect": connect or Connect(()),
        "ways": ways_of(request) if is_member else None,
    }


def storage_of(request: Request) -> StoragePart:
    """Of what listings told last: the page asks nothing by itself."""
    try:
        known = folders.store().known(request.service.key, ROOT)
    except (Failure, sqlite3.Error):
        known = None
    entries = known.snapshot.contents.entries if known else ()
    return storage_part(shell.gauge_for(request), entries)


def ways_of(request: Request) -> WaysPart:
    own = SendToken.objects.filter(user=request.user).order_by("pk")
    rows = own.values_list("pk", "name", "created_at", "used_at")
    calendar = Calendar(timezone.now(), timezone.get_current_timezone())
    return ways_part(
        request.build_absolute_uri(reverse("add")),
        request.build_absolute_uri(reverse("send-token")),
        token_rows(rows, calendar),
        is_secure=is_secure_context(request),
    )


def shares_of(request: Request) -> list[ShareRow]:
    calendar = Calendar(timezone.now(), timezone.get_current_timezone())
    return share_rows(sharing.of(request.user, timezone.now()), calendar)


def is_secure_context(request: Request) -> bool:
    """As browsers see it: https, or this very machine."""
    own = ("localhost", "127.0.0.1", "[::1]")
    return request.is_secure() or split_domain_port(request.get_host())[0] in own


def service_of() -> ServicePart:
    """What earlier calls told, of which the page's own question about the plan may be one."""
    now = timezone.now()
    try:
        service = connection.service()
    except Failure as failure:
        return ill_part(failure, Health(), now)
    return service_part(connection.health_of(service), now)


def connection_of() -> ConnectionPart:
    fixed_url = split_service_url(settings.SERVICE_URL)[0] if settings.SERVICE_URL else ""
    stored = Connection.objects.first()
    return connection_part(fixed_url=fixed_url, stored_url=stored.url if stored else "")


def programs_of(request: Request, password: str = "") -> ProgramsPart | None:
    if not connection.is_embedded():
        return None
    address = request.build_absolute_uri(f"{settings.URL_PREFIX}/rest")
    return ProgramsPart(address, import_string(settings.V1_ACCOUNT), password)


def devices_of(request: Request) -> DevicesPart:
    now = timezone.now()
    found = devices.of(request.user, now)
    shown = list(found[:MOST_DEVICES])
    zone = Calendar(now, timezone.get_current_timezone())
    return devices_part(shown, found.count(), request.session.session_key or "", zone, now)


def people_of(request: Request) -> PeoplePart:
    now = timezone.now()
    zone = Calendar(now, timezone.get_current_timezone())
    return people_part(User.objects.order_by("pk"), people.invitations(now), request.user, zone)


@sensitive_post_parameters()
@require_POST
@open_to(Role.GUEST)
def password(request: Request) -> HttpResponse:
    """Ends every other session: their hash of the password no longer fits."""
    limits = attempts.limits_for_session(request.session.session_key or "")
    wait = attempts.take(limits)
    if wait:
        return limited_own(request, wait)
    form = ChangePassword(request.user, request.POST)
    is_valid = form.is_valid()
    if form.has_error("old_password", "wrong"):
        count_own_failure(request)
    else:
        attempts.give_back(limits)
    if is_valid:
        return _change(request, form)
    if request.htmx:
        return render(request, "account/_password.html", context_for(request, form), status=422)
    return render(request, "account/show.html", context_for(request, form), status=422)


def _change(request: Request, form: ChangePassword) -> HttpResponse:
    request.user.set_password(form.cleaned_data["password"])
    request.user.save(update_fields=["password"])
    devices.stay(request, request.user)
    note_password(request)
    devices.sign_out(devices.others(request.user, request.session.session_key or ""))
    log.info("changed password name=%r", request.user.username)
    activity.record(request, Kind.PASSWORD_CHANGED, request.user.username)
    if request.htmx:
        context = {**context_for(request), "is_changed": True}
        response = render(request, "account/_password.html", context)
    else:
        messages.success(request, _("Password changed. Every other device is signed out."))
        response = redirect("account")
    remember_device(response, request.user)
    return response


@require_POST
@open_to(Role.GUEST)
def language(request: Request) -> HttpResponse:
    """Kept with the person, for all their devices. What nobody speaks leaves it to the browser."""
    chosen = request.POST.get("language", "")
    request.user.language = chosen if languages.is_spoken(chosen) else ""
    request.user.save(update_fields=["language"])
    translation.activate(request.user.language or translation.get_language_from_request(request))
    messages.success(request, _("Language saved"))
    return redirect(f"{reverse('account')}#language-save")


@require_POST
@open_to_strangers
def look(request: HttpRequest) -> HttpResponse:
    """Keeps the colour scheme in this browser. The page itself has changed at once, by CSS."""
    is_htmx = bool(getattr(request, "htmx", None))
    response = HttpResponse(status=204) if is_htmx else redirect("account")
    shell.keep_theme(response, request.POST.get("theme", ""))
    return response
