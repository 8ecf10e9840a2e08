"""Read folder after folder of a service that can't search, while people search it.

The worker does so a few seconds at a time. After each call, it rests for as long as the call took,
so it occupies the service at most half of the time. It reads a folder again a quarter of an hour
later, and before all others if people have changed it here. A service that sends ETags then sends
only folders that have changed.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from common.storage import row_cache
from webui.connection import connection
from webui.connection.connection import Service
from webui.library.entries import ROOT
from webui.library.indexed_folders import forget
from webui.library.listing_cache import entries_of
from webui.models import IndexedEntry, IndexedFolder, NameIndex
from webui.search import name_index
from webui.v1.errors import Failure, Forbidden, NotFound, Rejected, Unreadable
from webui.v1.records import Unchanged

log = logging.getLogger("ferry.search")

TURN_SECONDS = 4
LEAST_REST_SECONDS = 0.05
# How long other workers wait if a worker dies during its turn.
CLAIM = timedelta(minutes=2)
WANTED = timedelta(minutes=10)
FRESH = timedelta(minutes=15)
AFTER_FAILURE = timedelta(minutes=2)
# Failures that say nothing about other folders
OF_THE_FOLDER = (Forbidden, Rejected, Unreadable)
MOST_FOLDERS, MOST_ENTRIES = 100_000, 1_000_000
LONGEST_ETAG = 200


@dataclass
class Room:
    """How much the index may still grow, since a hostile service may have endless folders."""

    folders: int
    entries: int


def crawl(now: datetime, rest: Callable[[float], None] = time.sleep) -> None:
    """Take one turn, unless no one searches or another worker has the turn."""
    # An idle worker calls this every few seconds, and needn't query the database each time.
    dates = NameIndex.objects.order_by("-wanted_at").values_list("wanted_at", flat=True)
    wanted_at = row_cache.read("search wanted at", dates.first)
    if wanted_at is None or wanted_at < now - WANTED:
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
    # Read first, so that a turn without work writes nothing.
    index = rows.first()
    is_ours = index is not None and rows.filter(next_at=index.next_at).update(next_at=now + CLAIM)
    return index if is_ours else None


def read_due(service: Service, index: NameIndex, rest: Callable[[float], None]) -> None:
    end = time.monotonic() + TURN_SECONDS
    folder = next_due(index)
    if folder is None:
        return
    folders = IndexedFolder.objects.filter(index=index).count()
    room = Room(MOST_FOLDERS - folders, MOST_ENTRIES - IndexedEntry.objects.count())
    try:
        while folder is not None:
            begin = time.monotonic()
            read_or_forget(service, folder, room)
            now = time.monotonic()
            seconds = max(LEAST_REST_SECONDS, now - begin)
            if now + seconds >= end:
                return
            rest(seconds)
            folder = next_due(index)
    finally:
        is_full = room.folders <= 0 or room.entries <= 0
        NameIndex.objects.filter(pk=index.pk).update(is_full=is_full)


def read_or_forget(service: Service, folder: IndexedFolder, room: Room) -> None:
    """Read a folder, or forget it if it's gone. Raise failures that may concern all folders."""
    rows = IndexedFolder.objects.filter(pk=folder.pk)
    # Do this first, so that a folder that always fails isn't always the next one, and so that
    # changes by people from now on are read again.
    rows.update(is_changed=False, due_at=timezone.now() + FRESH)
    try:
        read(service, folder, room)
    except Failure as failure:
        if folder.folder == ROOT:
            rows.update(due_at=timezone.now())
            raise
        if isinstance(failure, NotFound):
            forget(service.key, [folder.folder])
        elif not isinstance(failure, OF_THE_FOLDER):
            raise


def next_due(index: NameIndex) -> IndexedFolder | None:
    """Return a folder to read: one that people have changed, else an unread one, those near the
    root first, else the one that was read longest ago."""
    rows = IndexedFolder.objects.filter(index=index).select_related("index")
    due = rows.filter(due_at__lte=timezone.now()).order_by("is_read", "due_at", "pk")
    return rows.filter(is_changed=True).first() or due.first()


def read(service: Service, folder: IndexedFolder, room: Room) -> None:
    listing = service.v1.listing(folder.folder, folder.etag or None)
    now, etag = timezone.now(), folder.etag
    if not isinstance(listing, Unchanged):
        if listing.is_root and folder.folder != ROOT:
            # The root under its other id
            forget(service.key, [folder.folder])
            return
        # PostgreSQL's texts contain no NUL.
        entries = [
            each._replace(name=each.name.replace("\0", "\ufffd")) for each in entries_of(listing)
        ]
        inner = sum(each.is_folder for each in entries)
        is_whole = len(entries) <= room.entries and inner <= room.folders
        etag = listing.etag or "" if is_whole else ""
        room.entries -= name_index.save(folder, entries, room.entries)
        room.folders -= name_index.save_folders(folder, entries, room.folders, now)
    rows = IndexedFolder.objects.filter(pk=folder.pk)
    rows.update(is_read=True, etag=etag if len(etag) <= LONGEST_ETAG else "")
