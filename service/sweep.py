"""What the library leaves behind on the disk, and what the disk has lost."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from service.models import Discarded, File
from service.store import Store
from service.walking import batches

log = logging.getLogger("ferry.sweep")

ROWS_AT_ONCE = 500
# Senders that pause for a minute are cut off; after an hour without a byte the writer is dead.
DRAFT_LIFETIME = timedelta(hours=1)
MOST_NAMED = 5
# A blob has its place before its row: one upload may bring other files for hours after it, and
# a torrent of many files is hashed as long before the first of them has its row.
ORPHAN_AGE = timedelta(days=2)


@dataclass(frozen=True)
class Swept:
    discarded: int  # blobs of deleted files
    drafts: int  # files of writers that died
    orphans: int = 0  # blobs that no row names
    missing: int = 0  # rows whose blob is gone or of another size


def sweep(store: Store, now: datetime, grace: timedelta) -> Swept:
    """All of it: compares every blob with every row."""
    return replace(
        sweep_leavings(store, now, grace),
        orphans=_unlink_orphans(store, now - max(grace, ORPHAN_AGE)),
        missing=_report_missing(store, now),
    )


def sweep_leavings(store: Store, now: datetime, grace: timedelta) -> Swept:
    """What is known to be of no use, at little cost.

    Downloads and archives that began before a file was deleted have `grace` to finish.
    """
    return Swept(
        discarded=_unlink_discarded(store, now - grace),
        drafts=store.drop_drafts(now - DRAFT_LIFETIME),
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
    if not is_ours(store):
        log.error("library of another database: what no row names is kept; see %s", store.owner)
        return 0
    old = (found.blob for found in store.blobs() if found.written_at <= before)
    orphans = (blob for batch in batches(old, ROWS_AT_ONCE) for blob in _unnamed(batch))
    return sum(store.delete(blob) for blob in orphans)


def is_ours(store: Store) -> bool:
    """No where the database is another than the one that the library was filled from: that one is
    lost or away, and this one's silence says nothing of what is here.

    A database is known by the moment when its tables were made, which its backups have too.
    """
    made = MigrationRecorder(connection).migration_qs.filter(app="service")
    return store.is_of(str(made.order_by("applied").values_list("applied", flat=True)[0]))


def _unnamed(blobs: list[str]) -> Iterator[str]:
    # Files first: one that is deleted between the two queries is found among the discarded.
    named = set(File.objects.filter(blob__in=blobs).values_list("blob", flat=True))
    named |= set(Discarded.objects.filter(blob__in=blobs).values_list("blob", flat=True))
    return (blob for blob in blobs if blob not in named)


def _report_missing(store: Store, now: datetime) -> int:
    count, named = 0, []
    rows = File.objects.order_by("pk").values_list("pk", "blob", "size_bytes")
    for file_id, blob, size_bytes in rows.iterator():
        if store.size(blob) != size_bytes and File.objects.filter(pk=file_id).exists():
            count += 1
            named += [file_id] if count <= MOST_NAMED else []
    if count:
        store.note_loss(named)
        log.error("blobs missing count=%d files=%s", count, ",".join(map(str, named)))
    else:
        store.note_whole(now)
    return count
