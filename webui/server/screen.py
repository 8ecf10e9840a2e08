"""What every view of the Server screen shares."""

import sqlite3
from contextlib import suppress
from dataclasses import replace

from django.conf import settings
from django.http import QueryDict
from django.http.request import split_domain_port
from django.utils import timezone

from common.host import host
from webui import owner_settings
from webui.activity.page import activity_page
from webui.connection import connection
from webui.connection.connection import Service
from webui.health.page import health_page
from webui.http.requests import Request, is_secure_context, service_of
from webui.library import folders
from webui.library.entries import ROOT
from webui.limits.page import limits_part, reachability_part
from webui.models import Activity, Connection, ProgramPassword, Role, User
from webui.people import device_addresses
from webui.people.pages.people import InvitationRow, invitation_row, person_row
from webui.server import plan, wishlist
from webui.server.forms import Connect, ServerNames, StorageSettings
from webui.server.pages import server as pages
from webui.server.pages.plan import PlanPart, aged_words, plan_part
from webui.server.pages.server import ConnectionPart, ServerPage, ServicePart, StoragePart
from webui.server.plan import AccountReading
from webui.shares.screen import everyones_shares
from webui.shell import context
from webui.signin import one_time_links
from webui.storage_meter import gauge_of
from webui.tokens.screen import everyones_tokens
from webui.v1.connection import Health
from webui.v1.errors import Failure
from webui.v1.network.address import split_service_url
from webui.v1.records import Account
from webui.words.failures import message_of
from webui.words.formatting import Calendar, count_words

BYTES_PER_GB = 10**9
MOST_EVENTS = 5


def context_for(request: Request, page: ServerPage | None = None) -> dict[str, object]:
    """Return the context of the parts that may be shown alone."""
    return {
        "page": page or page_of(request),
        "is_plain": not is_secure_context(request),
        "programs": programs_of(request) if is_owner(request) else None,
        "connect": Connect(()),
    }


def page_context_for(request: Request) -> dict[str, object]:
    """Return the context of the whole page, which also shows the plan and the settings.

    Requesting the account first also shows the service's health.
    """
    reading = read_account(request) if is_member(request) else None
    account = plan_of(request, reading) if reading else None
    page, links = page_of(request), everyones_shares(request) if is_owner(request) else []
    if isinstance(reading, AccountReading) and service_of(request).is_embedded:
        # The listings may be older than the account.
        space = gauge_of(reading.account.space_used_bytes, reading.account.space_max_bytes)
        page = replace(page, storage=replace(page.storage, gauge=space))
    if is_owner(request):
        page = with_owners_parts(request, page)
        if isinstance(reading, AccountReading) and not reading.failure:
            page = with_transfers_parts(service_of(request), page)
    return {
        **context_for(request, page),
        **settings_context(request, reading),
        "plan": account,
        "links": links,
        "tokens": everyones_tokens() if is_owner(request) else [],
        "is_server": True,
        "has_traffic": is_member(request) and page.storage.is_own,
    }


def page_of(request: Request) -> ServerPage:
    page = ServerPage(storage_of(request), connection_state())
    if is_owner(request):
        people = [person_row(each, request.user) for each in User.objects.order_by("pk")]
        page = replace(
            page, connection=connection_of(), people=people, invitations=invitation_rows()
        )
    return page


def with_owners_parts(request: Request, page: ServerPage) -> ServerPage:
    calendar = Calendar.now()
    latest = Activity.objects.order_by("-pk")[:MOST_EVENTS]
    return replace(
        page,
        server_name=owner_settings.server_name(),
        addresses=addresses_of(request),
        health=health_page(host().report_health(is_brief=True), calendar),
        activity=activity_page(latest, calendar, before=0),
    )


def with_transfers_parts(service: Service, page: ServerPage) -> ServerPage:
    """Add what Ferry's own service says, if this account may know it."""
    calendar = Calendar.now()
    with suppress(Failure):
        if service.is_embedded:
            limits = limits_part(service.v1.limits(), calendar)
            reachability = reachability_part(service.v1.reachability(), calendar)
            return replace(page, limits=limits, reachability=reachability)
    return page


def is_owner(request: Request) -> bool:
    return Role(request.user.role).includes(Role.OWNER)


def is_member(request: Request) -> bool:
    return Role(request.user.role).includes(Role.MEMBER)


