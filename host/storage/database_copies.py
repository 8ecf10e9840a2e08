"""Copy SQLite databases, and keep a few copies of Ferry's in its data folder."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, connections
from django.db.migrations import Migration
from django.db.migrations.recorder import MigrationRecorder

from common.storage import durable

log = logging.getLogger("ferry.backup")

BUSY_SECONDS = 20
MOST_COPIES = 5
BESIDE = ("-wal", "-shm", "-journal")


class NotWhole(Exception):  # noqa: N818  Errors are nouns here.
    """A file that isn't a Ferry database, or is damaged."""


def database_path() -> Path:
    return Path(connection.settings_dict["NAME"])


def make(source: Path, target: Path) -> None:
    """Copy a database atomically, even while others write to it.

    Copy it in one step: readers block no writers, and with several steps each write by others
    would restart the copy.
    """
    # An older backup may be on a read-only disk.
    mode = "rw" if os.access(source, os.W_OK) else "ro"
    with durable.replacing(target) as draft:
        with open_database(source, mode) as original, open_database(draft, "rw") as copy:
            original.backup(copy)
            # A single file is easier to keep intact than one with a log beside it.
            copy.execute("PRAGMA journal_mode=DELETE")
        check(draft)
    durable.sync(target.parent)


def check(path: Path) -> None:
    """Raise NotWhole unless the file is an intact database of Ferry's."""
    try:
        with open_database(path, "ro") as database:
            result = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
            database.execute("SELECT 1 FROM service_file LIMIT 1")
    except sqlite3.DatabaseError as trouble:
        raise NotWhole(f"{path} is no whole database of Ferry's: {trouble}") from trouble
    if result != "ok":
        raise NotWhole(f"{path} is damaged: {result}")


@contextmanager
def open_database(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)) as database:
        yield database


def leftovers(path: Path) -> list[Path]:
    """Return the files that SQLite keeps beside a database while it is open, or after a crash."""
    beside = (path.with_name(f"{path.name}{suffix}") for suffix in BESIDE)
    return [each for each in beside if os.path.lexists(each)]


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H.%M.%S.%f")


# Copies in the data folder, made before risky steps


def folder() -> Path:
    return Path(settings.DATA_DIR) / "backups"


def list_kept() -> list[Path]:
    """Return the copies in the data folder, the newest first."""
    return sorted(folder().glob("*.sqlite3"), reverse=True)


def keep(reason: str) -> Path:
    """Copy Ferry's database to the data folder, and drop the oldest copies."""
    durable.make_folder(folder())
    copy = folder() / f"{stamp()}-{reason}.sqlite3"
    make(database_path(), copy)
    for old in list_kept()[MOST_COPIES:]:
        old.unlink()
    return copy


def keep_before_migrations(using: str, plan: list[tuple[Migration, bool]], **_signal: Any) -> None:
    """Copy the database before a migration, which can't be undone. Raise SystemExit on failure."""
    database = connections[using]
    if database.vendor != "sqlite" or not plan:
        return
    if not MigrationRecorder(database).applied_migrations():
        return
    try:
        copy = keep("before-upgrade")
    except (OSError, sqlite3.Error, NotWhole) as trouble:
        raise SystemExit(
            f"Ferry has to change its database, and can't back it up first: {trouble}. "
            "Free some space in DATA_DIR or restore a backup, then try again."
        ) from None
    log.info("backed up the database before its migration copy=%s", copy.name)
