# ruff: noqa: ARG002  A store of one machine needs less.
"""Store bytes as blobs, by id, never by a name that someone sent."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple, Protocol, Self

from django.conf import settings

from service.errors import NotFound, StoreAway
from service.store.sums import CHUNK_BYTES, Stored, Sums

BLOB = re.compile("[0-9a-f]{32}")
# The library sweep runs once a day; its result holds until the second one is overdue.
KNOWN_INTACT_FOR = timedelta(days=2)


class StoredBlob(NamedTuple):
    blob: str
    written_at: datetime
    size_bytes: int


class Orphan(NamedTuple):
    """A blob that no row named, kept for a while in case someone misses it."""

    blob: str
    since: date
    written_at: datetime
    size_bytes: int


class Writer(Protocol):
    """A new blob that is hashed while it is written. If not committed, nothing is left.

    with store.writer() as writer:
        writer.write(chunk)
        stored = writer.commit()
    """

    sums: Sums
    """The sums of what was written so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None: ...

    def write(self, chunk: bytes | memoryview) -> None:
        """Write a chunk. Raises DiskFull."""

    def commit(self) -> Stored:
        """Finish the blob, durably. Raises DiskFull."""


class Store(Protocol):
    """Blobs, files that a machine publishes to others, and what the store notes about itself.

    Guarantee: a blob is stored atomically, even across a power cut, and never changes. A crash
    leaves at most a draft, or a blob without a row; the sweep removes both.
    Only this package knows where the bytes are.

    The methods with a body do what is enough for a store of one machine, or of unknown size.
    """

    # Writing

    def writer(self, blob: str = "") -> Writer:
        """Return a writer for a new blob, or for a copy of one that another store has.

        A copy replaces what the store has under its id. Raises DiskFull.
        """

    def put(self, stream: BinaryIO) -> Stored:
        with self.writer() as writer:
            while chunk := stream.read(CHUNK_BYTES):
                writer.write(chunk)
            return writer.commit()

    may_hash_ahead: ClassVar[bool]
    """Whether `link_all` continues sums that were begun while a file arrived."""

    def link_all(
        self,
        paths: Iterable[Path],
        report: Callable[[int], None] = ...,
        begun: Mapping[Path, Sums] | None = ...,
    ) -> list[Stored]:
        """Store complete files of this machine, without copying them if the store can.

        Their names stay, and stay the caller's; their bytes must never change again. `report` is
        called with the size of each piece that was hashed; any exception from it aborts. `begun`
        has sums that were computed while a file arrived. Either all blobs are durable, or none
        exists.
        """

    def free_bytes(self) -> int:
        """Return how much of this machine's disk is free for content."""

    def refuse_beyond(self, size_bytes: int) -> None:
        """Raise DiskFull if the store has less space than that."""
        return

    # Reading

    opens_ahead: ClassVar[int]
    """How many blobs are worth opening before their turn, when many are read in order."""

    def open(self, blob: str) -> BinaryIO:
        """Open a blob, unbuffered: all callers read in blocks. Raises NotFound if it is missing."""

    def size(self, blob: str) -> int | None:
        """Return the size of a blob, or None if it is missing."""

    def sizes(self, blobs: Iterable[str]) -> Iterator[int | None]:
        """Yield the size of each blob, or None if it is missing."""
        return map(self.size, blobs)

    def sizes_in_order(self, blobs: Sequence[str]) -> list[int | None]:
        """Return the same for blobs in the order of their ids, which are nearly contiguous."""
        return [*map(self.size, blobs)]

    def on_disk(self, blob: str) -> Path:
        """Return a file of this machine with the blob's bytes, for programs that read files.

        Raises NotFound if the blob is missing, and DiskFull if a copy doesn't fit.
        """

    def internal_path(self, blob: str) -> Path:
        """Return where a web server in front of Ferry finds the blob, relative to DATA_DIR."""
        raise NotFound

    def public_link(
        self, blob: str, method: str, disposition: str, content_type: str, seconds: int
    ) -> str | None:
        """Return a URL at which clients read the blob for so long; None: Ferry must send it."""
        return None

    # Cleaning up

    def delete(self, blob: str) -> bool:
        """Delete a blob, or return False if it was gone; open readers can go on."""

    def delete_all(self, blobs: Sequence[str]) -> int:
        return sum(map(self.delete, blobs))

    def blobs(self) -> Iterator[StoredBlob]: ...

    def removal_lock(self) -> AbstractContextManager[bool]:
        """Hold the lock for removing blobs; yield whether they may be removed now."""
        return nullcontext(True)

    def drop_drafts(self, before: datetime) -> int:
        """Remove drafts of dead writers; `before` is older than any draft still being written."""

    def set_aside(self, blob: str, today: date) -> bool:
        """Move a blob that no row names to the orphans; return False if it is gone."""

    def orphans(self) -> Iterator[Orphan]: ...

    def bring_back(self, orphan: Orphan) -> None:
        """Move an orphan back to the blobs, dated now, as if it had just been stored."""

    def drop_orphans(self, until: date) -> int:
        """Delete the orphans of `until` and earlier days."""

    # Derived files, which Ferry can make again

    def publish(self, path: Path) -> None:
        """Make this file of DATA_DIR available to other machines. Raises StoreAway."""
        return

    def is_published(self, path: Path) -> bool:
        """Return whether other machines can have this file. Raises StoreAway."""
        return True

    def fetch_published(self, path: Path) -> bool:
        """Fetch the file that another machine has shared under this path, if there is one.

        Raises StoreAway, and Busy if this machine's disk is full.
        """
        return False

    def open_published(self, path: Path) -> BinaryIO:
        """Open the file that another machine has published. Raises NotFound and StoreAway."""
        raise NotFound

    def unpublish(self, folder: Path) -> None:
        """Delete the published files of this folder. Raises StoreAway."""
        return

    def drop_published(self, before: datetime) -> int:
        """Delete the files published before that time."""
        return 0

    # Notes

    def owner(self, *, insists: bool = False) -> str | None:
        """Return the database that the library belongs to. Raises StoreAway.

        `insists`: ask even if the store was away a moment ago.
        """

    def claim_for(self, database: str) -> bool:
        """Return whether the library belongs to this database, after claiming it if none has."""

    def hand_over(self, database: str) -> None: ...

    def generation(self) -> int:
        """Return how many batches of blobs any database has ever added."""

    def reach_generation(self, number: int) -> None:
        """Raise the generation to this number; it never falls."""

    def read_note(self, name: str) -> str | None: ...

    def write_note(self, name: str, text: str) -> None: ...

    def delete_note(self, name: str) -> None: ...

    def is_known_intact(self, now: datetime) -> bool:
        """Return whether all rows had their blobs at the last check, and no read failed since."""
        # A power cut may leave half a note.
        with suppress(ValueError):
            checked_at = datetime.fromisoformat(self.read_note("whole") or "")
            return checked_at > now - KNOWN_INTACT_FOR
        return False

    def record_intact(self, now: datetime) -> None:
        self.write_note("whole", now.isoformat())
        self.delete_note("lost")

    def record_loss(self, file_ids: Sequence[int] = ()) -> None:
        """Record that blobs are missing, until a sweep finds everything again.

        The sweep names some of the files; a reader that missed a blob names none.
        """
        with suppress(OSError, StoreAway):
            self.delete_note("whole")
            if file_ids or self.losses() is None:
                self.write_note("lost", ",".join(map(str, file_ids)))

    def losses(self) -> list[int] | None:
        """Return some of the files whose blobs are missing, or None if no loss is known."""
        text = self.read_note("lost")
        return None if text is None else [int(each) for each in text.split(",") if each.isdecimal()]


def library_store() -> Store:
    return store_at(settings.STORE_URL)


def store_at(url: str) -> Store:
    """Return the object store at a URL like STORE_URL; without one, that of this machine's disk."""
    if not url:
        from service.store import disk_store  # noqa: PLC0415  It imports this module.

        return disk_store.library()
    from service.store.objects import store  # noqa: PLC0415  Only it needs obstore.

    return store.library_at(url)


def check_id(blob: str) -> str:
    """Return a blob's id. Raises NotFound for anything else, which could be a path."""
    if not BLOB.fullmatch(blob):
        raise NotFound
    return blob
