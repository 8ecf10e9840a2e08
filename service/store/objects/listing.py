"""List blobs, and the marks of orphans."""

from collections.abc import Iterator
from datetime import UTC, datetime
from heapq import merge
from itertools import groupby, takewhile
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


def _list(objects: S3Store, folder: str, after: str | None = None) -> Iterator[ListedObject]:
    with translate_failures():
        for batch in obstore.list(objects, folder, offset=after, chunk_size=LISTED_AT_ONCE):
            for each in batch:
                blob = each["path"].rpartition("/")[2]
                if BLOB.fullmatch(blob):
                    modified_at = each["last_modified"].astimezone(UTC)
                    yield ListedObject(blob, folder == ORPHANS, modified_at, each["size"])


def sizes_between(objects: S3Store, first: str, last: str) -> dict[str, int]:
    """Return the sizes of the blobs from `first` to `last`."""
    # A listing begins after a key, and this one is right before the first blob's.
    listed = _list(objects, BLOBS, after=key_of(first)[:-1])
    return {
        each.blob: each.size_bytes for each in takewhile(lambda each: each.blob <= last, listed)
    }


def key_of(blob: str, folder: str = BLOBS) -> str:
    return f"{folder}/{blob[:2]}/{blob[2:4]}/{blob}"
