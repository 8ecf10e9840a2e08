"""A cache of listings for all processes: shown at once, revalidated in the background."""

import hashlib
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from common.storage.sqlite_cache import SQLiteCache
from webui.library.entries import FILE, FOLDER, OWN_PICTURE, PICTURE_PIXELS, ROOT, Entry
from webui.library.snapshot import Snapshot
from webui.library.sorting import Contents
from webui.v1.records import File, Listing

MOST_FOLDERS = 5_000
MOST_STORED_BYTES = 256 * 2**20
OLDEST_SECONDS = 30 * 24 * 3600
MOST_ENTRIES_IN_MEMORY = 200_000
MOST_ANCESTORS = 64
USED_STEP_SECONDS = 60
PRUNE_EVERY = 200
ROWS = msgspec.json.Decoder(list[Entry])

SCHEMA = """
CREATE TABLE IF NOT EXISTS listing (
    service TEXT, folder TEXT, own_id TEXT, name TEXT, path TEXT, parent TEXT, size_bytes INTEGER,
    space_max INTEGER, space_used INTEGER, revision TEXT, etag TEXT, number INTEGER, read_at REAL,
    used_at REAL, stored_bytes INTEGER, PRIMARY KEY (service, folder)
);
-- In each row null stands for a size that the service doesn't tell.
CREATE TABLE IF NOT EXISTS rows (
    service TEXT, folder TEXT, revision TEXT, rows BLOB, PRIMARY KEY (service, folder)
);
CREATE TABLE IF NOT EXISTS change (
    service TEXT, folder TEXT, number INTEGER, PRIMARY KEY (service, folder)
);
CREATE INDEX IF NOT EXISTS listing_used ON listing (used_at);
"""


@dataclass(frozen=True)
class CachedListing:
    """A listing in the cache. `is_changed`: we changed the folder after it was read."""

    snapshot: Snapshot
    etag: str | None
    own_id: str
    is_changed: bool


