"""Where bytes live: blobs by id, never by a name that somebody sent."""

import errno
import hashlib
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

from django.conf import settings

from service.errors import DiskFull, NotFound

CHUNK_BYTES = 2**20
# Content never takes these: to delete something, the database too must be able to write.
RESERVE_BYTES = 64 * 2**20
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Stored:
    """A blob that is whole and on the disk for good."""

    blob: str
    size_bytes: int
    sha1: str
    crc32: int


class Found(NamedTuple):
    """What the sweep sees of a blob."""

    blob: str
    written_at: datetime


class Store:
    """Blobs in a folder of this machine.

    Guarantee: a blob is there whole or not at all, also after a power cut: it is written under
    `incoming/`, synced, and renamed to `blobs/ab/cd/<id>`, whose folder is synced too. What a
    crash leaves behind is a temporary file, or a blob without a row; the sweep removes both.
    A small interface, so that an object store can take its place.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        # As text: a ZIP of 10,000 small files would spend half its time in pathlib.
        self._blobs_text = f"{root}/blobs"
        self._blobs = root / "blobs"
        self._incoming = root / "incoming"

    def writer(self) -> "Writer":
        """Raises DiskFull."""
        self.refuse_beyond(1)
        return Writer(self, self._draft())

    def put(self, stream: BinaryIO) -> Stored:
        with self.writer() as writer:
            while chunk := stream.read(CHUNK_BYTES):
                writer.write(chunk)
            return writer.commit()

    def link(self, path: Path) -> Stored:
        """Takes over a whole file of the same file system without copying it.

        The name `path` stays, and stays the caller's; its bytes must never change again.
        """
        sums = Sums()
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(CHUNK_BYTES):
                sums.add(chunk)
            os.fsync(file.fileno())
        draft = self._draft()
        with no_leftover(draft):
            draft.hardlink_to(path)
            draft.chmod(0o600)
            # For the sweep this blob is new, however old the file is.
            os.utime(draft)
            return self.keep(draft, sums)

    def open(self, blob: str, offset: int = 0) -> FileIO:
        """Unbuffered: all who read here read in blocks. Raises NotFound where it is missing."""
        try:
            file = open(self._place(blob), "rb", buffering=0)  # noqa: SIM115
        except FileNotFoundError as missing:
            raise NotFound from missing
        if offset:
            file.seek(offset)
        return file

    def size(self, blob: str) -> int | None:
        """None where the blob is missing."""
        try:
            return os.stat(self._place(blob)).st_size  # noqa: PTH116
        except FileNotFoundError:
            return None

    def path(self, blob: str) -> Path:
        """For sendfile; the file may be missing."""
        return Path(self._place(blob))

    def delete(self, blob: str) -> bool:
        """False where it was gone already. Who has it open reads on."""
        try:
            self.path(blob).unlink()
        except FileNotFoundError:
            return False
        return True

    def free_bytes(self) -> int:
        """Of the disk, for content."""
        make_folder(self._root)
        return max(0, shutil.disk_usage(self._root).free - RESERVE_BYTES)

    def refuse_beyond(self, size_bytes: int) -> None:
        if size_bytes > self.free_bytes():
            raise DiskFull

    def keep(self, draft: Path, sums: "Sums") -> Stored:
        """Gives a draft that is synced its place for good."""
        place = self.path(draft.name)
        folders = [self._blobs, place.parent.parent, place.parent]
        with disk_full_told():
            for folder in folders:
                make_folder(folder)
            draft.rename(place)
            # From the leaf up: each is perhaps new, and a folder that is lost loses all in it.
            for folder in reversed(folders):
                sync(folder)
        return Stored(place.name, sums.size_bytes, sums.sha1.hexdigest(), sums.crc32)

    def blobs(self) -> Iterator[Found]:
        for first in folders_in(self._blobs):
            for second in folders_in(first):
                for entry in files_in(second):
                    yield Found(entry.name, modified_at(entry))

    def drop_drafts(self, before: datetime) -> int:
        """Removes what writers left that died; `before` is long past any that still write."""
        stale = [Path(entry) for entry in files_in(self._incoming) if modified_at(entry) < before]
        for draft in stale:
            draft.unlink(missing_ok=True)
        return len(stale)

    def _place(self, blob: str) -> str:
        return f"{self._blobs_text}/{blob[:2]}/{blob[2:4]}/{blob}"

    def _draft(self) -> Path:
        make_folder(self._incoming)
        return self._incoming / secrets.token_hex(16)


class Sums:
    """What is known of content by having seen it go by."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self.sha1 = hashlib.sha1(usedforsecurity=False)
        self.crc32 = 0

    def add(self, chunk: bytes | memoryview) -> None:
        self.size_bytes += len(chunk)
        self.sha1.update(chunk)
        self.crc32 = zlib.crc32(chunk, self.crc32)


class Writer:
    """Takes chunks as they come, and hashes while it writes. Not committed: nothing is left.

    with store.writer() as writer:
        writer.write(chunk)
        stored = writer.commit()
    """

    def __init__(self, store: Store, draft: Path) -> None:
        self._store = store
        self._draft = draft
        self._sums = Sums()
        with disk_full_told():
            self._file = open(draft, "xb", buffering=0, opener=private)  # noqa: SIM115

    @property
    def size_bytes(self) -> int:
        return self._sums.size_bytes

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
        """Raises DiskFull."""
        self._store.refuse_beyond(len(chunk))
        rest = memoryview(chunk)
        with disk_full_told():
            while rest:
                rest = rest[self._file.write(rest) :]
        self._sums.add(chunk)

    def commit(self) -> Stored:
        with disk_full_told():
            os.fsync(self._file.fileno())
        return self._store.keep(self._draft, self._sums)


def library_store() -> Store:
    """The one of this installation."""
    return Store(Path(settings.DATA_DIR) / "library")


@contextmanager
def disk_full_told() -> Iterator[None]:
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
    """With those above it; `mkdir(parents=True)` would leave them open to all."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_folder(path.parent)
        make_folder(path)


def sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
        # Gone since: nothing that is old enough to be removed.
        return datetime.max.replace(tzinfo=UTC)
