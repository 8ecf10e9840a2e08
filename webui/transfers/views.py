"""The Transfers screen: what is running, what has arrived, and what to do with it."""

import json
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.activity import events
from webui.activity.events import Kind
from webui.add import screen as add_screen
from webui.deleting import held_deletes
from webui.http.requests import Request, no_content, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.addresses import folder_url
from webui.library.entries import FILE
from webui.models import Role
from webui.storage_meter import gauge_of
from webui.transfers import actions, poll
from webui.transfers.pages import transfers as pages
from webui.transfers.pages.transfers import DestinationFolder, TransfersPage
from webui.transfers.pages.words import RowContext
from webui.transfers.states import CachedTransfer
from webui.transfers.transfer_cache import CachedList
from webui.v1.errors import Failure, NotFound
from webui.words.formatting import Calendar


@open_to(Role.GUEST, "GET")
def show(request: Request) -> HttpResponse:
    page = page_of(request)
    may_add = Role(request.user.role).includes(Role.MEMBER)
    cleared_at = moment_of(request) if may_add else None
    batch = request.GET.get("held", "")
    context = {
        "page": page,
        "box": add_screen.box_of(request, is_asking=False) if may_add else None,
        "undo_url": undo_url_of(cleared_at, batch) if cleared_at else "",
        "cleared": _("Transfer canceled") if batch else _("List cleared"),
        "destination": destination_of(request),
    }
    return render(request, "transfers/show.html", context)


def destination_of(request: Request) -> DestinationFolder | None:
    folder = request.GET.get("added", "")
    name = folders.store().name_of(service_of(request).key, folder) if folder else ""
    return pages.destination_of(folder, name)


def page_of(request: Request) -> TransfersPage:
    cached_list = poll.refresh(service_of(request), at_once=True)
    windows = pages.windows_of(request.GET.dict())
    keys = pages.missing(cached_list, windows, None, {})
    transfers = poll.store().of_keys(service_of(request).key, keys)
    return pages.page_of(cached_list, transfers, windows, context_of(request, cached_list))


@open_to(Role.GUEST, "GET")
def listing(request: Request) -> HttpResponse:
    """Send what is new since `seen`, for htmx to morph into the page.

    The whole list, or idiomorph's extension for htmx, would cost several times the CPU time: see
    docs/decisions/11-changed-rows.md.
    """
    cached_list = poll.refresh(service_of(request))
    windows, context = pages.windows_of(request.GET.dict()), context_of(request, cached_list)
    revision = request.GET.get("seen", "")
    if revision == pages.revision_of(cached_list, windows, context):
        return no_content()
    seen = pages.seen_of(revision, cached_list, context)
    store, service = poll.store(), service_of(request).key
    changed: dict[str, CachedTransfer] = {}
    arrived: list[CachedTransfer] = []
    if seen:
        changed = store.since(service, seen.number)
        arrived = list(store.arrived_since(service, seen.number).values())
    missing = pages.missing(cached_list, windows, seen, changed)
    transfers = changed | store.of_keys(service, missing)
    page = pages.page_of(cached_list, transfers, windows, context, seen=seen, arrived=arrived)
    gauge = gauge_of(cached_list.space_used_bytes, cached_list.space_max_bytes)
    return render(request, "transfers/_news.html", {"page": page, "gauge": gauge})


@open_to(Role.GUEST, "GET")
def running(request: Request) -> HttpResponse:
    """Send the count that the navigation of every other page shows, unless it is up to date."""
    try:
        count = poll.running_now(service_of(request))
    except Failure:
        return no_content()
    if count is None or request.GET.get("seen") == str(count):
        return no_content()
    return render(request, "transfers/_running.html", {"running": count})


def context_of(request: Request, cached_list: CachedList) -> RowContext:
    calendar = Calendar.now()
    away = None
    used, whole = cached_list.space_used_bytes, cached_list.space_max_bytes
    if failure := poll.failure_of(cached_list):
        since = calendar.since(datetime.fromtimestamp(cached_list.read_at, UTC))
        away = pages.away_words(since, failure)
    return RowContext(
        calendar=calendar,
        may_change=Role(request.user.role).includes(Role.MEMBER),
        free_bytes=None if used is None or whole is None else max(whole - used, 0),
        away=away,
    )


