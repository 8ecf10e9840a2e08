"""Keep a few copies of the database in the data folder, made before risky steps."""

import sqlite3
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections
from django.db.migrations import Migration
from django.db.migrations.recorder import MigrationRecorder

from common.storage import durable
from host.storage.database_copies import NotWhole, database_path, log, make, stamp

MOST_COPIES = 5


def folder() -> Path:
    return Path(settings.DATA_DIR) / "backups"


def list_copies() -> list[Path]:
    """Return the copies in the data folder, the newest first."""
    return sorted(folder().glob("*.sqlite3"), reverse=True)


def make_copy(reason: str) -> Path:
    """Copy Ferry's database to the data folder, and drop the oldest copies."""
    durable.make_folder(folder())
    copy = folder() / f"{stamp()}-{reason}.sqlite3"
    make(database_path(), copy)
    for old in list_copies()[MOST_COPIES:]:
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
        copy = make_copy("before-upgrade")
    except (OSError, sqlite3.Error, NotWhole) as trouble:
        raise SystemExit(
            f"Ferry has to change its database, and can't back it up first: {trouble}. "
            "Free some space in DATA_DIR or restore a backup, then try again."
        ) from None
    log.info("backed up the database before its migration copy=%s", copy.name)
