"""Sweep what the library leaves behind on disk, and find what the disk has lost."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import merge
from operator import itemgetter
from typing import NamedTuple

from common.batches import ROWS_AT_ONCE, batches
from service.errors import DiskFull, StoreAway
from service.library.upkeep.database_match import Doubt, catch_up, doubt_about
from service.library.upkeep.orphans import (
    ORPHAN_DAYS,
    bring_back_named,
    named_blobs,
    set_orphans_aside,
)
from service.models import DeletedFile, Discarded, File
from service.store.blobs import Store

log = logging.getLogger("ferry.sweep")

# Senders that pause for a minute are cut off; after an hour without a byte the writer is dead.
DRAFT_LIFETIME = timedelta(hours=1)
MOST_NAMED = 5
WORDS = {
    Doubt.BEHIND: "the database is older than the library",
    Doubt.FOREIGN: "library of another database",
}


@dataclass(frozen=True)
class Swept:
    discarded: int  # blobs of deleted files
    drafts: int  # files of writers that died
    orphans: int = 0  # blobs that no row names, set aside
    dropped: int = 0  # orphans that were kept long enough
    missing: int = 0  # rows whose blob is gone or of another size


def sweep(store: Store, now: datetime, grace: timedelta, orphan_days: int = ORPHAN_DAYS) -> Swept:
    """Sweep everything: compare every blob with every row."""
    doubt = doubt_about(store)
    if doubt is Doubt.MISSING:
        log.error("the library is missing: nothing is checked; mount its disk")
        return Swept(0, 0)
    if doubt:
        log.error("%s: nothing is removed; run manage.py library adopt or discard", WORDS[doubt])
        return Swept(0, 0, missing=_report_missing(store, now))
    until = now.date() - timedelta(days=orphan_days)
    bring_back_named(store, until)
    result = replace(
        sweep_leavings(store, now, grace),
        orphans=set_orphans_aside(store, now, grace),
        dropped=store.drop_orphans(until),
        missing=_report_missing(store, now),
    )
    _warn_of_full_disk(store)
    return result


def sweep_leavings(store: Store, now: datetime, grace: timedelta) -> Swept:
    """Delete useless rows and files, at little cost.

    Downloads and archives that began before a file was deleted have `grace` to finish.
    """
    if not is_certain(store):
        return Swept(0, 0)
    catch_up(store)
    return Swept(
        discarded=_unlink_discarded(store, now - grace),
        drafts=store.drop_drafts(now - DRAFT_LIFETIME),
    )


def is_certain(store: Store) -> bool:
    """Return whether blobs that the database doesn't name are really useless.

    An older copy of the database, or a new one, doesn't know the files that were added since.
    """
    try:
        return doubt_about(store) is None
    except StoreAway:
        return False


def _unlink_discarded(store: Store, before: datetime) -> int:
    """Delete each blob before its row: after a crash between the two, the next sweep finishes.

    Copies of a file have its blob, and the last of them that is deleted discards it again. Then
    the blob stays until the later row is due.
    """
    count = 0
    due = Discarded.objects.filter(at__lte=before).order_by("pk")
    later = Discarded.objects.filter(at__gt=before)
    while due.exists():
        with store.removal_lock() as may_remove:
            if not may_remove:
                break
            batch = list(due[:ROWS_AT_ONCE])
            blobs = [row.blob for row in batch]
            shared = named_blobs(blobs) | set(
                later.filter(blob__in=blobs).values_list("blob", flat=True)
            )
            count += store.delete_all([row.blob for row in batch if row.blob not in shared])
            Discarded.objects.filter(pk__in=[row.pk for row in batch]).delete()
    return count


def _warn_of_full_disk(store: Store) -> None:
    """Suggest deleting orphans; only the owner does so early, as they may be the last copies."""
    try:
        store.refuse_beyond(1)
    except DiskFull:
        if orphan_bytes := sum(each.size_bytes for each in store.orphans()):
            gigabytes = orphan_bytes / 10**9
            log.warning("disk full; manage.py library delete would free %.2f GB", gigabytes)


def _report_missing(store: Store, now: datetime) -> int:
    count = 0
    file_ids: list[int] = []
    for row in _missing(store):
        count += 1
        # Nobody can open a deleted file, so it is counted but not named.
        if row.model is File and len(file_ids) < MOST_NAMED:
            file_ids.append(row.pk)
    if count:
        store.record_loss(file_ids)
        log.error("blobs missing count=%d files=%s", count, ",".join(map(str, file_ids)))
    else:
        store.record_intact(now)
    return count


class BlobRow(NamedTuple):
    blob: str
    size_bytes: int
    pk: int
    model: type[File | DeletedFile]


def _missing(store: Store) -> Iterator[BlobRow]:
    """Yield the rows whose blob is gone or of another size.

    They are read in the order of their blobs, as the store lists these.
    """
    rows = merge(_rows_of(File), _rows_of(DeletedFile), key=itemgetter(0))
    for batch in batches(rows):
        actual_sizes = store.sizes_in_order([row.blob for row in batch])
        for row, actual_bytes in zip(batch, actual_sizes, strict=True):
            is_whole = actual_bytes == row.size_bytes
            if not is_whole and row.model.objects.filter(pk=row.pk).exists():
                yield row


def _rows_of(model: type[File | DeletedFile]) -> Iterator[BlobRow]:
    rows = model.objects.order_by("blob").values_list("blob", "size_bytes", "pk")
    return (BlobRow(*row, model) for row in rows.iterator())
