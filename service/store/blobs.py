"""Store bytes as blobs, by id, never by a name that someone sent."""

import errno
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

from django.conf import settings

from service.errors import DiskFull, NotFound
from service.store.hardlinks import place_first, try_link
from service.store.sums import CHUNK_BYTES, LARGE_CHUNK_BYTES, Stored, Sums, pieces_of, sums_of
from service.store.sync import sync, sync_file_system

MOST_SYNCED_ALONE = 8
# The library sweep runs once a day; its result holds until the second one is overdue.
KNOWN_WHOLE_FOR = timedelta(days=2)
# Content never takes these: even to delete something, the database must be able to write.
RESERVE_BYTES = 64 * 2**20
BLOB = re.compile("[0-9a-f]{32}")
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
GENERATION_DIGITS = 20


class StoredBlob(NamedTuple):
    """What the sweep sees of a blob."""

    blob: str
    written_at: datetime


class Orphan(NamedTuple):
    """A blob that no row named, kept for a while in case someone misses it."""

    blob: str
    path: Path
    since: date
    written_at: datetime
    size_bytes: int


class Store:
    """Blobs in a folder of this machine.

    Guarantee: a blob is stored atomically, even across a power cut: it is written under
    `incoming/`, synced, and renamed to `blobs/ab/cd/<id>`, whose folder is synced too. A crash
    leaves at most a temporary file, or a blob without a row; the sweep removes both.
    The interface is small, so that an object store can replace it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        # As text: a ZIP of 10,000 small files would spend half its time in pathlib.
        self._blobs_text = f"{root}/blobs"
        self._blobs = root / "blobs"
        self._incoming = root / "incoming"
        # Until the disk refuses a link.
        self._has_links = True
        self._orphans = root / "orphans"

    def writer(self) -> "Writer":
        """Return a writer for a new blob. Raises DiskFull."""
        self.refuse_beyond(1)
        return Writer(self, self._draft())

    def put(self, stream: BinaryIO) -> Stored:
        with self.writer() as writer:
            while chunk := stream.read(CHUNK_BYTES):
                writer.write(chunk)
            return writer.commit()

    def link_all(
        self,
        paths: Iterable[Path],
        report: Callable[[int], None] = lambda _size_bytes: None,
        begun: Mapping[Path, Sums] | None = None,
    ) -> list[Stored]:
        """Store complete files of the same file system by hard links, or copy them if it has none.

        Their names stay, and stay the caller's; their bytes must never change again. `report` is
        called with the size of each piece that was hashed; any exception from it aborts. `begun`
        has sums that were computed while a file arrived. Either all blobs are durable, or none
        exists.
        """
        blobs: list[Stored] = []
        try:
            for path in paths:
                blobs.append(self._link(path, report, (begun or {}).get(path)))  # noqa: PERF401  Some are there if one fails.
            with translate_disk_full():
                self._make_durable(blobs)
        except BaseException:
            for each in blobs:
                self.delete(each.blob)
            raise
        return blobs

    def _link(self, path: Path, report: Callable[[int], None], begun: Sums | None) -> Stored:
        if not self._has_links:
            return self._copy(path, report)
        with path.open("rb", buffering=0) as file, translate_disk_full(), syncing(file):
            sums = sums_of(file, report, begun)
        draft = self._draft()
        with no_leftover(draft), translate_disk_full():
            self._has_links = try_link(path, draft)
            if not self._has_links:
                return self._copy(path, report)
            draft.chmod(0o600)
            # For the sweep this blob is new, however old the file is.
            os.utime(draft)
            make_folder(self.path(draft.name).parent)
            draft.rename(self.path(draft.name))
        return sums.of_blob(draft.name)

    def _copy(self, path: Path, report: Callable[[int], None]) -> Stored:
        self.refuse_beyond(path.stat().st_size)
        with path.open("rb", buffering=0) as file, self.writer() as writer:
            for piece in pieces_of(file):
                writer.write(piece)
                report(len(piece))
            return writer.place()

    def _make_durable(self, blobs: list[Stored]) -> None:
        """Sync blobs and folders: a few one by one, many by syncing the whole file system.

        The four syncs of one file took 10 ms and more, and a torrent may have 100,000 files.
        """
        if len(blobs) > MOST_SYNCED_ALONE:
            sync_file_system(self._root)
            return
        for each in blobs:
            blob_path = self.path(each.blob)
            for path in (blob_path, blob_path.parent, blob_path.parent.parent, self._blobs):
                sync(path)
        for path in (self._root, self._root.parent):
            sync(path)

    def open(self, blob: str) -> FileIO:
        """Open a blob, unbuffered: all callers read in blocks. Raises NotFound if it is missing."""
        try:
            return open(self._path_of(blob), "rb", buffering=0)
        except FileNotFoundError as missing:
            raise NotFound from missing

    def size(self, blob: str) -> int | None:
        """Return the size of a blob, or None if it is missing."""
        try:
            return os.stat(self._path_of(blob)).st_size  # noqa: PTH116
        except FileNotFoundError:
            return None

    def path(self, blob: str) -> Path:
        """Return the path of a blob, for sendfile; the file may be missing."""
        return Path(self._path_of(blob))

    def delete(self, blob: str) -> bool:
        """Delete a blob, or return False if it was gone; open readers can go on."""
        try:
            self.path(blob).unlink()
        except FileNotFoundError:
            return False
        return True

    def free_bytes(self) -> int:
        """Return how much of the disk is free for content."""
        make_folder(self._root)
        return max(0, shutil.disk_usage(self._root).free - RESERVE_BYTES)

    def refuse_beyond(self, size_bytes: int) -> None:
        if size_bytes > self.free_bytes():
            raise DiskFull

    def place(self, draft: Path, sums: Sums) -> Stored:
        """Move a draft to the blobs; the caller makes content and folders durable."""
        path = self.path(draft.name)
        with translate_disk_full():
            make_folder(path.parent)
            draft.rename(path)
        return sums.of_blob(path.name)

    def keep(self, draft: Path, sums: Sums) -> Stored:
        """Move a synced draft to the blobs, durably."""
        path = self.path(draft.name)
        folders = [self._blobs, path.parent.parent, path.parent]
        if not self.is_there:
            folders = [self._root.parent, self._root, *folders]
        with translate_disk_full():
            for folder in folders:
                make_folder(folder)
            draft.rename(path)
            # From the leaf up: each may be new, and losing a folder loses all in it.
            for folder in reversed(folders):
                sync(folder)
        return sums.of_blob(path.name)

    def is_known_whole(self, now: datetime) -> bool:
        """Return whether all rows had their blobs at the last check, and no read failed since."""
        try:
            return self._whole.stat().st_mtime > (now - KNOWN_WHOLE_FOR).timestamp()
        except FileNotFoundError:
            return False

    def note_whole(self, now: datetime) -> None:
        make_folder(self._root)
        self._whole.touch(mode=0o600)
        os.utime(self._whole, (now.timestamp(), now.timestamp()))
        self._lost.unlink(missing_ok=True)

    def note_loss(self, file_ids: Sequence[int] = ()) -> None:
        """Note that blobs are missing, until a sweep finds everything again.

        The sweep names some of the files; a reader that missed a blob names none.
        """
        with suppress(OSError):
            self._whole.unlink(missing_ok=True)
        with suppress(OSError):
            if file_ids or not self._lost.exists():
                self._lost.write_text(",".join(map(str, file_ids)))

    def losses(self) -> list[int] | None:
        """Return some of the files whose blobs are missing, or None if no loss is known."""
        try:
            return [int(each) for each in self._lost.read_text().split(",") if each.isdecimal()]
        except FileNotFoundError:
            return None

    @property
    def is_there(self) -> bool:
        return self._blobs.is_dir()

    @property
    def _whole(self) -> Path:
        return self._root / "whole"

    @property
    def _lost(self) -> Path:
        return self._root / "lost"

    @property
    def incoming(self) -> Path:
        """The folder of drafts until they are complete, on the file system of the blobs."""
        return self._incoming

    @property
    def owner(self) -> Path:
        return self._root / "database"

    def is_of(self, database: str) -> bool:
        """Return whether the library is this database's; the first that asks becomes its owner."""
        if not self.owner.exists():
            draft = self._draft()
            with no_leftover(draft):
                draft.write_text(database)
                sync(draft)
                place_first(draft, self.owner)
        return self.owner.read_text() == database

    def hand_over(self, database: str) -> None:
        """Make this database the one that the library belongs to."""
        make_folder(self._root)
        draft = self._draft()
        with no_leftover(draft):
            draft.write_text(database)
            sync(draft)
            draft.replace(self.owner)
            sync(self._root)

    def generation(self) -> int:
        """Return how many batches of blobs any database has ever put in here."""
        try:
            with self._generation.open("rb", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                return int(file.read() or b"0")
        except (FileNotFoundError, ValueError):
            return 0

    def reach_generation(self, number: int) -> None:
        """Raise the generation to this number; it never falls.

        The file keeps its size and is written in place, so one small sync makes it durable.
        """
        if not self._generation.exists():
            self._begin_to_count()
        with self._generation.open("r+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            text = file.read()
            if not text.strip().isdigit() or int(text) < number:
                os.pwrite(file.fileno(), b"%0*d\n" % (GENERATION_DIGITS, number), 0)
                os.fdatasync(file.fileno())

    def _begin_to_count(self) -> None:
        draft = self._draft()
        with no_leftover(draft), self._lock("generation.lock", fcntl.LOCK_EX):
            if not self._generation.exists():
                draft.write_bytes(b"%0*d\n" % (GENERATION_DIGITS, 0))
                sync(draft)
                draft.rename(self._generation)
                sync(self._root)

    @property
    def _generation(self) -> Path:
        return self._root / "generation"

    @contextmanager
    def hold_all(self) -> Iterator[None]:
        """Keep every blob that a row names now, even if the row is deleted, during a backup."""
        with self._lock("pinned.lock", fcntl.LOCK_SH):
            yield

    @contextmanager
    def removing(self) -> Iterator[bool]:
        """Yield whether blobs may be removed now; a backup that begins meanwhile waits."""
        try:
            with self._lock("pinned.lock", fcntl.LOCK_EX | fcntl.LOCK_NB):
                yield True
        except BlockingIOError:
            yield False

    @contextmanager
    def _lock(self, name: str, kind: int) -> Iterator[None]:
        make_folder(self._root)
        with open(self._root / name, "ab", opener=private) as file:
            fcntl.flock(file, kind)
            yield

    def set_aside(self, blob: str, today: date) -> bool:
        """Move a blob that no row names to the orphans; return False if it is gone."""
        folder = self._orphans / today.isoformat()
        make_folder(folder)
        try:
            self.path(blob).rename(folder / blob)
        except FileNotFoundError:
            return False
        return True

    def orphans(self) -> Iterator[Orphan]:
        for since, folder in self._days():
            for entry in files_in(folder):
                facts = entry.stat(follow_symlinks=False)
                written_at = datetime.fromtimestamp(facts.st_mtime, UTC)
                yield Orphan(entry.name, Path(entry), since, written_at, facts.st_size)

    def _days(self) -> list[tuple[date, Path]]:
        """Return the folders of orphans by day; folders with other names aren't ours."""
        folders = ((day_of(folder), folder) for folder in folders_in(self._orphans))
        return sorted((since, folder) for since, folder in folders if since)

    def bring_back(self, orphan: Orphan) -> None:
        """Move an orphan back to the blobs, dated now, as if it had just been stored."""
        blob_path = self.path(orphan.blob)
        make_folder(blob_path.parent)
        os.utime(orphan.path)
        orphan.path.rename(blob_path)
        for path in (blob_path.parent, blob_path.parent.parent, self._blobs):
            sync(path)

    def drop_orphans(self, until: date) -> int:
        """Delete the orphans of `until` and earlier days."""
        count = 0
        for since, folder in self._days():
            if since <= until:
                count += sum(1 for _entry in files_in(folder))
                shutil.rmtree(folder, ignore_errors=True)
        return count

    def blobs(self) -> Iterator[StoredBlob]:
        for first in folders_in(self._blobs):
            for second in folders_in(first):
                for entry in files_in(second):
                    if BLOB.fullmatch(entry.name):
                        yield StoredBlob(entry.name, modified_at(entry))

    def drop_drafts(self, before: datetime) -> int:
        """Remove drafts of dead writers; `before` is older than any draft still being written."""
        stale = [Path(entry) for entry in files_in(self._incoming) if modified_at(entry) < before]
        for draft in stale:
            draft.unlink(missing_ok=True)
        return len(stale)

    def _path_of(self, blob: str) -> str:
        """Return the path of a blob. Raises NotFound for invalid ids, which may lead elsewhere."""
        if not BLOB.fullmatch(blob):
            raise NotFound
        return f"{self._blobs_text}/{blob[:2]}/{blob[2:4]}/{blob}"

    def _draft(self) -> Path:
        make_folder(self._incoming)
        return self._incoming / secrets.token_hex(16)


@contextmanager
def syncing(file: FileIO) -> Iterator[None]:
    """Sync a large file while the block reads it from memory; else one waits for the other."""
    if os.fstat(file.fileno()).st_size <= LARGE_CHUNK_BYTES:
        yield
        return
    with ThreadPoolExecutor(1) as other:
        fsync = other.submit(os.fsync, file.fileno())
        yield
        # The system reports a failed sync only once.
        fsync.result()


class Writer:
    """A draft that hashes chunks while it writes them. If not committed, nothing is left.

    with store.writer() as writer:
        writer.write(chunk)
        stored = writer.commit()
    """

    def __init__(self, store: Store, draft: Path) -> None:
        self._store = store
        self._draft = draft
        self._sums = Sums()
        with translate_disk_full():
            self._file = open(draft, "xb", buffering=0, opener=private)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._draft.unlink(missing_ok=True)

    def write(self, chunk: bytes | memoryview) -> None:
        """Write a chunk. Raises DiskFull."""
        self._store.refuse_beyond(len(chunk))
        rest = memoryview(chunk)
        with translate_disk_full():
            while rest:
                rest = rest[self._file.write(rest) :]
        self._sums.add(chunk)

    def place(self) -> Stored:
        """Move the draft to the blobs, not yet durably."""
        return self._store.place(self._draft, self._sums)

    def commit(self) -> Stored:
        with translate_disk_full():
            os.fsync(self._file.fileno())
        return self._store.keep(self._draft, self._sums)


def library_store() -> Store:
    """Return the store of this installation."""
    return Store(Path(settings.DATA_DIR) / "library")


@contextmanager
def translate_disk_full() -> Iterator[None]:
    try:
        yield
    except OSError as trouble:
        if trouble.errno in NO_SPACE:
            raise DiskFull from trouble
        raise


@contextmanager
def no_leftover(draft: Path) -> Iterator[None]:
    try:
        yield
    finally:
        draft.unlink(missing_ok=True)


def private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, which `mkdir(parents=True)` would leave open to all."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_folder(path.parent)
        make_folder(path)


def day_of(folder: Path) -> date | None:
    try:
        return date.fromisoformat(folder.name)
    except ValueError:
        return None


def folders_in(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (entry for entry in path.iterdir() if entry.is_dir())


def files_in(path: Path) -> Iterator["os.DirEntry[str]"]:
    if path.is_dir():
        with os.scandir(path) as entries:
            yield from (entry for entry in entries if entry.is_file(follow_symlinks=False))


def modified_at(entry: "os.DirEntry[str]") -> datetime:
    try:
        return datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, UTC)
    except FileNotFoundError:
        # Deleted since: treat it as too new to be removed.
        return datetime.max.replace(tzinfo=UTC)
