"""What every view of the Server screen shares."""

import sqlite3
from contextlib import suppress
from dataclasses import replace

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from webui.connection import connection
from webui.formatting import Calendar
from webui.http.requests import Request, is_secure_context, service_of
from webui.library import folders
from webui.library.entries import ROOT
from webui.models import Connection, Role, User
from webui.people import invitations
from webui.people.page import PeoplePart, people_part
from webui.server import plan, wishlist
from webui.server.forms import Connect
from webui.server.page import (
    ConnectionPart,
    ProgramsPart,
    ServerPage,
    ServicePart,
    connection_part,
    service_part,
    unhealthy_part,
)
from webui.server.plan_page import PlanPart, absent_part, aged_words, plan_part
from webui.server.storage_page import StoragePart, storage_part
from webui.shares.screen import everyones_shares
from webui.shell import context
from webui.v1.address import split_service_url
from webui.v1.connection import Health
from webui.v1.errors import Failure


def context_for(request: Request, connect: Connect | None = None) -> dict[str, object]:
    """Return the context of the parts, each of which may be shown alone."""
    is_owner = Role(request.user.role).includes(Role.OWNER)
    page = ServerPage(
        storage=storage_of(request),
        service=connection_state(),
        connection=connection_of() if is_owner else None,
        people=people_of(request) if is_owner else None,
    )
    return {
        "page": page,
        "is_server": True,
        "is_plain": not is_secure_context(request),
        "programs": programs_of(request) if is_owner else None,
        "connect": connect or Connect(()),
        "links": everyones_shares(request) if is_owner else None,
    }


def page_context_for(request: Request, connect: Connect | None = None) -> dict[str, object]:
    """Return the context of the whole page, which also shows the plan.

    Requesting the plan first also shows the service's health.
    """
    plan = plan_of(request) if is_member(request) else None
    return {"plan": plan, **context_for(request, connect)}


def is_member(request: Request) -> bool:
    return Role(request.user.role).includes(Role.MEMBER)


def storage_of(request: Request) -> StoragePart:
    """Describe the storage from cached listings, without asking the service."""
    cached, has_largest, can_restore = None, False, False
    with suppress(Failure, sqlite3.Error):
        has_largest = service_of(request).is_embedded
        can_restore = is_member(request) and service_of(request).can_restore
        cached = folders.store().find(service_of(request).key, ROOT)
    entries = cached.snapshot.contents.entries if cached else ()
    return storage_part(
        context.gauge_for(request), entries, has_largest=has_largest, can_restore=can_restore
    )


def connection_state() -> ServicePart:
    """Describe the service's health from earlier calls, such as this page's own for the plan."""
    now = timezone.now()
    try:
        service = connection.service()
    except Failure as failure:
        return unhealthy_part(failure, Health(), now)
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


def people_of(request: Request) -> PeoplePart:
    now = timezone.now()
    zone = Calendar(now, timezone.get_current_timezone())
    return people_part(
        User.objects.order_by("pk"), invitations.invitations(now), request.user, zone
    )


def plan_of(request: Request) -> PlanPart:
    """Ask the service once. If that fails, the page says so and still shows everything else."""
    now = timezone.now()
    try:
        reading = plan.read_account(service_of(request), now)
    except Failure as failure:
        return absent_part(failure)
    wishes = [
        (wishlist.key_of(wish), wish)
        for wish in wishlist.visible_wishes(service_of(request), reading.account)
    ]
    calendar = Calendar(now, timezone.get_current_timezone())
    is_owner = Role(request.user.role).includes(Role.OWNER)
    failure_words = aged_words(reading.failure, now - reading.at) if reading.failure else ""
    part = plan_part(reading.account, wishes, calendar, is_owner=is_owner, failure=failure_words)
    return replace(part, is_embedded=service_of(request).is_embedded)
