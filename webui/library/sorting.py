"""Sort the entries of a folder, and filter them."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from webui.library.entries import FILE, Entry, split_name
from webui.library.episodes import Episode, episode_of
from webui.library.kinds import KINDS

BY_SECTION = "section"  # the order of the media view, and of nothing else
SORTS = ("name", "-name", "kind", "-kind", "length", "-length", "size", "-size", "date", "-date")
DIGITS = re.compile(r"(\d+)")
KINDS_IN_ORDER = [*KINDS, ""]
LONGEST_NUMBER = 300


class Contents:
    """The entries of one revision of a folder. Each order is computed once and kept."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        self._orders: dict[str, list[Entry]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key == key), None)

    def matching(self, sort: str, query: str) -> Sequence[Entry]:
        """Return the entries whose names contain every word of the query, in order."""
        order = self.in_order(sort)
        words = query.casefold().split()
        if not words:
            return order
        pairs = ((entry, entry.name.casefold()) for entry in order)
        return [entry for entry, name in pairs if all(word in name for word in words)]

    def in_order(self, sort: str) -> list[Entry]:
        if sort not in self._orders:
            self._orders[sort] = self._compute_order(sort)
        return self._orders[sort]

    def _compute_order(self, sort: str) -> list[Entry]:
        """Sort folders first, whatever the order; break ties by name, from A to Z."""
        if sort == "name":
            entries = sorted(self.entries, key=by_name)
            return sorted(entries, key=is_file)
        entries = self.in_order("name")
        if sort == BY_SECTION:
            return sorted(without_subtitles(entries), key=by_section)
        if sort == "-name":
            entries = entries[::-1]
        else:
            by_value = VALUES[sort.removeprefix("-")]
            entries = sorted(entries, key=by_value, reverse=sort.startswith("-"))
        return sorted(entries, key=is_file)


def is_file(entry: Entry) -> bool:
    return entry.kind == FILE


def by_name(entry: Entry) -> list[str | int]:
    """Return a sort key: 2 before 10, ignoring case and accents; ties by the exact name. Words and
    numbers alternate, so any two keys can be compared; the -1 after them precedes all numbers."""
    return [*natural(entry.name), -1, entry.name, entry.id]


def natural(name: str) -> list[str | int]:
    """Split a name into alternating words and numbers."""
    parts: list[str | int] = [*DIGITS.split(plain(name))]
    parts[1::2] = [int(str(digits)[:LONGEST_NUMBER]) for digits in parts[1::2]]
    return parts


def plain(name: str) -> str:
    if name.isascii():
        return name.lower()
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def without_subtitles(entries: list[Entry]) -> list[Entry]:
    """Leave out subtitles beside films: players find these on their own."""
    if not any(entry.look == "film" for entry in entries):
        return entries
    return [entry for entry in entries if entry.look != "captions"]


def by_section(entry: Entry) -> tuple[Any, ...]:
    """Return a sort key: folders, episodes, other films, the latest pictures, music, the rest.

    Only keys of one section are compared beyond the section.
    """
    if entry.is_folder:
        return (0,)
    if entry.look == "film":
        episode = episode_in(entry)
        return (1, episode.series, episode.season, episode.number) if episode else (2,)
    if entry.look == "image":
        return (3, -(entry.taken or entry.added or 0))
    return (4,) if entry.look == "audio" else (5,)


def episode_in(entry: Entry) -> Episode | None:
    """Return the episode that a film is, if its name says so."""
    episode = episode_of(split_name(entry.name)[0])
    return episode if episode and episode.is_called_so else None


VALUES: dict[str, Callable[[Entry], int]] = {
    "kind": lambda entry: KINDS_IN_ORDER.index(entry.look),
    "length": lambda entry: entry.duration_seconds,
    "size": lambda entry: -1 if entry.size_bytes is None else entry.size_bytes,
    "date": lambda entry: entry.added or 0,
}
