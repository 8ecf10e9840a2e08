"""What a search shows: its fields, and the files and folders that match."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.files.pages.folder import FilmInProgress
from webui.files.pages.rows import kind_words
from webui.library.addresses import Addresses, ViewOptions, folder_url
from webui.library.entries import FILE, FOLDER, ROOT, look_of
from webui.library.kinds import ICONS, KINDS
from webui.search.coverage import Coverage
from webui.v1.own_records import FoundEntry, SearchResult
from webui.words import formatting
from webui.words.formatting import Calendar, name_parts

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
    folder: str = ""  # whose contents are searched
    has_all: bool = False

    @property
    def is_empty(self) -> bool:
        return self == SearchRequest()

    @property
    def tail(self) -> str:
        """Return the query string of a URL, without default values."""
        fields = {"q": self.query, "kind": self.kind, "size": self.megabytes, "days": self.days}
        fields |= {"in": self.folder, "all": "1" if self.has_all else ""}
        tail = urlencode({name: value for name, value in fields.items() if value})
        return f"?{tail}" if tail else ""

    @property
    def v1_query(self) -> dict[str, str]:
        query = {"q": self.query}
        if self.kind == FOLDER:
            query["only"] = "folders"
        elif self.kind:
            query["types"] = KINDS[self.kind].replace(" ", ",")
        if self.megabytes:
            query["min_size"] = str(int(self.megabytes) * MEGABYTE)
        if self.days:
            query["days"] = self.days
        if self.folder:
            query["folder_id"] = self.folder
        return query if self.has_all else query | {"limit": str(MOST_ROWS)}


def parse_search(fields: Mapping[str, str]) -> SearchRequest:
    kind, size, days = fields.get("kind", ""), fields.get("size", ""), fields.get("days", "")
    folder = fields.get("in", "")
    return SearchRequest(
        query=fields.get("q", "")[:LONGEST_QUERY].strip(),
        kind=kind if kind in (FOLDER, *KINDS) else "",
        megabytes=size if size in SIZES else "",
        days=days if days in AGES else "",
        folder=folder if folder != ROOT else "",
        has_all=fields.get("all") == "1",
    )


@dataclass(frozen=True)
class SearchContext:
    calendar: Calendar
    may_change: bool = False
    can_move: bool = False
    folder_name: str = ""  # of the folder whose contents are searched
    begun: tuple[FilmInProgress, ...] = ()
    covers: Coverage | None = None  # None if the service searches all of it


def search_page(
    result: SearchResult, search: SearchRequest, context: SearchContext
) -> dict[str, object]:
    """Describe what was found. `all_url` is empty if all of it is shown, and `places` if there is
    no choice. Screen readers announce `status`."""
    is_whole, covers = search.has_all or search.kind == FOLDER, context.covers
    entries = entries_of(result, most_folders=None if is_whole else MOST_FOLDERS)
    shown = entries if search.has_all else entries[:MOST_ROWS]
    is_cut = result.has_more or len(shown) < len(result.folders) + len(result.files)
    url = reverse("search")
    all_url = url + replace(search, has_all=True).tail
    return {
        "search": search,
        "places": place_labels(search, context.folder_name) if search.folder else {},
        "kinds": kind_labels(),
        "sizes": size_labels(),
        "ages": age_labels(),
        "heading": _("New files") if search.is_empty else total_text(result),
        "status": status_text(len(shown), result),
        "rows": found_rows(shown, context, url + search.tail),
        "all_url": all_url if is_cut and not search.has_all else "",
        "has_too_many": is_cut and search.has_all,
        "may_change": context.may_change,
        "can_move": context.can_move,
        "begun": context.begun,
        "coverage": tuple(coverage_texts(covers)),
        "results_url": reverse("search-results") + search.tail,
        "is_growing": bool(covers and not covers.is_whole),
    }


def elsewhere_page(
    result: SearchResult, search: SearchRequest, context: SearchContext, folder: str
) -> dict[str, object]:
    """List matches in other folders. The service's root has an id, and the site's is 0."""
    entries = [(kind, each) for kind, each in entries_of(result) if place_of(each) != folder]
    next_url = folder_url(folder) + ViewOptions(query=search.query).tail
    rows = found_rows(entries[:MOST_ELSEWHERE], context, next_url)
    url, inside = reverse("search"), replace(search, folder=folder)
    inside_url = url + inside.tail if folder != ROOT else ""
    return {"rows": rows, "all_url": url + search.tail, "inside_url": inside_url}


def entries_of(
    result: SearchResult, most_folders: int | None = None
) -> list[tuple[str, FoundEntry]]:
    """Return each entry after its kind, FOLDER or FILE."""
    folders = [(FOLDER, each) for each in result.folders[:most_folders]]
    return [*folders, *((FILE, each) for each in result.files)]


def place_of(entry: FoundEntry) -> str:
    return entry.folder_id if entry.folder_path else ROOT


def found_rows(
    entries: Iterable[tuple[str, FoundEntry]], context: SearchContext, next_url: str
) -> tuple[dict[str, object], ...]:
    """Return the rows. `next_url` is the page that shows them, to return to."""
    words, calendar = kind_words(), context.calendar
    tail = f"?{urlencode({'next': next_url})}" if context.may_change else ""
    return tuple(found_row(kind, entry, words, calendar, tail) for kind, entry in entries)


def found_row(
    kind: str, entry: FoundEntry, words: Mapping[str, str], calendar: Calendar, rename_tail: str
) -> dict[str, object]:
    place, key = place_of(entry), f"{kind}-{entry.id}"
    look = FOLDER if kind == FOLDER else look_of(entry.name)
    at = Addresses(place, ViewOptions())
    return {
        "key": key,
        "folder": place,
        "name": entry.name,
        "icon": ICONS[look],
        "kind": words[look],
        "name_parts": name_parts(entry.name),
        "url": folder_url(entry.id) if kind == FOLDER else at.preview(key),
        "folder_parts": name_parts(entry.folder_path or _("All files")),
        "folder_url": folder_url(place),
        "size": formatting.size_words(entry.size_bytes),
        "size_title": formatting.exact_size(entry.size_bytes),
        "date": calendar.words(entry.updated_at),
        "date_title": calendar.exact(entry.updated_at),
        "rename_url": f"{at.below}{key}/rename/{rename_tail}" if rename_tail else "",
    }


def total_text(result: SearchResult) -> str:
    if not result.count:
        return _("Nothing found")
    count = {"count": formatting.count_words(result.count)}
    if result.has_uncounted:
        return _("More than %(count)s results") % count
    return ngettext("%(count)s result", "%(count)s results", result.count) % count


def status_text(shown_count: int, result: SearchResult) -> str:
    total = total_text(result)
    if shown_count >= result.count:
        return total
    words = {"total": total, "count": formatting.count_words(shown_count)}
    return _("%(total)s, the first %(count)s are shown") % words


def kind_labels() -> dict[str, str]:
    words = kind_words()
    return {"": _("Any kind")} | {kind: words[kind] for kind in (FOLDER, *KINDS)}


def place_labels(search: SearchRequest, name: str) -> dict[str, str]:
    return {"": _("All folders"), search.folder: _("In %(folder)s") % {"folder": name}}


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


def coverage_texts(covers: Coverage | None) -> Iterator[str]:
    """Say how much the site has read of a service that can't search."""
    if covers is None:
        return
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
