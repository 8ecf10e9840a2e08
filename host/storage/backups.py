"""Back up everything that Ferry keeps, while it runs, and restore it.

A backup is a folder:

    manifest.json        written last: without it, there is no backup
    database-….sqlite3   names every blob with its size and hash
    library/blobs/…      shared by all backups in this folder; a blob never changes
    secret_key
    tls/authority.pem    so that devices go on to trust Ferry

The database comes first. The sweep removes no blob until the backup has ended, so every blob that
the copy names still exists, whatever people delete meanwhile.
"""

import errno
import fcntl
import hashlib
import json
import secrets
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from common.batches import batches
from common.storage import durable, locks
from common.storage.durable import sync_file_system
from common.storage.hardlinks import try_link
from host.storage import database_copies, running
from service.library.upkeep import database_match
from service.store import disk_store
from service.store.disk_store import DiskStore
from service.store.folders import make_folder
from service.store.sums import CHUNK_BYTES

# Backups of the first format lack the bytes of deleted files.
FORMAT, WITHOUT_DELETED = 2, 1
MANIFEST = "manifest.json"
LOCK = "backup.lock"
KEY = "secret_key"
AUTHORITY = "tls/authority.pem"
FICLONE = 0x40049409
# Errors of file systems that can't clone files.
NO_CLONE = {errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.ENOTTY, errno.EINVAL}
# What a data folder may hold and still count as empty; reading the settings makes some of it.
OF_NO_WEIGHT = {KEY, "static", running.LOCK, running.RESTORING, "lost+found"}


class BackupRefused(Exception):  # noqa: N818  Errors are nouns here.
    """A refusal whose one line says what is wrong and what to do."""


class Blob(NamedTuple):
    """A blob, as the database describes it."""

    name: str
    size_bytes: int
    sha1: str


@dataclass(frozen=True)
class Manifest:
    made_at: str
    database: str
    sha256: str
    files: int
    size_bytes: int
    damaged: list[str]  # blobs that were missing or incomplete in the library itself
    format: int = FORMAT


@dataclass
class Outcome:
    files: int = 0
    size_bytes: int = 0
    ways: Counter[str] = field(default_factory=Counter)  # blobs linked, cloned, copied, or kept
    damaged: list[str] = field(default_factory=list)


# Backing up


def back_up(target: Path, *, is_verifying: bool = False) -> Outcome:
    """Back up to a folder. Raise BackupRefused, OSError, sqlite3.Error, or NotWhole.

    `is_verifying`: read every copy again, including those of earlier backups.
    """
    if target.resolve().is_relative_to(Path(settings.DATA_DIR).resolve()):
        raise BackupRefused("The backup would lie in DATA_DIR itself; name another folder.")
    store = disk_store.library()
    with claim(target), store.hold_all():
        before = read_manifest(target)
        database = target / f"database-{database_copies.stamp()}.sqlite3"
        database_copies.make(database_copies.database_path(), database)
        doubtful = set(before.damaged if before else ())
        copies = DiskStore(target / "library")

        def is_there(blob: Blob) -> bool:
            if is_verifying:
                return is_whole(copies, blob)
            return blob.name not in doubtful and copies.size(blob.name) == blob.size_bytes

        outcome = bring_all(store, copies, blobs_of(database), is_there, is_verifying=is_verifying)
        bring_key(Path(settings.DATA_DIR) / KEY, target / KEY)
        bring_key(Path(settings.DATA_DIR) / AUTHORITY, target / AUTHORITY)
        sync_file_system(target)
        write_manifest(target, database, outcome)
        drop_older(target, database)
    return outcome


@contextmanager
def claim(target: Path) -> Iterator[None]:
    """Reserve the folder for backups, and let no other backup write to it meanwhile."""
    durable.make_folder(target)
    is_ours = (target / LOCK).exists() or (target / MANIFEST).exists()
    if not is_ours and any(target.iterdir()):
        raise BackupRefused(
            f"{target} holds something else; name an empty folder or an older backup."
        )
    with locks.alone(target / LOCK) as is_alone:
        if not is_alone:
            raise BackupRefused(f"Another backup is writing to {target}.")
        yield


def bring_all(
    source: DiskStore,
    target: DiskStore,
    blobs: Iterator[Blob],
    is_there: Callable[[Blob], bool],
    *,
    is_verifying: bool,
) -> Outcome:
    """Copy all blobs that aren't at the target. `is_verifying`: read what arrived there."""
    outcome = Outcome()
    coming: list[Blob] = []
    for blob in blobs:
        outcome.files += 1
        outcome.size_bytes += blob.size_bytes
        if is_there(blob):
            outcome.ways["kept"] += 1
        else:
            coming.append(blob)
    carrier = Carrier(target, sum(blob.size_bytes for blob in coming))
    for batch in batches(coming):
        carrier.bring(source, batch, outcome)
        if is_verifying:
            outcome.damaged += [blob.name for blob in batch if not is_whole(target, blob)]
    outcome.damaged = sorted(set(outcome.damaged))
    return outcome