def storage_of(request: Request) -> StoragePart:
    """Describe the storage from cached listings, without asking the service."""
    cached, is_embedded, can_restore = None, False, False
    with suppress(Failure, sqlite3.Error):
        is_embedded = service_of(request).is_embedded
        can_restore = is_member(request) and service_of(request).can_restore
        cached = folders.store().find(service_of(request).key, ROOT)
    entries = cached.snapshot.contents.entries if cached else ()
    gauge = context.gauge_for(request)
    return StoragePart(gauge, pages.largest_rows(entries), is_embedded, can_restore)


def connection_state() -> ServicePart:
    """Describe the service's health from earlier calls, such as this page's own for the plan."""
    now = timezone.now()
    try:
        service = connection.service()
    except Failure as failure:
        return pages.unhealthy_part(failure, Health(), now)
    return pages.service_part(connection.health_of(service), now)


def connection_of() -> ConnectionPart:
    fixed_url = split_service_url(settings.SERVICE_URL)[0] if settings.SERVICE_URL else ""
    stored = Connection.objects.first()
    return pages.connection_part(fixed_url=fixed_url, stored_url=stored.url if stored else "")


def programs_of(request: Request) -> dict[str, object] | None:
    """Return where other programs find Ferry's own service, and whether the password works that
    an earlier version made."""
    if not connection.is_embedded():
        return None
    address = request.build_absolute_uri(f"{settings.URL_PREFIX}/rest")
    return {"address": address, "has_password": ProgramPassword.objects.exists()}


def addresses_of(request: Request) -> list[str]:
    """Return the address of this page before those in the network."""
    here = f"{request.scheme}://{request.get_host()}"
    bases = dict.fromkeys([here, *device_addresses.network_bases()])
    return [f"{base}{settings.URL_PREFIX}/" for base in bases]


def invitation_rows() -> list[InvitationRow]:
    calendar = Calendar.now()
    rows = one_time_links.invitations(timezone.now()).order_by("expires_at", "pk")
    return [invitation_row(*row, calendar) for row in rows.values_list("pk", "role", "expires_at")]


def read_account(request: Request) -> AccountReading | Failure:
    """Ask the service once. If that fails, the page says so and still shows everything else."""
    try:
        return plan.read_account(service_of(request), timezone.now())
    except Failure as failure:
        return failure


def plan_of(request: Request, reading: AccountReading | Failure) -> PlanPart:
    if isinstance(reading, Failure):
        words = message_of(reading).words
        return PlanPart(failure=words, is_embedded=connection.is_embedded())
    service = service_of(request)
    wishes = wishlist.visible_wishes(service, reading.account)
    age = timezone.now() - reading.at
    return plan_part(
        reading.account,
        [(wishlist.key_of(wish), wish) for wish in wishes],
        Calendar.now(),
        is_owner=is_owner(request),
        is_embedded=service.is_embedded,
        failure=aged_words(reading.failure, age) if reading.failure else "",
    )


# Settings


def settings_context(
    request: Request, reading: AccountReading | Failure | None
) -> dict[str, object]:
    if not is_owner(request):
        return {}
    names = names_form(request)
    fixed_hosts = ", ".join(settings.TRUSTED_HOSTS)
    context: dict[str, object] = {
        "names_form": names,
        "fixed_names": names.describe_fixed("host_names", "ALLOWED_HOSTS", fixed_hosts),
    }
    if isinstance(reading, AccountReading) and service_of(request).is_embedded:
        form = storage_form(None, reading.account)
        days = count_words(owner_settings.find("DELETED_DAYS"))
        context["storage_form"] = form
        context["fixed_days"] = form.describe_fixed("deleted_days", "DELETED_DAYS", days)
    return context


def fixed_fields(**names: str) -> list[str]:
    return [field for field, name in names.items() if owner_settings.is_fixed(name)]


def storage_form(sent: QueryDict | None, account: Account) -> StorageSettings:
    initial = {
        "space_gb": max(1, round((account.space_max_bytes or 0) / BYTES_PER_GB)),
        "deleted_days": owner_settings.find("DELETED_DAYS"),
    }
    return StorageSettings(initial, fixed_fields(deleted_days="DELETED_DAYS"), sent)


def names_form(request: Request, sent: QueryDict | None = None) -> ServerNames:
    initial = {
        "server_name": owner_settings.server_name(),
        "host_names": ", ".join(owner_settings.host_names()),
        "here": split_domain_port(request.get_host())[0],
    }
    return ServerNames(initial, fixed_fields(host_names="ALLOWED_HOSTS"), sent)
