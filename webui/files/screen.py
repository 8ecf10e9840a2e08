"""What every view of the Files screen shares."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from webui.files import sort_orders
from webui.files.pages import folder as pages
from webui.files.pages import rows as rows_page
from webui.files.pages.actions import MOST_LISTED, Below
from webui.files.pages.folder import FilesPage, stale_words
from webui.files.pages.rows import FilesContext, Stale
from webui.http.requests import Request, is_reload, service_of
from webui.library import folders
from webui.library.addresses import Addresses, ViewOptions, parse_view_options
from webui.library.bounds import bounds_of, for_visitors
from webui.library.entries import ROOT, Entry
from webui.library.folders import Reading
from webui.library.snapshot import Snapshot
from webui.library.sorting import SORTS
from webui.models import Role
from webui.player import resume_positions
from webui.shell.rendering import render_screen
from webui.unpacking import unpackings
from webui.unpacking.page import UnpackingList, unpacking_list
from webui.uploads import resumable as resumable_uploads
from webui.v1.errors import Failure, NotFound
from webui.words.formatting import Calendar

log = logging.getLogger("ferry.files")

# Folders that are read to count what is in them.
MOST_LISTINGS = 24
Fields = dict[str, str]  # of the query of a URL


def read(request: Request, folder: str, *, at_once: bool = False) -> Reading:
    """Read a folder. If the reader pressed Reload, ask the service at once."""
    service, now = service_of(request), timezone.now()
    reading = folders.read(service, folder, now=now, at_once=at_once or is_reload(request))
    bounds = bounds_of(request)
    if bounds is None:
        return reading
    # The fresh listing may show that the folder has moved out of bounds.
    if (at_once or is_reload(request)) and not bounds.include(service, folder, now):
        raise Http404
    return bounds.narrow(reading)


def page_of(
    request: Request,
    folder: str,
    *,
    at_once: bool = False,
    fields: Fields | None = None,
    remembers: bool = False,
) -> FilesPage:
    """Return the page of a folder. The fields say how to show it, if the request's URL doesn't.
    The order is remembered if the person has chosen it."""
    reading = read(request, folder, at_once=at_once)
    context = context_of(request, reading)
    if reading.snapshot.is_root:
        films = resume_positions.continue_watching(
            request.user, service_of(request), timezone.now()
        )
        context = replace(context, begun=tuple(films))
    if context.may_change and context.can_unpack:
        context = replace(context, unpacking=unpacking(request, reading.snapshot.folder))
    context = with_interrupted(request, context, folder)
    look = look_of(request, reading, context, fields)
    if remembers:
        look = remember_order(request, reading, look)
    return pages.files_page(reading.snapshot, look, context)


def look_of(
    request: Request, reading: Reading, context: FilesContext, fields: Fields | None = None
) -> ViewOptions:
    """Return how to show a folder: without an order in the URL, as the person last sorted it."""
    fields = request.GET.dict() if fields is None else fields
    look = parse_view_options(fields)
    if bounds_of(request) is not None:
        return look
    ancestors = [folder for folder, _name in reversed(context.ancestors)]
    places = [reading.snapshot.folder, *ancestors, ROOT]
    usual = sort_orders.order_of(request.user, service_of(request), places)
    return replace(look, usual=usual, sort=look.sort if fields.get("sort") in SORTS else usual)


def remember_order(request: Request, reading: Reading, look: ViewOptions) -> ViewOptions:
    """Keep the order for the next visit, if the person has just chosen another."""
    if look.usual is None or look.sort == look.usual:
        return look
    sort_orders.remember(request.user, service_of(request), reading.snapshot.folder, look.sort)
    return replace(look, usual=look.sort)


def with_interrupted(request: Request, context: FilesContext, folder: str) -> FilesContext:
    if not context.may_change:
        return context
    uploads = resumable_uploads.list_interrupted(request.user, service_of(request), folder)
    interrupted = tuple(
        pages.interrupted_upload(
            each.key, each.name, resumable_uploads.arrived_bytes(each), each.size_bytes
        )
        for each in uploads
    )
    return replace(context, interrupted=interrupted)


def unpacking(request: Request, folder: str) -> UnpackingList:
    try:
        transfers = unpackings.list_unfinished(service_of(request), folder)
    except Failure as failure:
        log.info("unpackings not shown folder=%s: %s", folder, failure)
        transfers = []
    return unpacking_list(folder, transfers)


def render_page(request: Request, page: FilesPage) -> HttpResponse:
    """Render the screen. One with all entries of a large folder isn't kept for the next visit."""
    if len(page.rows) > pages.ROWS_AT_ONCE:
        return render(request, "files/show.html", {"page": page})
    return render_screen(request, "files/show.html", page)