class Carrier:
    """A copier of blobs to another store by the cheapest means: link, clone, or copy.

    A copy gets its name only once it is on the disk, so a name always stands for complete content.
    """

    def __init__(self, target: DiskStore, size_bytes: int) -> None:
        """`size_bytes`: how much it will bring."""
        self._target = target
        self._needed_bytes = size_bytes
        self._incoming = target.incoming / "backup"
        shutil.rmtree(self._incoming, ignore_errors=True)
        self._may_clone = True

    def bring(self, source: DiskStore, blobs: Iterable[Blob], outcome: Outcome) -> None:
        drafts: list[tuple[Path, Path]] = []
        for blob in blobs:
            size_bytes = source.size(blob.name)
            if size_bytes != blob.size_bytes:
                outcome.damaged.append(blob.name)
            if size_bytes is not None:
                drafts += self._bring_one(source.path(blob.name), blob, outcome)
        if drafts:
            sync_file_system(self._incoming)
        for draft, target in drafts:
            draft.replace(target)

    def _bring_one(self, source: Path, blob: Blob, outcome: Outcome) -> list[tuple[Path, Path]]:
        """Return the draft, if there is one, with its final path."""
        target = self._target.path(blob.name)
        make_folder(target.parent)
        target.unlink(missing_ok=True)
        if try_link(source, target):
            outcome.ways["linked"] += 1
            return []
        make_folder(self._incoming)
        draft = self._incoming / blob.name
        if self._clone(source, draft):
            outcome.ways["cloned"] += 1
        else:
            self._refuse_beyond_room()
            outcome.ways["copied"] += 1
            is_new_damage = copy(source, draft) != blob.sha1 and blob.name not in outcome.damaged
            outcome.damaged += [blob.name] if is_new_damage else []
        return [(draft, target)]

    def _refuse_beyond_room(self) -> None:
        """Refuse before the first copy; links and clones take no space."""
        free_bytes = shutil.disk_usage(self._incoming).free
        if self._needed_bytes > free_bytes:
            raise BackupRefused(
                f"The files need {gigabytes(self._needed_bytes)}, and the disk of "
                f"{self._target.incoming.parents[1]} has {gigabytes(free_bytes)} free. Free some "
                "space, or name a folder on another disk."
            )
        self._needed_bytes = 0

    def _clone(self, source: Path, draft: Path) -> bool:
        if not self._may_clone:
            return False
        with open(source, "rb") as original, open(draft, "wb") as clone:
            try:
                fcntl.ioctl(clone.fileno(), FICLONE, original.fileno())
            except OSError as trouble:
                if trouble.errno not in NO_CLONE:
                    raise
                self._may_clone = False
        return self._may_clone


def copy(source: Path, target: Path) -> str:
    """Copy a file; return the SHA-1 of its content."""
    digest = hashlib.sha1(usedforsecurity=False)
    with open(source, "rb", buffering=0) as original, open(target, "wb") as output:
        while chunk := original.read(CHUNK_BYTES):
            digest.update(chunk)
            output.write(chunk)
    return digest.hexdigest()


def bring_key(source: Path, target: Path) -> None:
    """Copy a file with a key. If SECRET_KEY is set, or without https, there is none."""
    with suppress(FileNotFoundError):
        content = source.read_bytes()
        durable.make_folder(target.parent)
        durable.write(target, content)


def write_manifest(target: Path, database: Path, outcome: Outcome) -> None:
    manifest = Manifest(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        database=database.name,
        sha256=sha256_of(database),
        files=outcome.files,
        size_bytes=outcome.size_bytes,
        damaged=outcome.damaged,
    )
    durable.write(target / MANIFEST, json.dumps(asdict(manifest), indent=2).encode())


def drop_older(target: Path, database: Path) -> None:
    """Remove older databases, and blobs that the new one doesn't name."""
    for each in target.glob("database-*"):
        if each != database:
            each.unlink()
    names = {blob.name for blob in blobs_of(database)}
    library = DiskStore(target / "library")
    for entry in library.blobs():
        if entry.blob not in names:
            library.delete(entry.blob)


# Restoring


def restore(source: Path) -> Outcome:
    """Restore a complete backup into an empty data folder. Raise the errors of `back_up`."""
    manifest = read_manifest(source)
    if manifest is None:
        raise BackupRefused(
            f"{source} is no whole backup: its {MANIFEST} is missing or can't be read. "
            "Either the backup was cut off, or this is another folder."
        )
    with running.alone() as is_alone:
        refuse_unless(alone=is_alone)
        refuse_filled()
        database = source / manifest.database
        if not database.exists() or sha256_of(database) != manifest.sha256:
            raise BackupRefused(
                f"{database} isn't the database that was backed up: it has changed."
            )
        database_copies.check(database)
        running.begin_restore()
        blobs = blobs_of(database, with_deleted=manifest.format > WITHOUT_DELETED)
        store = disk_store.library()
        # Read each one: the backup may have been on its disk for years.
        outcome = bring_all(
            DiskStore(source / "library"), store, blobs, partial(is_whole, store), is_verifying=True
        )
        bring_key(source / KEY, Path(settings.DATA_DIR) / KEY)
        bring_key(source / AUTHORITY, Path(settings.DATA_DIR) / AUTHORITY)
        sync_file_system(Path(settings.DATA_DIR))
        store.reach_generation(generation_in(database))
        bring_database(database)
        store.hand_over(database_match.identity())
        running.end_restore()
    return outcome