@open_to(Role.GUEST, "GET")
def open_(request: Request, key: str) -> HttpResponse:
    """Redirect to the folder that a transfer became, or to the one that its file is in."""
    transfer = find_transfer(request, key)
    if transfer.folder:
        return redirect(folder_url(transfer.folder))
    if transfer.file:
        home = actions.home_of(service_of(request), transfer)
        return redirect(f"{folder_url(home)}#{FILE}-{transfer.file}")
    raise Http404


# Acting


@open_to(Role.MEMBER, "GET", "POST")
def remove(request: Request, key: str) -> HttpResponse:
    transfer = find_transfer(request, key)
    if request.method != "POST":
        return render(request, "transfers/remove.html", loss_of(transfer))
    now = timezone.now()
    batch = actions.remove(service_of(request), transfer, now)
    events.record(request, Kind.TRANSFER_REMOVED, transfer.name)
    if not request.htmx:
        return redirect(f"{reverse('transfers')}?{cleared_query(now, batch)}")
    said = _("Removed") if transfer.is_ended else _("Transfer canceled")
    return confirm(request, said, undo_url=undo_url_of(now, batch))


@open_to(Role.MEMBER, "GET")
def remove_dialog(request: Request, key: str) -> HttpResponse:
    return render(request, "transfers/_remove.html", loss_of(find_transfer(request, key)))


def loss_of(transfer: CachedTransfer) -> dict[str, object]:
    return {"transfer": transfer, "loss": pages.loss_words(transfer)}


@open_to(Role.MEMBER, "POST")
def retry(request: Request, key: str) -> HttpResponse:
    transfer = find_transfer(request, key)
    row = actions.find_sent(service_of(request), transfer) if transfer.is_ended else None
    if row is None:
        raise Http404
    actions.retry(service_of(request), row, timezone.now())
    return confirm(request, _("Transfer restarted"))


@open_to(Role.MEMBER, "POST")
def clear(request: Request) -> HttpResponse:
    now = timezone.now()
    actions.clear(service_of(request), now)
    if not request.htmx:
        return redirect(f"{reverse('transfers')}?{cleared_query(now)}")
    return confirm(request, _("List cleared"), undo_url=undo_url_of(now))


@open_to(Role.MEMBER, "POST")
def restore(request: Request) -> HttpResponse:
    """Undo the clearing or canceling at the time that the URL names."""
    cleared_at, batch = moment_of(request), request.GET.get("held", "")
    if cleared_at is None:
        raise Http404
    if batch and not held_deletes.undo(service_of(request), batch):
        return confirm(request, _("There is nothing left to undo."))
    actions.restore(service_of(request), cleared_at)
    return confirm(request, _("Transfer restored") if batch else _("List restored"))


def undo_url_of(cleared_at: datetime, batch: str = "") -> str:
    return f"{reverse('transfers-restore')}?{cleared_query(cleared_at, batch)}"


def cleared_query(cleared_at: datetime, batch: str = "") -> str:
    """`batch`: of a transfer that waits to be stopped."""
    held = {"held": batch} if batch else {}
    return urlencode({"cleared": cleared_at.isoformat()} | held)


def moment_of(request: Request) -> datetime | None:
    try:
        moment = datetime.fromisoformat(request.GET.get("cleared", ""))
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


@open_to(Role.MEMBER, "GET")
def link(request: Request, key: str) -> HttpResponse:
    """Send the link that was added, for copying; if another program added it, a magnet link."""
    transfer = find_transfer(request, key)
    row = actions.find_sent(service_of(request), transfer)
    source = row.source if row else ""
    if not source and not transfer.hash:
        raise Http404
    magnet = f"magnet:?xt=urn:btih:{transfer.hash}&dn={quote(transfer.name)}"
    return HttpResponse(source or magnet, content_type="text/plain; charset=utf-8")


def find_transfer(request: Request, key: str) -> CachedTransfer:
    transfers = poll.store().of_keys(service_of(request).key, [key])
    if key not in transfers:
        raise NotFound("not_found", status=404)
    return transfers[key]


def confirm(request: Request, said: str, *, undo_url: str = "") -> HttpResponse:
    """Confirm an action; the page requests the changes itself."""
    if not request.htmx:
        messages.success(request, said)
        return redirect("transfers")
    changed = json.dumps({"transfers-changed": {"said": said, "undo": undo_url}})
    return HttpResponse(status=204, headers={"HX-Trigger": changed})
