"""Where bytes live: blobs by id, never by a name that somebody sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from django.conf import settings


@dataclass(frozen=True)
class Stored:
    """A blob that is whole and on the disk for good."""

    blob: str
    size_bytes: int
    sha1: str
    crc32: int


class Store:
    """Blobs in a folder of this machine.

    Guarantee: a blob is there whole or not at all, also after a power cut: it is written under
    `incoming/`, synced, and renamed to `blobs/ab/cd/<id>`, whose folder is synced too. What a
    crash leaves behind is a temporary file, or a blob without a row; the sweep removes both.
    A small interface, so that an object store can take its place.
    """

    def __init__(self, root: Path) -> None:
        raise NotImplementedError

    def writer(self) -> "Writer":
        raise NotImplementedError

    def put(self, stream: BinaryIO) -> Stored:
        raise NotImplementedError

    def link(self, path: Path) -> Stored:
        """Takes a whole file of the same file system over, without copying; `path` is gone."""
        raise NotImplementedError

    def open(self, blob: str, offset: int = 0) -> BinaryIO:
        """Raises NotFound where the blob is missing."""
        raise NotImplementedError

    def size(self, blob: str) -> int | None:
        """None where the blob is missing."""
        raise NotImplementedError

    def path(self, blob: str) -> Path:
        """For sendfile; the file may be missing."""
        raise NotImplementedError

    def delete(self, blob: str) -> bool:
        """False where it was gone already. Who has it open reads on."""
        raise NotImplementedError

    def free_bytes(self) -> int:
        """Of the disk."""
        raise NotImplementedError


class Writer:
    """Takes chunks as they come, and hashes while it writes. Not committed: nothing is left.

    with store.writer() as writer:
        writer.write(chunk)
        stored = writer.commit()
    """

    size_bytes: int

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        raise NotImplementedError

    def write(self, chunk: bytes | memoryview) -> None:
        """Raises DiskFull."""
        raise NotImplementedError

    def commit(self) -> Stored:
        raise NotImplementedError


def library_store() -> Store:
    """The one of this installation."""
    return Store(Path(settings.DATA_DIR) / "library")