class Listings:
    """A store of listings for all processes of one machine.

    Guarantee: all processes show what one of them read. After one process changed a folder, none
    shows its earlier state: a listing read during the change isn't saved (`number`). One process
    at a time asks the service about a folder (`refresh_lock`, which expires if that process dies).
    Limited in folders, bytes, and age; losing the file costs only speed.

    Reason: two processes with separate memories would alternately show two different states.

    Cost: a lookup is one SQLite read, 0.1 ms; each process parses the entries of a revision once,
    and keeps their orders with them.

    Rejected: Django's file cache (no atomic operation for the lock), Ferry's database (its one
    writer has better things to do, and this file may be deleted).
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        most_entries: int = MOST_ENTRIES_IN_MEMORY,
    ) -> None:
        self._cache = SQLiteCache(path, SCHEMA, Entry._fields, clock)
        self._clock = clock
        self._memory = Memory(most_entries)
        self._written = 0

    # Reading

    def find(self, service: str, folder: str) -> CachedListing | None:
        with self._cache.open() as connection:
            row = connection.execute(
                "SELECT listing.*, coalesce(change.number, 0) > listing.number AS is_changed"
                " FROM listing LEFT JOIN change USING (service, folder)"
                " WHERE service = ? AND folder = ?",
                (service, folder),
            ).fetchone()
            if row is None:
                return None
            contents = self._contents(connection, row)
            if contents is None:
                return None
            self._touch(connection, row)
        return CachedListing(
            snapshot_of(row, contents), row["etag"], row["own_id"], bool(row["is_changed"])
        )

    def _contents(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Contents | None:
        key, revision = (row["service"], row["folder"]), row["revision"]
        contents = self._memory.get(key, revision)
        if contents is None:
            stored = connection.execute(
                "SELECT rows FROM rows WHERE service = ? AND folder = ? AND revision = ?",
                (*key, revision),
            ).fetchone()
            if stored is None:
                return None
            contents = Contents(ROWS.decode(stored[0]))
            self._memory.put(key, revision, contents)
        return contents

    def _touch(self, connection: sqlite3.Connection, row: sqlite3.Row) -> None:
        if row["used_at"] < self._clock() - USED_STEP_SECONDS:
            connection.execute(
                "UPDATE listing SET used_at = ? WHERE service = ? AND folder = ?",
                (self._clock(), row["service"], row["folder"]),
            )

    def ancestors(
        self, service: str, snapshot: Snapshot, *, tells_path: bool
    ) -> list[tuple[str, str]]:
        """Return ids and names from below the root down to the parent. For folders that no one has
        opened, the path supplies the name, if it is known, and the id may be empty."""
        names = snapshot.path.split("/")[:-1]
        most = len(names) if tells_path or names else MOST_ANCESTORS
        ancestors: list[tuple[str, str]] = []
        folder = snapshot.parent
        with self._cache.open() as connection:
            root = self._facts(connection, service, ROOT)
            while folder and len(ancestors) < most:
                if folder == ROOT or (root is not None and folder == root["own_id"]):
                    return ancestors[::-1]
                row = self._facts(connection, service, folder)
                name = names[-1 - len(ancestors)] if len(ancestors) < len(names) else "…"
                ancestors.append((folder, row["name"] if row else name))
                folder = row["parent"] if row else ""
        unknown = names[: max(len(names) - len(ancestors), 0)]
        return [("", name) for name in unknown] + ancestors[::-1]

    @staticmethod
    def _facts(connection: sqlite3.Connection, service: str, folder: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = connection.execute(
            "SELECT own_id, name, parent FROM listing WHERE service = ? AND folder = ?",
            (service, folder),
        ).fetchone()
        return row

    def name_of(self, service: str, folder: str) -> str:
        """Return a folder's name, or an empty string if no one has opened it yet."""
        with self._cache.open() as connection:
            row = self._facts(connection, service, folder)
        return row["name"] if row else ""

    def space(self, service: str) -> tuple[int | None, int | None]:
        """Return used and total space, from the latest listing that states it."""
        with self._cache.open() as connection:
            row = connection.execute(
                "SELECT space_used, space_max FROM listing"
                " WHERE service = ? AND space_max IS NOT NULL ORDER BY read_at DESC LIMIT 1",
                (service,),
            ).fetchone()
        return (row["space_used"], row["space_max"]) if row else (None, None)

    # Keeping

    def number(self, service: str, folder: str) -> int:
        """Return how often we changed this folder ourselves. Call it before reading the folder."""
        with self._cache.open() as connection:
            return number_of(connection, service, folder)

    def save(self, service: str, folder: str, listing: Listing, number: int) -> Snapshot:
        """Save a listing for all processes, unless we changed the folder since taking `number`."""
        entries = entries_of(listing)
        stored = msgspec.json.encode(entries)
        facts = facts_of(service, folder, listing, stored)
        facts |= {"number": number, "read_at": self._clock(), "used_at": self._clock()}
        contents = self._memory.get((service, folder), facts["revision"]) or Contents(entries)
        with self._cache.transact() as connection:
            if number_of(connection, service, folder) == number:
                put(connection, "listing", facts)
                row = {name: facts[name] for name in ("service", "folder", "revision")}
                put(connection, "rows", {**row, "rows": stored})
                self._memory.put((service, folder), facts["revision"], contents)
        self._prune_sometimes()
        return snapshot_of(facts, contents)

    def confirm(self, service: str, folder: str, number: int) -> None:
        """Record that the service reported no change."""
        with self._cache.open() as connection:
            connection.execute(
                "UPDATE listing SET read_at = ?, number = ? WHERE service = ? AND folder = ?"
                " AND (read_at < ? OR number < ?)",
                (self._clock(), number, service, folder, self._clock() - 1, number),
            )

    def change(self, service: str, folders: list[str]) -> None:
        """Record that we changed these folders: their listings are revalidated before use."""
        with self._cache.transact() as connection:
            for folder in folders:
                number = number_of(connection, service, folder) + 1
                put(connection, "change", {"service": service, "folder": folder, "number": number})

    def forget(self, service: str, folder: str) -> None:
        with self._cache.transact() as connection:
            for table in ("listing", "rows"):
                remove(connection, table, [(service, folder)])

    def refresh_lock(self, service: str, folder: str) -> AbstractContextManager[bool]:
        return self._cache.refresh_lock(f"{service} {folder}")

    # Forgetting

    def _prune_sometimes(self) -> None:
        self._written += 1
        if self._written % PRUNE_EVERY == 1:
            self.prune()

    def prune(self) -> None:
        """Delete old listings, and the least recently used beyond the limits."""
        with self._cache.transact() as connection:
            gone = connection.execute(
                "SELECT service, folder FROM (SELECT service, folder, used_at,"
                " row_number() OVER latest AS place, sum(stored_bytes) OVER latest AS bytes"
                " FROM listing WINDOW latest AS (ORDER BY used_at DESC))"
                " WHERE place > ? OR bytes > ? OR used_at < ?",
                (MOST_FOLDERS, MOST_STORED_BYTES, self._clock() - OLDEST_SECONDS),
            ).fetchall()
            for table in ("listing", "rows", "change"):
                remove(connection, table, map(tuple, gone))


