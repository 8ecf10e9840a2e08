"""What a search shows: its fields, and the files and folders that match."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui import formatting
from webui.files.page import FilmInProgress
from webui.files.rows_page import BREAKS, ICONS, kind_words
from webui.formatting import Calendar
from webui.library.addresses import Addresses, ViewOptions, folder_url
from webui.library.entries import FILE, FOLDER, ROOT, split_name
from webui.library.kinds import KIND_OF, KINDS
from webui.search.coverage import Coverage
from webui.v1.records import FoundEntry, SearchResult

LONGEST_QUERY = 200
MOST_FOLDERS, MOST_ROWS, MOST_ELSEWHERE = 5, 20, 5
# Megabytes at least, and days at most.
SIZES, AGES = ("10", "100", "1000", "10000"), ("1", "7", "30", "365")
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class SearchRequest:
    """What to search for, as the URL's query says."""

    query: str = ""
    kind: str = ""
    megabytes: str = ""
    days: str = ""
    has_all: bool = False

    @property
    def is_empty(self) -> bool:
        return self == SearchRequest()

    @property
    def tail(self) -> str:
        """Return the query string of a URL, without default values."""
        fields = {"q": self.query, "kind": self.kind, "size": self.megabytes, "days": self.days}
        fields["all"] = "1" if self.has_all else ""
        tail = urlencode({name: value for name, value in fields.items() if value})
        return f"?{tail}" if tail else ""

    @property
    def v1_query(self) -> dict[str, str]:
        query = {"q": self.query}
        if self.kind:
            query["types"] = KINDS[self.kind].replace(" ", ",")
        if self.megabytes:
            query["min_size"] = str(int(self.megabytes) * MEGABYTE)
        if self.days:
            query["days"] = self.days
        return query if self.has_all else query | {"limit": str(MOST_ROWS)}


def parse_search(fields: Mapping[str, str]) -> SearchRequest:
    kind, size, days = fields.get("kind", ""), fields.get("size", ""), fields.get("days", "")
    return SearchRequest(
        query=fields.get("q", "")[:LONGEST_QUERY].strip(),
        kind=kind if kind in KINDS else "",
        megabytes=size if size in SIZES else "",
        days=days if days in AGES else "",
        has_all=fields.get("all") == "1",
    )


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class FoundRow:
    icon: str
    kind: str
    name_parts: tuple[str, ...]
    url: str
    folder_parts: tuple[str, ...]
    folder_url: str
    size: str
    size_title: str
    date: str
    date_title: str


@dataclass(frozen=True)
class SearchPage:
    """`all_url` is empty if everything that matches is shown."""

    query: str
    kinds: tuple[Option, ...]
    sizes: tuple[Option, ...]
    ages: tuple[Option, ...]
    is_search: bool  # for something, or for what is new
    heading: str
    status: str  # what screen readers announce
    rows: tuple[FoundRow, ...]
    all_url: str
    has_too_many: bool
    begun: tuple[FilmInProgress, ...]
    coverage: tuple[str, ...]  # empty if the service searches
    more_url: str  # the results once more folders have been read; empty if all have


@dataclass(frozen=True)
class ElsewherePage:
    rows: tuple[FoundRow, ...]
    all_url: str


def search_page(
    result: SearchResult,
    search: SearchRequest,
    calendar: Calendar,
    begun: tuple[FilmInProgress, ...],
    covers: Coverage | None,
) -> SearchPage:
    entries = entries_of(result, most_folders=None if search.has_all else MOST_FOLDERS)
    shown = entries if search.has_all else entries[:MOST_ROWS]
    is_cut = result.has_more or len(shown) < len(result.folders) + len(result.files)
    return SearchPage(
        query=search.query,
        kinds=options(kind_labels(), search.kind),
        sizes=options(size_labels(), search.megabytes),
        ages=options(age_labels(), search.days),
        is_search=not search.is_empty,
        heading=_("New files") if search.is_empty else _("Results"),
        status=status_text(len(shown), is_cut=is_cut),
        rows=found_rows(shown, calendar),
        all_url=reverse("search") + replace(search, has_all=True).tail
        if is_cut and not search.has_all
        else "",
        has_too_many=is_cut and search.has_all,
        begun=begun,
        coverage=tuple(coverage_texts(covers)) if covers else (),
        more_url=reverse("search-results") + search.tail if covers and not covers.is_whole else "",
    )


