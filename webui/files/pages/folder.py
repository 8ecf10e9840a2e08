"""The Files screen: a window of a folder's entries, with every word and URL ready."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import urlencode
from weakref import ref

from django.urls import get_script_prefix, reverse
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from webui.files.pages.rows import (
    EntryRow,
    FilesContext,
    InterruptedUpload,
    Stale,
    rows,
    section_rows,
)
from webui.library.addresses import Addresses, ViewOptions, folder_url, thumb_url, with_query
from webui.library.entries import FOLDER, ROOT, Entry, split_name
from webui.library.snapshot import Snapshot
from webui.library.sorting import BY_SECTION, Contents, plain
from webui.player.neighbors import next_up
from webui.player.pages.film import left_words
from webui.player.position import Position
from webui.storage_meter import Gauge, gauge_of
from webui.unpacking.page import UnpackingList
from webui.uploads.page import upload_note
from webui.v1.errors import Failure
from webui.words import formatting
from webui.words.failures import message_of

ROWS_AT_ONCE = 100
MOST_PAGES = 32
NOTHING, NEVER = Contents([]), datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True)
class Crumb:
    label: str
    url: str
    folder: str


@dataclass(frozen=True)
class Choice:
    """A way to show the folder: sorted by a column, in a view, or from a letter of the alphabet."""

    label: str
    url: str
    fragment_url: str
    name: str = ""
    icon: str = ""
    is_current: bool = False
    aria_sort: str = "none"


@dataclass(frozen=True)
class FilmInProgress:
    name: str
    text: str
    url: str
    thumb_url: str
    percent: int
    forget_url: str
    folder: str


@dataclass(frozen=True)
class NewFolderPage:
    action: str
    name: str
    error: str
    hint: str
    back_url: str


@dataclass(frozen=True)
class FilesPage:
    title: str
    folder: str
    crumbs: tuple[Crumb, ...]
    parent_url: str  # of the last crumb, if any
    summary: str
    columns: tuple[Choice, ...]
    views: tuple[Choice, ...]
    is_grid: bool
    letters: tuple[Choice, ...]
    look: ViewOptions
    url: str
    filter_url: str
    clear_url: str
    clear_fragment_url: str
    begun: tuple[FilmInProgress, ...]
    next_up: FilmInProgress | None  # in the media view
    interrupted: tuple[InterruptedUpload, ...]
    unpacking: UnpackingList | None  # None if people can't unpack, or for a part of the page
    rows: tuple[EntryRow, ...]
    count: int
    status_text: str  # what screen readers announce when the listing changes
    shown_from: int
    shown_text: str
    more_url: str
    more_page_url: str
    before_url: str
    before_fragment_url: str
    all_url: str
    is_root: bool
    is_empty: bool
    is_no_match: bool
    share_url: str
    elsewhere_url: str  # loads what a filter finds in other folders
    may_restore: bool
    search_url: str
    stale: Stale | None
    refresh_url: str
    new_folder: NewFolderPage
    may_change: bool
    takes_folders: bool
    upload_note: str
    new_url: str
    delete_dialog_url: str
    move_url: str
    zip_url: str
    upload_url: str
    folder_zip_url: str
    rename_url: str
    details_url: str
    search_inside_url: str  # empty at the root
    has_menu: bool
    gauge: Gauge | None


def files_page(snapshot: Snapshot, look: ViewOptions, context: FilesContext) -> FilesPage:
    """Build a page, or return the cached page for the same data. Pages that may be long aren't
    cached, nor are pages whose listing is no longer in memory."""
    if look.is_all:
        return make_page(snapshot, look, context)
    facts = replace(snapshot, contents=NOTHING, read_at=NEVER)
    language, prefix = get_language(), get_script_prefix()
    return _page_of(ref(snapshot.contents), facts, look, context, language, prefix)


@lru_cache(MOST_PAGES)
def _page_of(
    contents: "ref[Contents]",
    facts: Snapshot,
    look: ViewOptions,
    context: FilesContext,
    _language: str | None,
    _prefix: str,
) -> FilesPage:
    return make_page(replace(facts, contents=contents() or NOTHING), look, context)


def make_page(snapshot: Snapshot, look: ViewOptions, context: FilesContext) -> FilesPage:
    entries = snapshot.contents.matching(look.order, look.query)
    is_media = look.view == "media"
    first = 0 if look.is_all else min(look.first, max(len(entries) - 1, 0))
    stop = len(entries) if look.is_all else min(first + ROWS_AT_ONCE, len(entries))
    start = first if look.start is None else look.start
    at = Addresses(snapshot.folder, look)
    may_change = context.may_change and context.stale is None
    is_start = not look.query and not first
    is_front = snapshot.is_root and not look.query and not look.first
    has_more = stop < len(entries)
    matches = count_text(len(entries), len(snapshot.contents))
    unfiltered = replace(look, query="", first=0)
    before = look.at(max(first - ROWS_AT_ONCE, 0))
    can_search_inside = context.can_search and not snapshot.is_root
    tail = ViewOptions(query=look.query).tail if context.can_search else ""
    seen = f"seen={seen_version(snapshot, context.stale)}"
    return FilesPage(
        title=snapshot.name or _("Files"),
        folder=snapshot.folder,
        crumbs=crumbs(snapshot, context, look),
        parent_url=folder_url(snapshot.parent or ROOT) + look.elsewhere().tail,
        summary=matches if look.query else summary(snapshot, context.stale),
        columns=() if is_media else columns(at),
        views=views(at),
        is_grid=look.view in ("grid", "media"),
        letters=letters(entries, at),
        look=look,
        url=at.at(look),
        filter_url=at.fragment(replace(unfiltered, is_all=False)),
        clear_url=at.at(unfiltered),
        clear_fragment_url=at.fragment(unfiltered),
        begun=tuple(film_in_progress(*each, context) for each in context.begun) if is_front else (),
        interrupted=context.interrupted if is_start and may_change else (),
        unpacking=context.unpacking if may_change else None,
        rows=section_rows(entries, first, stop, at, context)
        if is_media
        else rows(entries[first:stop], at, context),
        next_up=next_up_film(snapshot, at, context) if is_media and is_start else None,
        count=len(entries),
        status_text=matches if look.query else order_words(look.order),
        shown_from=first,
        shown_text=shown_text(start, stop, len(entries)),
        more_url=at.fragment(replace(look, first=stop, start=start), "rows") if has_more else "",
        more_page_url=at.at(look.at(stop)) if has_more else "",
        before_url=at.at(before) if first else "",
        before_fragment_url=at.fragment(before) if first else "",
        all_url=at.at(replace(look, is_all=True, first=0, start=None))
        if stop - start < len(entries)
        else "",
        is_root=snapshot.is_root,
        is_empty=not snapshot.contents,
        is_no_match=bool(snapshot.contents) and not entries,
        may_restore=context.can_restore and may_change and is_front,
        share_url=f"{at.below}share/" if context.can_share else "",
        elsewhere_url=reverse("search-elsewhere", args=[snapshot.folder]) + tail if tail else "",
        search_url=reverse("search") + tail if tail else "",
        stale=context.stale,
        refresh_url="" if context.is_fresh else with_query(at.fragment(look.at(first)), seen),
        new_folder=new_folder_page(snapshot, look),
        may_change=may_change,
        takes_folders=context.takes_folder,
        upload_note=upload_note(snapshot, takes_folder=context.takes_folder),
        new_url=at.act("new"),
        delete_dialog_url=at.act("delete/loss"),
        move_url=f"{at.below}move/" if context.can_move and may_change else "",
        zip_url=f"{at.below}zip/",
        upload_url=f"{at.below}upload/",
        folder_zip_url=f"{at.root}files/folder/{snapshot.folder}/zip/",
        rename_url=own_rename_url(snapshot, at) if context.can_share and may_change else "",
        details_url=f"{at.below}details/" if context.can_search else "",
        search_inside_url=f"{reverse('search')}?in={snapshot.folder}" if can_search_inside else "",
        has_menu=bool(snapshot.contents) or can_search_inside,
        gauge=gauge_of(snapshot.space_used_bytes, snapshot.space_max_bytes),
    )


def own_rename_url(snapshot: Snapshot, at: Addresses) -> str:
    """Return the URL that renames the open folder, and leads back to it."""
    if snapshot.is_root:
        return ""
    url = reverse("files-rename", args=[snapshot.parent or ROOT, f"{FOLDER}-{snapshot.folder}"])
    return f"{url}?{urlencode({'next': at.page})}"


def film_in_progress(
    snapshot: Snapshot,
    entry: Entry,
    position: Position | None,
    context: FilesContext,
    at: Addresses | None = None,
) -> FilmInProgress:
    at = at or Addresses(snapshot.folder, ViewOptions())
    length = formatting.duration_words(entry.duration_seconds) if entry.duration_seconds else ""
    return FilmInProgress(
        name=split_name(entry.name)[0],
        text=left_words(position) if position else length,
        url=at.preview(entry.key),
        thumb_url=thumb_url(entry, at, by_kind=context.thumbs_by_kind),
        percent=position.percent if position else 0,
        forget_url=reverse("watch-mark", args=[entry.id]),
        folder=snapshot.folder,
    )


def interrupted_upload(
    key: str, name: str, arrived_bytes: int, size_bytes: int
) -> InterruptedUpload:
    percent = arrived_bytes * 100 // size_bytes if size_bytes else 0
    words = {"percent": percent, "size": formatting.size_words(size_bytes)}
    return InterruptedUpload(
        name=name,
        text=_("%(percent)s%% of %(size)s uploaded") % words,
        percent=percent,
        cancel_url=reverse("files-resumable-cancel", args=[key]),
    )


def new_folder_page(
    snapshot: Snapshot, look: ViewOptions, *, name: str = "", error: str = ""
) -> NewFolderPage:
    at = Addresses(snapshot.folder, look)
    hint = _("The new folder will be in %(folder)s.") % {"folder": snapshot.name or _("All files")}
    return NewFolderPage(at.act("new"), name, error, hint, at.at(look))


def crumbs(snapshot: Snapshot, context: FilesContext, look: ViewOptions) -> tuple[Crumb, ...]:
    """List the folders from the top to the parent. A folder with an unknown URL has no link."""
    if snapshot.folder == context.top:
        return ()
    tail = look.elsewhere().tail
    ancestor_crumbs = [
        Crumb(name, folder_url(folder) + tail if folder else "", folder)
        for folder, name in context.ancestors
    ]
    first = Crumb(context.top_name or _("All files"), folder_url(ROOT) + tail, context.top)
    return (first, *ancestor_crumbs)


def summary(snapshot: Snapshot, stale: Stale | None) -> str:
    count = formatting.items_words(len(snapshot.contents))
    if stale is not None:
        return _("%(items)s, as of %(time)s") % {"items": count, "time": stale.since}
    if not snapshot.contents:
        return _("Empty")
    return _("%(items)s, %(size)s") % {"items": count, "size": sum_text(snapshot)}


def sum_text(snapshot: Snapshot) -> str:
    if snapshot.size_bytes:
        return formatting.size_words(snapshot.size_bytes)
    return formatting.sum_words(entry.size_bytes for entry in snapshot.contents.entries)


def count_text(count: int, count_all: int) -> str:
    numbers = {"count": formatting.count_words(count), "all": formatting.count_words(count_all)}
    return _("%(count)s of %(all)s") % numbers


def order_words(order: str) -> str:
    words = {
        BY_SECTION: _("Sorted by season and day"),
        "name": _("Sorted by name, A to Z"),
        "-name": _("Sorted by name, Z to A"),
        "size": _("Sorted by size, smallest first"),
        "-size": _("Sorted by size, largest first"),
        "kind": _("Sorted by kind, films first"),
        "-kind": _("Sorted by kind, films last"),
        "length": _("Sorted by length, shortest first"),
        "-length": _("Sorted by length, longest first"),
        "date": _("Sorted by date, oldest first"),
        "-date": _("Sorted by date, newest first"),
    }
    return words[order]


def shown_text(start: int, stop: int, count: int) -> str:
    numbers = {"count": formatting.count_words(stop), "all": formatting.count_words(count)}
    if not start:
        return _("Showing %(count)s of %(all)s") % numbers
    numbers["first"] = formatting.count_words(start + 1)
    return _("Showing %(first)s to %(count)s of %(all)s") % numbers


def columns(at: Addresses) -> tuple[Choice, ...]:
    labels = {
        "name": _("Name"),
        "kind": _("Kind"),
        "length": _("Length"),
        "size": _("Size"),
        "date": pgettext("a date", "Added"),
    }
    return tuple(column(name, label, at) for name, label in labels.items())


def column(name: str, label: str, at: Addresses) -> Choice:
    """Make a column header. A click on the current order reverses it; otherwise names begin with A,
    kinds with films, lengths and sizes with the largest, and dates with the latest."""
    sort = at.look.sort
    next_sort = name if name in ("name", "kind") else f"-{name}"
    aria_sort = "none"
    if sort.removeprefix("-") == name:
        aria_sort = "descending" if sort.startswith("-") else "ascending"
        next_sort = name if sort.startswith("-") else f"-{name}"
    look = replace(at.look, sort=next_sort, first=0)
    return Choice(label, at.at(look), at.fragment(look), name, aria_sort=aria_sort)


def views(at: Addresses) -> tuple[Choice, ...]:
    labels = {
        "list": (_("List"), "list"),
        "compact": (_("Compact list"), "rows-4"),
        "grid": (_("Grid"), "layout-grid"),
        "media": (_("By season and day"), "clapperboard"),
    }
    choices = []
    for name, (label, icon) in labels.items():
        look = replace(at.look, view=name)
        is_current = at.look.view == name
        choices.append(Choice(label, at.at(look), at.fragment(look), name, icon, is_current))
    return tuple(choices)


def letters(entries: Sequence[Entry], at: Addresses) -> tuple[Choice, ...]:
    """Link each initial to its first entry, among folders or files, whichever are more."""
    if len(entries) <= ROWS_AT_ONCE or "name" not in at.look.order:
        return ()
    folders = sum(entry.kind == FOLDER for entry in entries)
    start, stop = (0, folders) if folders * 2 > len(entries) else (folders, len(entries))
    firsts: dict[str, int] = {}
    for index in range(start, stop):
        firsts.setdefault(entries[index].name[:1], index)
    places: dict[str, int] = {}
    for first, index in firsts.items():
        initial = plain(first)[:1].upper()
        places.setdefault(initial if initial.isalpha() else "#", index)
    looks = {initial: at.look.at(index) for initial, index in places.items()}
    return tuple(Choice(name, at.at(look), at.fragment(look)) for name, look in looks.items())


def next_up_film(snapshot: Snapshot, at: Addresses, context: FilesContext) -> FilmInProgress | None:
    positions = dict(context.positions)
    film = next_up(snapshot.contents, positions)
    return film_in_progress(snapshot, film, positions.get(film.id), context, at) if film else None


def download_url(at: Addresses, entry: Entry) -> str:
    if entry.is_folder:
        return f"{at.root}files/folder/{entry.id}/zip/"
    return f"{at.root}files/file/{entry.id}/download/?in={at.folder}"


def seen_version(snapshot: Snapshot, stale: Stale | None) -> str:
    """Return the version of what a page shows, to detect changes.

    The version also changes when the service becomes reachable.
    """
    return snapshot.revision + ("-away" if stale else "")


def stale_words(since: str, failure: Failure) -> Stale:
    text = _(
        "You're seeing an earlier state of this folder (%(time)s). You can't download or "
        "change anything until Ferry reconnects. It tries every 30 seconds."
    )
    return Stale(since, message_of(failure).title, text % {"time": since})
