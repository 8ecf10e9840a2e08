"""What takes the room, on the Account screen."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from webui.pages import measures
from webui.pages.addresses import folder_url
from webui.pages.entries import Entry
from webui.pages.gauge import Gauge

MOST_LARGEST = 6


@dataclass(frozen=True)
class Largest:
    """One of the largest things at the top; `share` is of the largest, in percent."""

    name: str
    url: str
    size: str
    share: int


@dataclass(frozen=True)
class StoragePart:
    gauge: Gauge | None
    largest: list[Largest]
    all_url: str


def storage_part(gauge: Gauge | None, entries: Sequence[Entry]) -> StoragePart:
    largest = sorted(entries, key=lambda entry: -entry.size_bytes)[:MOST_LARGEST]
    most_bytes = max((entry.size_bytes for entry in largest), default=0)
    return StoragePart(
        gauge,
        [row(entry, most_bytes) for entry in largest if entry.size_bytes],
        all_url=f"{reverse('files')}?sort=-size",
    )


def row(entry: Entry, most_bytes: int) -> Largest:
    """A bar that is too short to be seen would pass for nothing."""
    share = max(1, round(entry.size_bytes * 100 / most_bytes))
    url = folder_url(entry.id) if entry.is_folder else ""
    return Largest(entry.name, url, measures.size_words(entry.size_bytes), share)
