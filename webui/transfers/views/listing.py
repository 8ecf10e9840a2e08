"""The Transfers screen: what is running, and what has arrived."""

from datetime import UTC, datetime

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.add import screen as add_screen
from webui.connection.connection import Service
from webui.http.requests import Request, no_content, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.addresses import folder_url
from webui.library.entries import FILE, FOLDER, ROOT
from webui.limits.screen import speed_context
from webui.models import Channel, Role
from webui.storage_meter import gauge_of
from webui.transfers import actions, list_options, poll
from webui.transfers.list_options import ListOptions
from webui.transfers.pages import tools as tools_page
from webui.transfers.pages import transfers as pages
from webui.transfers.pages.many import canceled_words
from webui.transfers.pages.tools import Tools
from webui.transfers.pages.transfers import Excerpt, Values
from webui.transfers.pages.words import RowContext
from webui.transfers.screen import (
    find_transfer,
    moment_of,
    speeds_of,
    undo_query_of,
    undo_url_of,
)
from webui.transfers.selection import options_in
from webui.transfers.states import CachedTransfer
from webui.transfers.transfer_cache import CachedList
from webui.v1.errors import Failure
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
        "undo_url": undo_url_of(undo_query_of(cleared_at, batch)) if cleared_at else "",
        "cleared": cleared_words(request, cleared_at, batch) if cleared_at else "",
        "destination": destination_of(request),
        **speed_context(request),
        "speeds": speeds_of(service_of(request)),
        "is_told": Channel.is_told(request.session.session_key),
    }
    return render(request, "transfers/show.html", context)


def cleared_words(request: Request, cleared_at: datetime, batch: str) -> str:
    cleared = poll.store().find_cleared(service_of(request).key, cleared_at.isoformat())
    return canceled_words(len(cleared) or 1) if batch else _("List cleared")


def destination_of(request: Request) -> tuple[str, str] | None:
    folder = request.GET.get("added", "")
    name = folders.store().name_of(service_of(request).key, folder) if folder else ""
    return pages.destination_of(folder, name)


def page_of(request: Request) -> Values:
    service, fields = service_of(request), request.GET.dict()
    cached_list = poll.refresh(service, at_once=True)
    excerpt = excerpt_of(request, cached_list, list_options.options_of(fields))
    keys = pages.missing(cached_list, excerpt, None, {})
    transfers = poll.store().of_keys(service.key, keys)
    context = context_of(request, cached_list)
    tools = tools_of(service, cached_list, excerpt.options)
    return pages.page_of(cached_list, transfers, excerpt, context, tools=tools)


@open_to(Role.GUEST, "GET")
def listing(request: Request) -> HttpResponse:
    """Send what is new since `seen`, for htmx to morph into the page.

    The whole list, or idiomorph's extension for htmx, would cost several times the CPU time: see
    docs/decisions/11-changed-rows.md.
    """
    store, service = poll.store(), service_of(request)
    cached_list, options = poll.refresh(service), options_in(request)
    context, windows = context_of(request, cached_list), pages.windows_of(request.GET.dict())
    seen = pages.seen_of(request.GET.get("seen", ""), cached_list, options, context)
    if seen and seen.is_latest(cached_list, windows):
        return no_content()
    excerpt = excerpt_of(request, cached_list, options)
    changed: dict[str, CachedTransfer] = {}
    arrived: list[CachedTransfer] = []
    if seen:
        changed = store.since(service.key, seen.number)
        arrived = list(store.arrived_since(service.key, seen.number).values())
    missing = pages.missing(cached_list, excerpt, seen, changed)
    transfers = changed | store.of_keys(service.key, missing)
    page = pages.page_of(cached_list, transfers, excerpt, context, seen=seen, arrived=arrived)
    if seen and not options.tag and sum(seen.counts) < tools_page.LEAST:
        page["tools"] = tools_of(service, cached_list, options)
    gauge = gauge_of(cached_list.space_used_bytes, cached_list.space_max_bytes)
    return render(request, "transfers/_news.html", {"page": page, "gauge": gauge})


def excerpt_of(request: Request, cached_list: CachedList, options: ListOptions) -> Excerpt:
    windows = pages.windows_of(request.GET.dict())
    if not options.tag:
        return Excerpt(cached_list.groups, options, windows)
    transfers = poll.store().all(service_of(request).key)
    return Excerpt(options.group(transfers.values()), options, windows)


def tools_of(service: Service, cached_list: CachedList, options: ListOptions) -> Tools | None:
    """Return the fields that filter and sort, if there are enough transfers to need them."""
    if pages.count_of(cached_list.groups) < tools_page.LEAST and not options.tag:
        return None
    transfers = poll.store().all(service.key).values()
    places = {each.into or ROOT for each in transfers if each.row and service.takes_folder}
    names = {each: folders.store().name_of(service.key, each) for each in places}
    names = {each: name for each, name in names.items() if name or each == ROOT}
    return tools_page.tools_of(options, transfers, names, is_own=service.is_embedded)


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
    if failure := poll.failure_of(cached_list):
        since = calendar.since(datetime.fromtimestamp(cached_list.read_at, UTC))
        away = pages.away_words(since, failure)
    return RowContext(
        calendar=calendar,
        may_change=Role(request.user.role).includes(Role.MEMBER),
        is_own=service_of(request).is_embedded,
        free_bytes=cached_list.free_bytes,
        away=away,
    )


@open_to(Role.GUEST, "GET")
def open_(request: Request, key: str) -> HttpResponse:
    """Redirect to the folder that a transfer became, to the one that its file is in, or to a page
    of Files on which people rename, move, or delete that folder or file."""
    transfer = find_transfer(request, key)
    if not (transfer.folder or transfer.file):
        raise Http404
    act = request.GET.get("to", "")
    if act in ("rename", "move", "delete"):
        return redirect(find_act_url(request, transfer, act))
    if transfer.folder:
        return redirect(folder_url(transfer.folder))
    home = actions.home_of(service_of(request), transfer)
    return redirect(f"{folder_url(home)}#{FILE}-{transfer.file}")


def find_act_url(request: Request, transfer: CachedTransfer, act: str) -> str:
    """Return the page for an act in the folder where the result is now: people move folders. Of a
    file that has left its folder, nothing says where it is."""
    service, entry = service_of(request), f"{FOLDER}-{transfer.folder}"
    home = transfer.folder or actions.home_of(service, transfer)
    snapshot = folders.read(service, home, now=timezone.now(), at_once=True).snapshot
    if transfer.folder:
        home = ROOT if snapshot.parent == folders.root_id(service) else snapshot.parent
    else:
        entry = f"{FILE}-{transfer.file}"
        if snapshot.contents.find(entry) is None:
            messages.error(request, _("“%(name)s” was moved or deleted.") % {"name": transfer.name})
            return folder_url(home)
    if act == "rename":
        return reverse("files-rename", args=[home, entry])
    return reverse(f"files-{act}", args=[home], query={"entry": entry})
