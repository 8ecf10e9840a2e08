"""List blobs, and the marks of orphans."""

from collections.abc import Iterator
from datetime import UTC, datetime
from heapq import merge
from itertools import groupby
from typing import NamedTuple

import obstore
from obstore.store import S3Store

from service.store.blobs import BLOB
from service.store.objects.failures import translate_failures

BLOBS, ORPHANS = "blobs", "orphans"
LISTED_AT_ONCE = 1000


class ListedObject(NamedTuple):
    blob: str
    is_mark: bool
    modified_at: datetime
    size_bytes: int


def blobs_with_marks(
    objects: S3Store,
) -> Iterator[tuple[ListedObject | None, ListedObject | None]]:
    """Yield each blob with its mark. Both listings are in the order of keys."""
    listed = merge(_list(objects, BLOBS), _list(objects, ORPHANS))
    for _blob, group in groupby(listed, key=lambda each: each.blob):
        pair = {each.is_mark: each for each in group}
        yield pair.get(False), pair.get(True)


def _list(objects: S3Store, folder: str) -> Iterator[ListedObject]:
    with translate_failures():
        for batch in obstore.list(objects, folder, chunk_size=LISTED_AT_ONCE):
            for each in batch:
                blob = each["path"].rpartition("/")[2]
                if BLOB.fullmatch(blob):
                    modified_at = each["last_modified"].astimezone(UTC)
                    yield ListedObject(blob, folder == ORPHANS, modified_at, each["size"])


def sizes_between(objects: S3Store, first: str, last: str) -> dict[str, int]:
    """Return the sizes of the blobs from `first` to `last`."""
    # A listing begins after a key, and this one is right before the first blob's.
    before, end = key_of(first)[:-1], key_of(last)
    sizes: dict[str, int] = {}
    with translate_failures():
        for batch in obstore.list(objects, BLOBS, offset=before, chunk_size=LISTED_AT_ONCE):
            for each in batch:
                if each["path"] > end:
                    return sizes
                sizes[each["path"].rpartition("/")[2]] = each["size"]
    return sizes


def key_of(blob: str) -> str:
    return f"{BLOBS}/{blob[:2]}/{blob[2:4]}/{blob}"


def mark_of(blob: str) -> str:
    return f"{ORPHANS}/{blob[:2]}/{blob[2:4]}/{blob}"