def restore_database(source: Path) -> Path | None:
    """Replace the database with a copy; return where the old one, if any, is kept.

    The library stays. Files that the copy doesn't name wait there for `manage.py library`.
    """
    database_copies.check(source)
    database = database_copies.database_path()
    with running.alone() as is_alone:
        refuse_unless(alone=is_alone)
        if not database.exists() and (leftovers := database_copies.leftovers(database)):
            raise BackupRefused(f"{leftovers[0]} is left over from another database; move it away.")
        running.begin_restore()
        before = set_aside(database) if database.exists() else None
        for each in database_copies.leftovers(database):
            each.unlink()
        bring_database(source)
        running.end_restore()
    return before


def set_aside(database: Path) -> Path:
    """Keep a copy of the database, or if it is damaged, its files unchanged."""
    try:
        return database_copies.keep("before-restore")
    except (sqlite3.Error, database_copies.NotWhole):
        folder = database_copies.folder() / f"{database_copies.stamp()}-damaged"
        durable.make_folder(folder)
        for each in (database, *database_copies.leftovers(database)):
            shutil.copy2(each, folder / each.name)
        sync_file_system(folder)
        return folder


def bring_database(source: Path) -> None:
    """Copy the database back, with a new key for signed links: some have ended since the copy."""
    path = database_copies.database_path()
    database_copies.make(source, path)
    with database_copies.open_database(path, "rw") as database, database:
        database.execute("UPDATE service_account SET link_key = ?", [secrets.token_hex(32)])


def is_whole(store: DiskStore, blob: Blob) -> bool:
    if store.size(blob.name) != blob.size_bytes:
        return False
    with store.open(blob.name) as file:
        return hashlib.file_digest(file, "sha1").hexdigest() == blob.sha1


def refuse_unless(*, alone: bool) -> None:
    if not alone:
        raise BackupRefused("Ferry is running on this DATA_DIR; stop it first.")


def refuse_filled() -> None:
    """Refuse a data folder that isn't empty, unless a restore was interrupted there."""
    if running.is_half_restored():
        return
    database = database_copies.database_path()
    if database.exists() or database_copies.leftovers(database):
        path = database if database.exists() else database_copies.leftovers(database)[0]
        raise BackupRefused(f"There is a database already: {path}. Move it away, or set DATA_DIR.")
    names = {entry.name for entry in Path(settings.DATA_DIR).iterdir()} - OF_NO_WEIGHT
    if names:
        raise BackupRefused(
            f"DATA_DIR ({settings.DATA_DIR}) isn't empty: it holds {min(names)}. Move what is "
            "there away, or set DATA_DIR to another folder."
        )


# Shared by backup and restore


def read_manifest(folder: Path) -> Manifest | None:
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    if manifest.format > FORMAT:
        raise BackupRefused(
            f"A newer version of Ferry made the backup in {folder}; use that version."
        )
    return manifest


def blobs_of(database: Path, *, with_deleted: bool = True) -> Iterator[Blob]:
    """Yield the blobs of all files, also of deleted ones that can be restored."""
    with database_copies.open_database(database, "ro") as connection:
        tables = tables_in(connection) if with_deleted else ["service_file"]
        selects = [f"SELECT blob, size_bytes, sha1 FROM {each}" for each in tables]  # noqa: S608
        yield from map(Blob._make, connection.execute(" UNION ".join(selects)))


def tables_in(connection: sqlite3.Connection) -> list[str]:
    """Return the tables of files; a database of an older Ferry has no deleted ones."""
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE name IN ('service_file', 'service_deletedfile')"
    )
    return sorted((name for (name,) in rows), reverse=True)


def generation_in(database: Path) -> int:
    """Return the generation, or 0 if the tables are older than migration 0006."""
    with (
        database_copies.open_database(database, "ro") as connection,
        suppress(sqlite3.OperationalError),
    ):
        row = connection.execute("SELECT max(generation) FROM service_library").fetchone()
        return int(row[0] or 0)
    return 0


def names_of(blobs: list[str]) -> list[str]:
    with database_copies.open_database(database_copies.database_path(), "ro") as connection:
        within = ",".join("?" * len(blobs))
        names: list[str] = []
        for table in tables_in(connection):
            sql = f"SELECT name FROM {table} WHERE blob IN ({within}) ORDER BY id"  # noqa: S608
            names += [name for (name,) in connection.execute(sql, blobs)]
        return names


def gigabytes(size_bytes: int) -> str:
    return f"{size_bytes / 10**9:,.2f} GB"


def sha256_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
