"""Set aside the blobs that no row names. The sweep drops them later, or recovery restores them."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta

from common.batches import batches
from service.models import DeletedFile, Discarded, File
from service.store.blobs import Store

# A blob is stored before its row: an upload may send other files for hours after it, and a torrent
# of many files may be hashed for as long before the first of them has its row.
ORPHAN_AGE = timedelta(days=2)
ORPHAN_DAYS = 30  # for which they can be restored


def set_orphans_aside(store: Store, now: datetime, grace: timedelta) -> int:
    before = now - max(grace, ORPHAN_AGE)
    old = (each.blob for each in store.blobs() if each.written_at <= before)
    count = 0
    for batch in batches(old):
        with store.removal_lock() as may_remove:
            if not may_remove:
                break
            count += sum(store.set_aside(blob, now.date()) for blob in unnamed_blobs(batch))
    return count


def bring_back_named(store: Store, until: date) -> None:
    """Bring back orphans of `until` and earlier days that a row names after all.

    An upload may have taken longer than ORPHAN_AGE, and they are about to be dropped.
    """
    due = (each for each in store.orphans() if each.since <= until)
    for batch in batches(due):
        unnamed = {*unnamed_blobs([each.blob for each in batch])}
        for orphan in batch:
            if orphan.blob not in unnamed:
                store.bring_back(orphan)


def unnamed_blobs(blobs: list[str]) -> Iterator[str]:
    known_blobs = _blobs_of((File, DeletedFile, Discarded), blobs)
    return (blob for blob in blobs if blob not in known_blobs)


def named_blobs(blobs: list[str]) -> set[str]:
    """Return the blobs that belong to a file, or to a deleted file that can be restored."""
    return _blobs_of((File, DeletedFile), blobs)


def _blobs_of(models: Iterable[type[File | DeletedFile | Discarded]], blobs: list[str]) -> set[str]:
    # In one query, since deleting and restoring move a blob from one of the tables to another.
    first, *others = (
        model.objects.filter(blob__in=blobs).values_list("blob", flat=True) for model in models
    )
    return set(first.union(*others))