def context_of(request: Request, reading: Reading) -> FilesContext:
    calendar = Calendar.now()
    service, bounds = service_of(request), bounds_of(request)
    may_change = Role(request.user.role).includes(Role.MEMBER)
    ancestors = tuple(folders.ancestors(service, reading.snapshot))
    if bounds is not None:
        ancestors = below(bounds.top, ancestors)
    return FilesContext(
        calendar=calendar,
        origin=request.build_absolute_uri("/")[:-1],
        may_change=may_change,
        stale=stale_of(request, reading, calendar),
        is_fresh=reading.is_fresh,
        takes_folder=service.takes_folder,
        can_search=bounds is None,
        can_share=may_change and bounds is None,
        can_restore=service.can_restore,
        can_move=service.is_embedded,
        can_unpack=service.is_embedded and bounds is None,
        thumbs_by_kind=not service.is_embedded,
        top=bounds.top if bounds else ROOT,
        top_name=bounds.name if bounds else "",
        ancestors=ancestors,
        positions=resume_positions.positions(request.user, service, reading.snapshot.folder),
    )


def below(top: str, ancestors: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the folders below the one at the top of a link."""
    ids = [folder for folder, _name in ancestors]
    return ancestors[ids.index(top) + 1 :] if top in ids else ancestors


def stale_of(request: Request, reading: Reading, calendar: Calendar) -> Stale | None:
    if reading.failure is None:
        return None
    failure = for_visitors(request, reading.failure)
    return stale_words(calendar.since(reading.snapshot.read_at), failure)


def find_entry(reading: Reading, key: str) -> Entry:
    entry = reading.snapshot.contents.find(key)
    if entry is None:
        raise Http404
    return entry


def row_context(request: Request, reading: Reading, key: str) -> dict[str, object]:
    entry, context = find_entry(reading, key), context_of(request, reading)
    look = look_of(request, reading, context, shown_fields(request))
    at = Addresses(reading.snapshot.folder, look)
    page = pages.files_page(without_rows(reading.snapshot), look, context)
    return {"row": rows_page.rows([entry], at, context)[0], "page": page}


def shown_fields(request: Request) -> Fields:
    """Return the view options of the page around a fragment; a view sent in the form overrides."""
    query = parse_qs(urlsplit(request.htmx.current_url or "").query)
    fields = {name: values[-1] for name, values in query.items()} | request.GET.dict()
    view = request.POST.get("view")
    return fields | ({"view": view} if view else {})


def without_rows(snapshot: Snapshot) -> Snapshot:
    """Drop all entries, for templates that need only the page around one row."""
    return replace(snapshot, contents=pages.NOTHING)


def below_of(request: Request, chosen: Sequence[Entry]) -> dict[str, Below]:
    """Count the folders' contents at any depth, until MOST_LISTINGS are read or the service
    fails."""
    below_by_key: dict[str, Below] = {}
    remaining = MOST_LISTINGS
    for entry in chosen[:MOST_LISTED]:
        if remaining <= 0:
            break
        try:
            below_by_key[entry.key], listing_count = count_below(request, entry.id, remaining)
        except Failure:
            break
        remaining -= listing_count
    return below_by_key


def count_below(request: Request, folder: str, most_listings: int) -> tuple[Below, int]:
    files_below = folders_below = listing_count = 0
    waiting = [folder]
    while waiting and listing_count < most_listings:
        listing_count += 1
        with suppress(NotFound):
            below = read(request, waiting.pop(), at_once=True).snapshot.contents.entries
            inner = [entry.id for entry in below if entry.is_folder]
            files_below += len(below) - len(inner)
            folders_below += len(inner)
            waiting += inner
    return Below(files_below, folders_below, is_all=not waiting), listing_count
