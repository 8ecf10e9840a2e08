"""The entries of a folder, sorted and filtered as people request them."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

SORTS = ("name", "-name", "size", "-size", "date", "-date")
FOLDER, FILE = "folder", "file"
ROOT = "0"
DIGITS = re.compile(r"(\d+)")
LONGEST_NUMBER = 300
PICTURE_PIXELS = 220
OWN_PICTURE = "own"

KINDS = {
    "film": "mkv mp4 m4v avi mov webm wmv mpg mpeg ts m2ts vob flv ogv 3gp",
    "audio": "mp3 flac m4a m4b aac ogg oga opus wav wma aiff ape",
    "image": "jpg jpeg jpe jfif png gif webp avif bmp heic heif tif tiff svg",
    "captions": "srt vtt ass ssa sub idx",
    "text": "txt md nfo log pdf doc docx odt rtf epub html htm csv tsv json xml yaml yml toml",
    "archive": "zip rar 7z tar gz bz2 xz zst tgz iso",
}
KIND_OF = {extension: kind for kind, words in KINDS.items() for extension in words.split()}
PREVIEWS = {
    "video": KINDS["film"],
    "audio": KINDS["audio"],
    "picture": KINDS["image"],
    "subtitle": "srt vtt ass ssa",
    "markdown": "md markdown",
    "table": "csv tsv",
    "pdf": "pdf",
    "archive": "zip cbz jar apk",
    "text": "txt text nfo diz log sub sfv md5 sha1 sha256 m3u m3u8 pls cue rtf tex rst url",
    "code": (
        "py pyi js mjs cjs ts tsx jsx css scss less html htm xhtml xht xml xsl json json5 jsonl "
        "yaml yml toml ini cfg conf properties sh bash zsh fish bat cmd ps1 c h cc cpp cxx hpp cs "
        "java kt scala go rs rb php pl lua r swift dart sql diff patch vim el hs clj ex erl nix "
        "gradle groovy cmake proto graphql tf mht mhtml eml opf ipynb webmanifest map"
    ),
}
PREVIEW_OF = {extension: kind for kind, words in PREVIEWS.items() for extension in words.split()}
PREVIEW_OF_NAME = {
    **dict.fromkeys(("makefile", "dockerfile", "procfile", "gemfile", ".gitignore"), "code"),
    **dict.fromkeys(("readme", "license", "licence", "copying", "changelog", "authors"), "text"),
}
SHOWABLE = frozenset(["jpg", "jpeg", "jpe", "jfif", "png", "gif", "webp", "avif", "bmp", "svg"])
MOST_SHOWN_BYTES = 64 * 2**20
PICTURED = frozenset({"film", "image"})


class Entry(NamedTuple):
    """A row of a listing, as it is kept for all processes: plain values only."""

    kind: str  # FOLDER or FILE
    id: str
    name: str
    size_bytes: int | None  # None where the service doesn't tell
    added: int | None  # seconds since 1970
    hash: str = ""
    picture: str = ""  # the service's own link to a small one; OWN_PICTURE: to be asked for
    # 0 where the service doesn't tell.
    duration_seconds: int = 0
    width: int = 0
    height: int = 0

    @property
    def key(self) -> str:
        return f"{self.kind}-{self.id}"

    @property
    def is_folder(self) -> bool:
        return self.kind == FOLDER

    @property
    def mark(self) -> str:
        """Another one where the content is another: caches may keep a picture of it for ever. It
        tells versions of one file apart; whole hashes were a quarter of a page."""
        return self.hash[:8] or f"{self.size_bytes or 0}-{self.added or 0}"

    @property
    def added_at(self) -> datetime | None:
        return None if self.added is None else datetime.fromtimestamp(self.added, UTC)

    @property
    def look(self) -> str:
        """film, audio, image, captions, text, archive, or nothing special."""
        return KIND_OF.get(self.extension, "")

    @property
    def extension(self) -> str:
        return split_name(self.name)[1][1:].lower()

    @property
    def preview(self) -> str:
        """video, audio, picture, subtitle, markdown, table, pdf, archive, text, code, or none."""
        known = PREVIEW_OF.get(self.extension)
        return known or PREVIEW_OF_NAME.get(self.name.lower(), "none")

    @property
    def is_showable_picture(self) -> bool:
        """Browsers show it as it is, in a time and a memory that a page may cost."""
        return self.extension in SHOWABLE and (self.size_bytes or 0) <= MOST_SHOWN_BYTES


class Contents:
    """The entries of one revision of a folder. Orders are worked out once and kept with it."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        self._orders: dict[str, list[Entry]] = {}
        self._folded: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key == key), None)

    def matching(self, sort: str, query: str) -> Sequence[Entry]:
        """All whose names have every word of the query, in order."""
        order = self.in_order(sort)
        words = query.casefold().split()
        if not words:
            return order
        names = self._folded.setdefault(sort, [entry.name.casefold() for entry in order])
        return [
            entry
            for entry, name in zip(order, names, strict=True)
            if all(word in name for word in words)
        ]

    def in_order(self, sort: str) -> list[Entry]:
        if sort not in self._orders:
            self._orders[sort] = self._sorted(sort)
        return self._orders[sort]

    def _sorted(self, sort: str) -> list[Entry]:
        """Folders first, whatever the order; equals by name, from A to Z."""
        if sort == "name":
            found = sorted(self.entries, key=by_name)
            return sorted(found, key=is_file)
        found = self.in_order("name")
        if sort == "-name":
            found = found[::-1]
        else:
            by_value = VALUES[sort.removeprefix("-")]
            found = sorted(found, key=by_value, reverse=sort.startswith("-"))
        return sorted(found, key=is_file)


def is_file(entry: Entry) -> bool:
    return entry.kind == FILE


def by_name(entry: Entry) -> list[str | int]:
    """2 before 10, in any case and with any accent; equals by the exact name. Words and numbers
    take turns, so that two keys can always be compared: no number is less than none."""
    return [*natural(entry.name), -1, entry.name, entry.id]


def natural(name: str) -> list[str | int]:
    """Words and numbers in turn."""
    parts: list[str | int] = [*DIGITS.split(plain(name))]
    parts[1::2] = [int(str(digits)[:LONGEST_NUMBER]) for digits in parts[1::2]]
    return parts


def plain(name: str) -> str:
    if name.isascii():
        return name.lower()
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


VALUES: dict[str, Callable[[Entry], int]] = {
    "size": lambda entry: -1 if entry.size_bytes is None else entry.size_bytes,
    "date": lambda entry: entry.added or 0,
}


def split_name(name: str) -> tuple[str, str]:
    """Stem and extension; what is too long or has a space is no extension."""
    stem, dot, extension = name.rpartition(".")
    if not stem or not extension or len(extension) > 10 or not extension.isalnum():
        return name, ""
    return stem, dot + extension


@dataclass(frozen=True)
class Snapshot:
    """A folder as the service listed it once. Two with one revision say the same."""

    folder: str  # "0" for the root
    name: str
    path: str
    parent: str  # "" at the root
    size_bytes: int
    space_max_bytes: int | None
    space_used_bytes: int | None
    revision: str
    read_at: datetime
    contents: Contents

    @property
    def is_root(self) -> bool:
        return self.folder == ROOT
