"""URLs of the things on the Files screen."""

from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from webui.library.entries import PICTURED, ROOT, SORTS, Entry

LONGEST_QUERY = 200
VIEWS = ("list", "grid")


@dataclass(frozen=True)
class ViewOptions:
    """What the reader asked to see, as it stands in the address."""

    sort: str = "name"
    query: str = ""
    view: str = "list"
    is_all: bool = False
    first: int = 0

    @property
    def tail(self) -> str:
        """The query of an address; what is as usual is left out."""
        asked = {
            "sort": self.sort if self.sort != "name" else "",
            "q": self.query,
            "view": self.view if self.view != "list" else "",
            "all": "1" if self.is_all else "",
            "from": str(self.first) if self.first else "",
        }
        tail = urlencode({name: value for name, value in asked.items() if value})
        return f"?{tail}" if tail else ""

    def at(self, first: int) -> "ViewOptions":
        return replace(self, first=first)

    def elsewhere(self) -> "ViewOptions":
        """What stays when another folder is opened."""
        return ViewOptions(sort=self.sort, view=self.view)


def parse_view_options(asked: "dict[str, str]") -> ViewOptions:
    sort, view, first = asked.get("sort", ""), asked.get("view", ""), asked.get("from", "")
    return ViewOptions(
        sort=sort if sort in SORTS else "name",
        query=asked.get("q", "")[:LONGEST_QUERY].strip(),
        view=view if view in VIEWS else "list",
        is_all=asked.get("all") == "1",
        first=int(first) if first.isascii() and first.isdigit() and len(first) < 10 else 0,
    )


@dataclass(frozen=True)
class Addresses:
    """Where things of one folder are. Rows join them from parts: `reverse` for each would cost
    more than all the rest of the page."""

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
        """Of a page that is one of those in the listing, whatever part of it is in sight."""
        return replace(self.look, first=0, is_all=False).tail

    @cached_property
    def page(self) -> str:
        return folder_url(self.folder)

    def at(self, look: ViewOptions) -> str:
        return self.page + look.tail

    def fragment(self, look: ViewOptions) -> str:
        return f"{self.below}listing/{look.tail}"

    def act(self, name: str) -> str:
        """Of an action, which leads back to the same look."""
        return f"{self.below}{name}/{self.shown_tail}"

    def preview(self, key: str) -> str:
        return f"{self.below}{key}/view/{self.shown_tail}"


def folder_url(folder: str) -> str:
    return reverse("files") if folder == ROOT else reverse("files-folder", args=[folder])


def thumb_url(entry: Entry, at: Addresses, *, by_kind: bool) -> str:
    if not entry.picture and not (by_kind and entry.look in PICTURED):
        return ""
    return f"{at.root}files/file/{entry.id}/thumb/{entry.mark}/?in={at.folder}"


def raw_url(at: Addresses, file: str) -> str:
    return f"{at.root}files/file/{file}/raw/?in={at.folder}"


def image_url(at: Addresses, entry: Entry) -> str:
    """A drawing is its own preview; of others, the hash lets every cache keep the picture."""
    if entry.extension == "svg":
        return raw_url(at, entry.id)
    return f"{at.root}files/file/{entry.id}/image/{entry.mark}/?in={at.folder}"
