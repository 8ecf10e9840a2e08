"""Measure what the owner's Health page shows, which takes too long for a request."""

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import msgspec
from django.conf import settings
from django.db import connection
from django.db.models import Sum
from django.db.utils import DatabaseError

from common.storage import durable
from service.errors import Busy
from service.media.cache import FILMS, RENDITIONS
from service.media.content_folders import contents, scratch_folder
from service.media.sandbox import children
from service.models import Account
from service.store import folders
from service.transfers.download_folders import transfers_folder

log = logging.getLogger("ferry.health")


class Measurements(msgspec.Struct, frozen=True):
    at: str
    space: dict[str, int]
    is_sealed: bool | None  # None: no child could be started to find out


def measure(now: datetime) -> None:
    """Save how much space everything takes."""
    measurements = Measurements(now.astimezone(UTC).isoformat(), space(), is_sealed())
    with durable.replacing(path(), by_many=True) as draft:
        draft.write_bytes(msgspec.json.encode(measurements))


def last() -> Measurements | None:
    try:
        return msgspec.json.decode(path().read_bytes(), type=Measurements)
    except (OSError, ValueError):
        return None


def path() -> Path:
    return Path(settings.DATA_DIR) / "health.json"


def damage_place() -> Path:
    """Return the file that marks the database as damaged: the database may be unreadable."""
    return Path(settings.DATA_DIR) / "database.damaged"


def check_database(_now: datetime) -> None:
    """Read the whole database: by itself, SQLite finds damage only in what it happens to read."""
    if connection.vendor != "sqlite":
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA quick_check(1)")
            result = str(cursor.fetchone()[0])
    except DatabaseError as trouble:
        result = str(trouble)
        if not is_damage(trouble):
            raise
    if result == "ok":
        damage_place().unlink(missing_ok=True)
    else:
        log.error("the database is damaged; restore a backup: %s", result)
        damage_place().touch(mode=0o600)


def is_damage(trouble: BaseException) -> bool:
    word = getattr(trouble.__cause__, "sqlite_errorname", "") or ""
    return word.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


@cache
def is_sealed() -> bool | None:
    """Return whether the kernel confines programs that read media; cached until a restart."""
    try:
        return children.are_sealed(scratch_folder())
    except Busy:
        return None


def space() -> dict[str, int]:
    data = Path(settings.DATA_DIR)
    library = data / "library"
    library_bytes = Account.objects.aggregate(bytes=Sum("space_used_bytes", default=0))["bytes"]
    previews, conversions = media_bytes()
    databases = {each: size_of(each) for each in data.glob("*.sqlite3*")}
    own = sum(size for each, size in databases.items() if each.name.startswith("ferry.sqlite3"))
    # Loans are copies of what is in an object store.
    caches = sum(size_of(data / name) for name in ("cache", "static", "loans"))
    return {
        "library": int(library_bytes),
        "orphans": sum(each.st_blocks * 512 for each in files_in(library / "orphans")),
        "uploads": sum(map(size_of, (library / "incoming", data / "resumable", data / "uploads"))),
        "transfers": size_of(transfers_folder()),
        "previews": previews,
        "conversions": conversions,
        "database": own,
        "backups": size_of(data / "backups"),
        "caches": caches + sum(databases.values()) - own,
    }


def media_bytes() -> tuple[int, int]:
    """Return the bytes of pictures and of converted films."""
    pictures = conversions = 0
    for content in contents():
        pictures += sum(s.st_blocks * 512 for _entry, s in folders.files_in(content.folder))
        conversions += sum(size_of(content.folder / kind) for kind in (RENDITIONS, FILMS))
    return pictures, conversions


def size_of(path: Path) -> int:
    """Return how many bytes a path takes on the disk, without files that are linked elsewhere.

    A transfer's finished files are the library's as well, and a backup's are too.
    """
    return sum(s.st_blocks * 512 for s in files_in(path) if s.st_nlink == 1)


def files_in(path: Path) -> Iterator[os.stat_result]:
    """Yield the facts of a file, or of all files below a folder, that still exist."""
    below = (Path(folder, name) for folder, _folders, names in os.walk(path) for name in names)
    for each in below if path.is_dir() else [path]:
        with suppress(FileNotFoundError):
            yield each.lstat()
