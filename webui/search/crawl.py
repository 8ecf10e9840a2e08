"""Read folder after folder of a service that can't search, while people search it.

The worker does so a few seconds at a time, and rests as long after each call as the service took to
answer: at most half of the time, one call is on its way. A folder is read again a quarter of an
hour later, and sooner if people have changed it here; a service that sends ETags then sends nothing
else, unless it has changed.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.utils import timezone

from webui.connection import connection
from webui.connection.connection import Service
from webui.library.entries import ROOT
from webui.library.listing_cache import entries_of
from webui.models import IndexedEntry, IndexedFolder, NameIndex
from webui.search import name_index
from webui.v1.errors import Failure, NotFound
from webui.v1.records import Unchanged

log = logging.getLogger("ferry.search")

TURN_SECONDS = 4
LEAST_REST_SECONDS = 0.05
# A worker that dies in its turn keeps others waiting for so long.
CLAIM = timedelta(minutes=2)
WANTED = timedelta(minutes=10)
FRESH = timedelta(minutes=15)
AFTER_FAILURE = timedelta(minutes=2)
MOST_FOLDERS, MOST_ENTRIES = 100_000, 1_000_000
LONGEST_ETAG = 200


def crawl(now: datetime, rest: Callable[[float], None] = time.sleep) -> None:
    """Take one turn, unless nobody searches or another worker's turn goes on."""
    if not NameIndex.objects.filter(wanted_at__gte=now - WANTED).exists():
        return
    service = connection.service()
    index = claim(service, now)
    if index is None:
        return
    rows = NameIndex.objects.filter(pk=index.pk)
    try:
        read_due(service, index, rest)
    except Failure as failure:
        log.warning("crawl waits: %s", failure)
        rows.update(next_at=timezone.now() + AFTER_FAILURE)
    else:
        rows.update(next_at=timezone.now())


def claim(service: Service, now: datetime) -> NameIndex | None:
    rows = NameIndex.objects.filter(
        service=service.key, wanted_at__gte=now - WANTED, next_at__lte=now
    )
    # A read first, so that a turn without work writes nothing.
    index = rows.first()
    is_ours = index is not None and rows.filter(next_at=index.next_at).update(next_at=now + CLAIM)
    return index if is_ours else None


def read_due(service: Service, index: NameIndex, rest: Callable[[float], None]) -> None:
    may_grow = has_room(index)
    end = time.monotonic() + TURN_SECONDS
    while (begin := time.monotonic()) < end and (folder := next_due(index)):
        try:
            read(service, folder, may_grow=may_grow)
        except NotFound:
            if folder.folder == ROOT:
                raise
            name_index.forget(index, [folder.folder])
        rest(max(LEAST_REST_SECONDS, time.monotonic() - begin))


def has_room(index: NameIndex) -> bool:
    folders = IndexedFolder.objects.filter(index=index)
    entries = IndexedEntry.objects.filter(folder__index=index)
    return folders.count() < MOST_FOLDERS and entries.count() < MOST_ENTRIES


def next_due(index: NameIndex) -> IndexedFolder | None:
    """Return a folder to read: first those that never were, near the root before others."""
    due = IndexedFolder.objects.filter(index=index, due_at__lte=timezone.now())
    return due.order_by("is_read", "due_at", "pk").first()


def read(service: Service, folder: IndexedFolder, *, may_grow: bool) -> None:
    folder_id = None if folder.folder == ROOT else folder.folder
    listing = service.v1.listing(folder_id, folder.etag or None)
    now = timezone.now()
    if not isinstance(listing, Unchanged):
        # PostgreSQL's texts contain no NUL.
        entries = [
            each._replace(name=each.name.replace("\0", "\ufffd")) for each in entries_of(listing)
        ]
        name_index.save(folder, entries)
        if may_grow:
            name_index.save_folders(folder, entries, now)
        etag = listing.etag or ""
        folder.etag = etag if len(etag) <= LONGEST_ETAG else ""
    # If people have changed the folder meanwhile, it is still due.
    unchanged = IndexedFolder.objects.filter(pk=folder.pk, due_at=folder.due_at)
    unchanged.update(is_read=True, etag=folder.etag, due_at=now + FRESH)