def elsewhere_page(
    result: SearchResult, search: SearchRequest, calendar: Calendar, folder: str
) -> ElsewherePage:
    """List matches in other folders. The service's root has an id, and the site's is 0."""
    entries = [each for each in entries_of(result) if place_of(each.entry) != folder]
    rows = found_rows(entries[:MOST_ELSEWHERE], calendar)
    return ElsewherePage(rows, reverse("search") + search.tail)


class KindOfEntry(NamedTuple):
    kind: str  # FOLDER or FILE
    entry: FoundEntry


def entries_of(result: SearchResult, most_folders: int | None = None) -> list[KindOfEntry]:
    folders = [KindOfEntry(FOLDER, each) for each in result.folders[:most_folders]]
    return [*folders, *(KindOfEntry(FILE, each) for each in result.files)]


def place_of(entry: FoundEntry) -> str:
    return entry.folder_id if entry.folder_path else ROOT


def found_rows(entries: Iterable[KindOfEntry], calendar: Calendar) -> tuple[FoundRow, ...]:
    words = kind_words()
    return tuple(found_row(kind, entry, words, calendar) for kind, entry in entries)


def found_row(
    kind: str, entry: FoundEntry, words: Mapping[str, str], calendar: Calendar
) -> FoundRow:
    place = place_of(entry)
    look = FOLDER if kind == FOLDER else KIND_OF.get(split_name(entry.name)[1][1:].lower(), "")
    at = Addresses(place, ViewOptions())
    return FoundRow(
        icon=ICONS[look],
        kind=words[look],
        name_parts=tuple(BREAKS.split(entry.name)),
        url=folder_url(entry.id) if kind == FOLDER else at.preview(f"{FILE}-{entry.id}"),
        folder_parts=tuple(BREAKS.split(entry.folder_path or _("All files"))),
        folder_url=folder_url(place),
        size=formatting.size_words(entry.size_bytes),
        size_title=formatting.exact_size(entry.size_bytes),
        date=calendar.words(entry.updated_at),
        date_title=calendar.exact(entry.updated_at),
    )


def status_text(count: int, *, is_cut: bool) -> str:
    if not count:
        return _("Nothing found")
    numbers = {"count": formatting.count_words(count)}
    if is_cut:
        return ngettext("The first result", "The first %(count)s results", count) % numbers
    return ngettext("%(count)s result", "%(count)s results", count) % numbers


def options(labels: Mapping[str, str], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(value, label, value == chosen) for value, label in labels.items())


def kind_labels() -> dict[str, str]:
    words = kind_words()
    return {"": _("Any kind")} | {kind: words[kind] for kind in KINDS}


def size_labels() -> dict[str, str]:
    sizes = {size: formatting.size_words(int(size) * MEGABYTE) for size in SIZES}
    return {"": _("Any size")} | {
        size: _("%(size)s or more") % {"size": words} for size, words in sizes.items()
    }


def age_labels() -> dict[str, str]:
    return {
        "": _("Any time"),
        "1": _("Last 24 hours"),
        "7": _("Last 7 days"),
        "30": _("Last 30 days"),
        "365": _("Last 365 days"),
    }


def coverage_texts(covers: Coverage) -> Iterator[str]:
    """Say how much the site has read of a service that can't search."""
    numbers = {
        "count": formatting.count_words(covers.known),
        "read": formatting.count_words(covers.read),
    }
    if covers.is_whole:
        text = ngettext("Searched 1 folder", "Searched all %(count)s folders", covers.known)
    else:
        text = ngettext(
            "Searched %(read)s of %(count)s folder so far",
            "Searched %(read)s of %(count)s folders so far",
            covers.known,
        )
    yield text % numbers
    if covers.is_full:
        yield _("There are more files and folders than Ferry can search here.")
