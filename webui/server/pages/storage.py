"""What takes space, on the Server screen."""

from collections.abc import Sequence
from dataclasses import dataclass

from webui.library.addresses import folder_url
from webui.library.entries import Entry
from webui.storage_meter import Gauge
from webui.words import formatting

MOST_LARGEST = 6


@dataclass(frozen=True)
class LargestRow:
    """One of the largest entries of the root. `share` is its percentage of the largest entry."""

    name: str
    url: str
    size: str
    share: int


@dataclass(frozen=True)
class StoragePart:
    gauge: Gauge | None
    largest: list[LargestRow]
    has_largest_files: bool  # the service lists those of all folders
    can_restore: bool


def largest_rows(entries: Sequence[Entry]) -> list[LargestRow]:
    sized = [(entry.size_bytes, entry) for entry in entries if entry.size_bytes]
    largest = sorted(sized, key=lambda each: -each[0])[:MOST_LARGEST]
    return [row(entry, size_bytes, largest[0][0]) for size_bytes, entry in largest]


def row(entry: Entry, size_bytes: int, most_bytes: int) -> LargestRow:
    """Describe an entry. Its bar is at least 1 percent long, so that it stays visible."""
    share = max(1, round(size_bytes * 100 / most_bytes))
    url = folder_url(entry.id) if entry.is_folder else ""
    return LargestRow(entry.name, url, formatting.size_words(size_bytes), share)
