"""URLs of folders, files, and actions on the Files screen."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from webui.library.entries import ROOT, Entry
from webui.library.kinds import PICTURED
from webui.library.sorting import BY_SECTION, SORTS

LONGEST_QUERY = 200
VIEWS = ("list", "compact", "grid", "media")


@dataclass(frozen=True)
class ViewOptions:
    """How to show a listing, as the URL's query says.

    `usual` is the order of a URL without one, if the person has their own.
    """

    sort: str = "name"
    usual: str | None = None
    query: str = ""
    view: str = "list"
    is_all: bool = False
    first: int = 0
    start: int | None = None  # the first row of the page that requests further rows

    @property
    def tail(self) -> str:
        """Return the query string of a URL, without default values."""
        is_usual = self.sort == "name" == (self.usual or "name")
        return self._tail("" if is_usual else self.sort)

    @property
    def tail_with_sort(self) -> str:
        return self._tail(self.sort)

    def _tail(self, sort: str) -> str:
        fields = {
            "sort": sort,
            "q": self.query,
            "view": self.view if self.view != "list" else "",
            "all": "1" if self.is_all else "",
            "from": str(self.first) if self.first else "",
            "start": "" if self.start is None else str(self.start),
        }
        tail = urlencode({name: value for name, value in fields.items() if value})
        return f"?{tail}" if tail else ""

    @property
    def order(self) -> str:
        """Return the order of the entries: the media view has its own."""
        return BY_SECTION if self.view == "media" else self.sort

    def at(self, first: int) -> "ViewOptions":
        return replace(self, first=first)

    def elsewhere(self) -> "ViewOptions":
        """Return the options to keep when another folder is opened. It may have its own order."""
        return ViewOptions(sort=self.sort if self.usual is None else "name", view=self.view)


def parse_view_options(fields: Mapping[str, str]) -> ViewOptions:
    sort, view = fields.get("sort", ""), fields.get("view", "")
    return ViewOptions(
        sort=sort if sort in SORTS else "name",
        query=fields.get("q", "")[:LONGEST_QUERY].strip(),
        view=view if view in VIEWS else "list",
        is_all=fields.get("all") == "1",
        first=index_of(fields.get("from", "")) or 0,
        start=index_of(fields.get("start", "")),
    )


def index_of(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@dataclass(frozen=True)
class Addresses:
    """The URLs of one folder and its entries. Rows join them from parts: calling `reverse` for each
    would cost more than the rest of the page."""

    folder: str
    look: ViewOptions

    @cached_property
    def root(self) -> str:
        return reverse("files")

    @cached_property
    def below(self) -> str:
        return f"{self.root}files/{self.folder}/"

    @cached_property
    def elsewhere_tail(self) -> str:
        return self.look.elsewhere().tail

    @cached_property
    def shown_tail(self) -> str:
        """Return the query for URLs of entries: sort, filter, and view, but no position."""
        return replace(self.look, first=0, start=None, is_all=False).tail

    @cached_property
    def page(self) -> str:
        return folder_url(self.folder)

    def at(self, look: ViewOptions) -> str:
        return self.page + look.tail

    def fragment(self, look: ViewOptions, part: str = "listing") -> str:
        """Return the URL of a part, which names the order: the person may choose another while the
        page is open."""
        return f"{self.below}{part}/{look.tail_with_sort}"

    def act(self, name: str) -> str:
        """Return the URL of an action, which leads back to the same view of the listing."""
        return f"{self.below}{name}/{self.shown_tail}"

    def preview(self, key: str) -> str:
        return f"{self.below}{key}/view/{self.shown_tail}"


def with_query(url: str, query: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{query}"


def folder_url(folder: str) -> str:
    return reverse("files") if folder == ROOT else reverse("files-folder", args=[folder])


def thumb_url(entry: Entry, at: Addresses, *, by_kind: bool) -> str:
    if not entry.picture and not (by_kind and entry.look in PICTURED):
        return ""
    return f"{at.root}files/file/{entry.id}/thumb/{entry.version}/?in={at.folder}"


def raw_url(at: Addresses, file: str) -> str:
    return f"{at.root}files/file/{file}/raw/?in={at.folder}"


def image_url(at: Addresses, entry: Entry) -> str:
    """Return the preview's URL. An SVG is its own preview; others have a version in the URL, so
    that caches may keep them."""
    if entry.extension == "svg":
        return raw_url(at, entry.id)
    return f"{at.root}files/file/{entry.id}/image/{entry.version}/?in={at.folder}"
