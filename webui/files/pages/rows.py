"""The rows of a folder: an entry's words and URLs, and what they depend on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import pairwise

from django.utils.translation import gettext as _

from webui.library.addresses import Addresses, thumb_url
from webui.library.entries import FILE, FOLDER, ROOT, Entry, split_name
from webui.library.episodes import Episode, title_of
from webui.library.kinds import ICONS, KIND_OF
from webui.library.snapshot import Snapshot
from webui.library.sorting import episode_in
from webui.player.pages.film import watched_words
from webui.player.position import Position
from webui.unpacking.page import UnpackingList
from webui.words import formatting
from webui.words.formatting import Calendar, name_parts

# Characters of a name that fit into a tile, and into a row of a phone.
SHORT_IN = {"grid": 24, "media": 24, "list": 48, "compact": 24}


@dataclass(frozen=True)
class Stale:
    since: str
    title: str
    text: str


@dataclass(frozen=True)
class InterruptedUpload:
    name: str
    text: str
    percent: int
    cancel_url: str


@dataclass(frozen=True)
class FilesContext:
    """What a page of files shows besides the folder itself."""

    calendar: Calendar
    origin: str = ""
    may_change: bool = False
    stale: Stale | None = None
    is_fresh: bool = True
    takes_folder: bool = True
    can_search: bool = False
    can_share: bool = False
    can_restore: bool = False
    can_move: bool = False
    can_unpack: bool = False
    thumbs_by_kind: bool = False
    top: str = ROOT  # where the breadcrumbs begin
    top_name: str = ""
    ancestors: tuple[tuple[str, str], ...] = ()
    positions: frozenset[tuple[str, Position]] = frozenset()  # by the file's id
    begun: tuple[tuple[Snapshot, Entry, Position], ...] = ()
    interrupted: tuple[InterruptedUpload, ...] = ()
    unpacking: UnpackingList | None = None


@dataclass(frozen=True, slots=True)
class EntryRow:
    key: str
    is_folder: bool
    icon: str
    name: str
    stem: str
    extension: str
    stem_parts: tuple[str, ...]
    url: str
    kind: str
    length: str  # of a film or sound
    size: str
    size_bytes: int | str  # "" if unknown
    size_title: str
    added: str
    added_title: str
    added_iso: str
    thumb_url: str
    is_long: bool  # The name may be cut, so its extension needs a place.
    is_film: bool
    rename_url: str
    watched_percent: str = ""  # of a film in progress
    watched_text: str = ""
    section: str = ""  # which begins with this row
    # In the media view, in place of the name of a release.
    episode: str = ""
    episode_title: str = ""


def rows(entries: Sequence[Entry], at: Addresses, context: FilesContext) -> tuple[EntryRow, ...]:
    kinds = kind_words()
    positions = {f"{FILE}-{file}": position for file, position in context.positions}
    return tuple([row(entry, at, context, kinds, positions.get(entry.key)) for entry in entries])


def section_rows(
    entries: Sequence[Entry], first: int, stop: int, at: Addresses, context: FilesContext
) -> tuple[EntryRow, ...]:
    """Return the rows of a window in the media view. The first row of a section has its heading."""
    window = entries[first:stop]
    before = entries[first - 1 : first] if first else ()
    titles = [section_title(each, context.calendar) for each in (*before, *window)]
    pairs = pairwise(titles if first else ["", *titles])
    return tuple(
        replace(row, section="" if title == above else title)
        for row, (above, title) in zip(rows(window, at, context), pairs, strict=True)
    )


def kind_words() -> dict[str, str]:
    return {
        FOLDER: _("Folder"),
        "film": _("Film"),
        "audio": _("Audio"),
        "image": _("Picture"),
        "captions": _("Subtitles"),
        "text": _("Document"),
        "archive": _("Archive"),
        "": _("File"),
    }


def row(
    entry: Entry,
    at: Addresses,
    context: FilesContext,
    kinds: Mapping[str, str],
    position: Position | None,
) -> EntryRow:
    key, added_at, calendar = entry.key, entry.added_at, context.calendar
    if entry.is_folder:
        stem, extension, look = entry.name, "", FOLDER
        url = f"{at.root}files/{entry.id}/{at.elsewhere_tail}"
    else:
        stem, extension = split_name(entry.name)
        look = KIND_OF.get(extension[1:].lower(), "")
        url = at.preview(key)
    return EntryRow(
        key=key,
        is_folder=entry.is_folder,
        icon=ICONS[look],
        name=entry.name,
        stem=stem,
        extension=extension,
        stem_parts=name_parts(stem),
        url=url,
        kind=kinds[look],
        length=formatting.clock_words(entry.duration_seconds) if entry.duration_seconds else "",
        size=formatting.size_words(entry.size_bytes),
        size_bytes="" if entry.size_bytes is None else entry.size_bytes,
        size_title=formatting.exact_size(entry.size_bytes),
        added=calendar.words(added_at),
        added_title=calendar.exact(added_at),
        added_iso=calendar.iso(added_at),
        thumb_url=thumb_url(entry, at, by_kind=context.thumbs_by_kind),
        is_long=bool(extension) and len(entry.name) > SHORT_IN[at.look.view],
        is_film=look == "film",
        rename_url=f"{at.below}{key}/rename/" if context.may_change else "",
        watched_percent=str(position.percent or "") if position else "",
        watched_text=watched_words(position) if position else "",
        **episode_words(entry, at),
    )


def episode_words(entry: Entry, at: Addresses) -> dict[str, str]:
    episode = episode_in(entry) if at.look.view == "media" and entry.look == "film" else None
    if episode is None:
        return {}
    number = _("Episode %(number)s") % {"number": episode.number}
    return {"episode": number, "episode_title": title_of(split_name(entry.name)[0])}


# The headings of the media view


def section_title(entry: Entry, calendar: Calendar) -> str:
    """Return the heading of the section that an entry is in; folders have none."""
    if entry.is_folder:
        return ""
    if entry.look == "film":
        episode = episode_in(entry)
        return season_title(episode) if episode else _("Films")
    if entry.look == "image":
        day = day_of(entry, calendar)
        return calendar.day(day) if day else _("Pictures")
    return _("Music") if entry.look == "audio" else _("Other files")


def day_of(entry: Entry, calendar: Calendar) -> date | None:
    """Return the day on which a picture was taken, or else added."""
    if entry.taken:
        return datetime.fromtimestamp(entry.taken, UTC).date()
    return calendar.day_of(entry.added_at) if entry.added_at else None


def season_title(episode: Episode) -> str:
    series = " ".join(map(str.capitalize, episode.series))
    if not episode.season:
        return series or _("Episodes")
    words = {"series": series, "season": episode.season}
    if not series:
        return _("Season %(season)s") % words
    return _("%(series)s, season %(season)s") % words
