"""Read folders from the shared cache, and from the service if they may have changed."""

import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from django.conf import settings

from webui.connection.connection import Service, recent_failure
from webui.library import indexed_folders
from webui.library.entries import FILE, ROOT, Entry
from webui.library.listing_cache import CachedListing, Listings
from webui.library.snapshot import Snapshot
from webui.library.sorting import Contents
from webui.models import HeldDelete
from webui.v1.errors import Failure, NotFound, Unreadable
from webui.v1.records import Unchanged

FRESH_SECONDS = 3
WAIT_SECONDS = 8
STEP_SECONDS = 0.05
MOST_LEVELS = 200
LONGEST_ID = 64


class FolderGone(NotFound):
    """The folder no longer exists. `parent` is the folder it was in, if known."""

    def __init__(self, parent: str) -> None:
        super().__init__("not_found", status=404)
        self.parent = parent


@dataclass(frozen=True)
class Reading:
    """A folder as it was read. `failure` says why the snapshot isn't newer."""

    snapshot: Snapshot
    is_fresh: bool
    failure: Failure | None = None
    is_part: bool = False  # others of its entries are withheld


def store() -> Listings:
    return _store_at(settings.DATA_DIR / "listings.sqlite3")


@cache
def _store_at(path: Path) -> Listings:
    return Listings(path)


def read(service: Service, folder: str, *, now: datetime, at_once: bool = False) -> Reading:
    """Return a folder as people left it, from the cache if possible."""
    reading = _read(service, folder, now, at_once=at_once)
    return replace(reading, snapshot=without_held(service, reading.snapshot))


def _read(service: Service, folder: str, now: datetime, *, at_once: bool) -> Reading:
    """Ask our own service each time, since it quickly answers "unchanged". A foreign service is
    asked first only if the folder isn't cached, we changed it ourselves, or the person insists
    (`at_once`). Otherwise the page is shown at once, and requests updates itself.
    """
    since = datetime.now(UTC)
    listing = store().find(service.key, folder)
    if listing is None:
        return Reading(_fetch_once(service, folder, None, since), is_fresh=True)
    if service.is_embedded or at_once or listing.is_changed:
        return _revalidate(service, folder, listing, since)
    if (now - listing.snapshot.read_at).total_seconds() < FRESH_SECONDS:
        return Reading(listing.snapshot, is_fresh=True)
    failure = recent_failure(service.v1.health, now)
    return Reading(listing.snapshot, is_fresh=False, failure=failure)


def look_again(service: Service, folder: str, failure: Failure) -> list[Entry]:
    """Return the entries of a folder after a change that the service may have made.

    Raise the failure if the service didn't make it, or doesn't list the folder either.
    """
    if failure.outcome == "nothing":
        raise failure
    mark_changed(service, [folder])
    try:
        reading = read(service, folder, now=datetime.now(UTC), at_once=True)
    except Failure as unlisted:
        raise failure from unlisted
    if not reading.is_fresh:
        raise failure
    return reading.snapshot.contents.entries


def _revalidate(service: Service, folder: str, listing: CachedListing, since: datetime) -> Reading:
    try:
        return Reading(_fetch_once(service, folder, listing, since), is_fresh=True)
    except NotFound:
        raise
    except Failure as failure:
        return Reading(listing.snapshot, is_fresh=False, failure=failure)


def _fetch_once(
    service: Service, folder: str, listing: CachedListing | None, since: datetime
) -> Snapshot:
    """Ask a foreign service under the refresh lock, unless another process did after `since`."""
    if service.is_embedded:
        return _fetch(service, folder, listing)
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        with store().refresh_lock(service.key, folder) as has_lock:
            if has_lock or time.monotonic() > deadline:
                latest = store().find(service.key, folder)
                if latest and not latest.is_changed and latest.snapshot.read_at >= since:
                    return latest.snapshot
                return _fetch(service, folder, listing)
        time.sleep(STEP_SECONDS)


def _fetch(service: Service, folder: str, listing: CachedListing | None) -> Snapshot:
    number = store().number(service.key, folder)
    try:
        answer = service.v1.listing(folder, listing.etag if listing else None)
    except NotFound as error:
        if folder == ROOT:
            raise Unreadable("not_v1", status=404) from error
        gone = listing or store().find(service.key, folder)
        store().forget(service.key, folder)
        raise FolderGone(gone.snapshot.parent if gone else "") from error
    if isinstance(answer, Unchanged):
        assert listing is not None  # noqa: S101  Its ETag was sent.
        store().confirm(service.key, folder, number)
        return listing.snapshot
    return store().save(service.key, ROOT if answer.is_root else folder, answer, number)


def listed_file(service: Service, folder: str, file: str) -> Entry | None:
    """Return a file from the cached listing, as pages show it, without asking the service."""
    listing = store().find(service.key, folder[:LONGEST_ID])
    return listing.snapshot.contents.find(f"{FILE}-{file}") if listing else None


def find_file(service: Service, folder: str, file: str) -> Entry | None:
    """Return a file as its folder lists it, or None if the service fails. The service is asked
    only if the folder isn't cached or may have changed."""
    if not folder:
        return None
    with suppress(Failure):
        reading = read(service, folder[:LONGEST_ID], now=datetime.now(UTC))
        return reading.snapshot.contents.find(f"{FILE}-{file}")
    return None


def ancestors(service: Service, snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return the folders above. Our own service sends the whole path; others may send only the
    name."""
    return store().ancestors(service.key, snapshot, tells_path=service.is_embedded)


def path_of(service: Service, snapshot: Snapshot) -> str:
    """Return the path from the root. If the service doesn't send it, read the folders above."""
    if snapshot.is_root:
        return ""
    if service.is_embedded or snapshot.path != snapshot.name:
        return snapshot.path
    names, parent = [snapshot.name], snapshot
    for _level in range(MOST_LEVELS):
        parent = read(service, parent.parent or ROOT, now=datetime.now(UTC)).snapshot
        if parent.is_root:
            break
        names.append(parent.name)
    return "/".join(reversed(names))


def root_id(service: Service) -> str:
    """Return the service's own id of the root: not every service understands our id 0."""
    read(service, ROOT, now=datetime.now(UTC))
    listing = store().find(service.key, ROOT)
    return listing.own_id if listing else ROOT


def mark_changed(service: Service, folders: Collection[str]) -> None:
    """Record that we changed these folders, and thus the sizes of the folders above.

    Search reads them again first, where the site searches itself.
    """
    touched = {ROOT, *folders}
    for folder in folders:
        listing = store().find(service.key, folder)
        if listing is not None:
            touched |= {folder_id for folder_id, _name in ancestors(service, listing.snapshot)}
    store().change(service.key, sorted(touched - {""}))
    if not service.is_embedded:
        indexed_folders.mark_changed(service, folders)


def without_held(service: Service, snapshot: Snapshot) -> Snapshot:
    """Return the folder without held entries."""
    if service.can_restore:
        return snapshot
    rows = HeldDelete.objects.filter(service=service.key, folder=snapshot.folder)
    keys = {f"{kind}-{entry_id}" for kind, entry_id in rows.values_list("kind", "entry_id")}
    if not keys:
        return snapshot
    entries = [entry for entry in snapshot.contents.entries if entry.key not in keys]
    return replace(snapshot, contents=Contents(entries))
