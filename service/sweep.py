"""What the library leaves behind on the disk, and what the disk has lost."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.models import Discarded, File
from service.store import Store
from service.walking import batches

log = logging.getLogger("ferry.sweep")

ROWS_AT_ONCE = 500
# A writer may wait for a slow sender; after a day without a byte its process is dead.
DRAFT_LIFETIME = timedelta(days=1)
# A blob has its place before its row: the row may wait for the database, 20 s or as many times
# that as it is tried.
ORPHAN_AGE = timedelta(hours=1)


@dataclass(frozen=True)
class Swept:
    discarded: int  # blobs of deleted files
    orphans: int  # blobs that no row names
    drafts: int  # files of writers that died
    missing: int  # rows whose blob is gone; each is logged


def sweep(store: Store, now: datetime, grace: timedelta) -> Swept:
    """Downloads and archives that began before a file was deleted have `grace` to finish."""
    return Swept(
        discarded=_unlink_discarded(store, now - grace),
        orphans=_unlink_orphans(store, now - max(grace, ORPHAN_AGE)),
        drafts=store.drop_drafts(now - max(grace, DRAFT_LIFETIME)),
        missing=_report_missing(store),
    )


def _unlink_discarded(store: Store, before: datetime) -> int:
    """First the blob, then its row: a crash between the two is repaired by the next sweep."""
    count = 0
    due = Discarded.objects.filter(at__lte=before).order_by("pk")
    while batch := list(due[:ROWS_AT_ONCE]):
        count += sum(store.delete(row.blob) for row in batch)
        Discarded.objects.filter(pk__in=[row.pk for row in batch]).delete()
    return count


def _unlink_orphans(store: Store, before: datetime) -> int:
    old = (found.blob for found in store.blobs() if found.written_at <= before)
    orphans = (blob for batch in batches(old, ROWS_AT_ONCE) for blob in _unnamed(batch))
    return sum(store.delete(blob) for blob in orphans)


def _unnamed(blobs: list[str]) -> Iterator[str]:
    # Files first: one that is deleted between the two queries is found among the discarded.
    named = set(File.objects.filter(blob__in=blobs).values_list("blob", flat=True))
    named |= set(Discarded.objects.filter(blob__in=blobs).values_list("blob", flat=True))
    return (blob for blob in blobs if blob not in named)


def _report_missing(store: Store) -> int:
    count = 0
    rows = File.objects.order_by("pk").values_list("pk", "account_id", "blob")
    for file_id, account_id, blob in rows.iterator():
        if store.size(blob) is None and File.objects.filter(pk=file_id).exists():
            log.error("blob missing file=%s account=%s", file_id, account_id)
            count += 1
    return count