class Memory:
    """An LRU cache of this process's parsed listings, limited by their total number of entries.

    Only the last revision of a folder stays.
    """

    def __init__(self, most_entries: int) -> None:
        self._most = most_entries
        self._kept: OrderedDict[tuple[str, str], tuple[str, Contents]] = OrderedDict()
        self._entries = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str], revision: str) -> Contents | None:
        with self._lock:
            if key not in self._kept or self._kept[key][0] != revision:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][1]

    def put(self, key: tuple[str, str], revision: str, contents: Contents) -> None:
        with self._lock:
            if key in self._kept:
                self._drop(key)
            self._kept[key] = revision, contents
            self._entries += len(contents)
            while self._entries > self._most and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, str]) -> None:
        _revision, gone = self._kept.pop(key)
        self._entries -= len(gone)


def number_of(connection: sqlite3.Connection, service: str, folder: str) -> int:
    row = connection.execute(
        "SELECT number FROM change WHERE service = ? AND folder = ?", (service, folder)
    ).fetchone()
    return int(row[0]) if row else 0


def put(connection: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    names, places = ", ".join(values), ", ".join(f":{name}" for name in values)
    connection.execute(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})", values)  # noqa: S608


def remove(connection: sqlite3.Connection, table: str, keys: Iterable[tuple[Any, ...]]) -> None:
    connection.executemany(f"DELETE FROM {table} WHERE service = ? AND folder = ?", keys)  # noqa: S608


def facts_of(service: str, folder: str, listing: Listing, stored: bytes) -> dict[str, Any]:
    parent = "" if folder == ROOT else listing.parent_id or ROOT
    name = "" if folder == ROOT else listing.name
    header = f"{name}\0{listing.path}\0{parent}".encode(errors="replace")
    return {
        "service": service,
        "folder": folder,
        "own_id": listing.folder_id,
        "name": name,
        "path": listing.path,
        "parent": parent,
        "size_bytes": listing.size_bytes,
        "space_max": listing.space_max_bytes,
        "space_used": listing.space_used_bytes,
        "revision": hashlib.sha256(header + b"\0" + stored).hexdigest()[:20],
        "etag": listing.etag,
        "stored_bytes": len(stored),
    }


def snapshot_of(row: Any, contents: Contents) -> Snapshot:
    return Snapshot(
        folder=row["folder"],
        name=row["name"],
        path=row["path"],
        parent=row["parent"],
        size_bytes=row["size_bytes"],
        space_max_bytes=row["space_max"],
        space_used_bytes=row["space_used"],
        revision=row["revision"],
        read_at=datetime.fromtimestamp(row["read_at"], UTC),
        contents=contents,
    )


def entries_of(listing: Listing) -> list[Entry]:
    folders = [
        Entry(FOLDER, each.id, each.name, each.size_bytes, each.changed) for each in listing.folders
    ]
    files = [
        Entry(
            FILE,
            each.id,
            each.name,
            each.size_bytes,
            each.changed,
            each.hash or "",
            picture_of(each),
            each.duration_seconds,
            each.width,
            each.height,
            each.taken,
        )
        for each in listing.files
    ]
    return folders + files


def picture_of(file: File) -> str:
    """Return a picture that is sharp in the grid, if there is one, or else the thumbnail."""
    if file.has_picture:
        return OWN_PICTURE
    return file.image_url(PICTURE_PIXELS) or file.thumb_url or ""
