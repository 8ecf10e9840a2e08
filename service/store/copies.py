"""Copy all blobs that rows name from one store to another, while Ferry uses the first.

A copy gets its name at the target only once its hash is that of the row, so a name of the right
size stands for a copy that was verified. A killed run leaves nothing but drafts, and the next one
continues where it left off.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from threading import Event
from typing import Any, BinaryIO, NamedTuple, TypeVar

from django.db.models import BigIntegerField, CharField, Count, QuerySet, Sum, Value

from common.storage import database_connection
from service.errors import NotFound, StoreAway
from service.models import DeletedFile, Discarded, File
from service.store.blobs import Store
from service.store.sums import CHUNK_BYTES, Sums

ROWS_AT_ONCE = 1000
# Of a large file, a copy to an object store holds a part or two in memory.
SMALL_BYTES = CHUNK_BYTES
SMALL_AT_ONCE, LARGE_AT_ONCE = 16, 4
AHEAD = 2 * (SMALL_AT_ONCE + LARGE_AT_ONCE)
REPORT_SECONDS = 1.0
# Files may arrive as fast as they are copied.
MOST_PASSES = 5
MOST_NAMED = 5
# A store restarts within this.
PATIENCE_SECONDS = 120.0
LONGEST_PAUSE_SECONDS = 8.0

Result = TypeVar("Result")


class NamedBlob(NamedTuple):
    """A blob as a row describes it: that of a deleted file has no size and no hash."""

    blob: str
    size_bytes: int | None = None
    sha1: str = ""


class CopyResult(StrEnum):
    NEW = "copied"
    KEPT = "there already"
    REPLACED = "damaged at the target, and copied again"
    # Blobs that the source has lost
    MISSING = "missing"
    CHANGED = "changed since they were stored, or unreadable"
    # Blobs that the target doesn't keep
    DAMAGED = "damaged at the target"


FAILED = (CopyResult.MISSING, CopyResult.CHANGED, CopyResult.DAMAGED)


class UnreadableBlob(Exception):  # noqa: N818  Errors are nouns here.
    """The source can't read a blob, or not as its row describes it."""


class Stopped(Exception):  # noqa: N818  Errors are nouns here.
    """Another copy has failed for good, so this one ends."""


@dataclass
class Progress:
    """How far a copy is. Files that were deleted for good don't count."""

    total_files: int = 0
    total_bytes: int = 0
    files: int = 0
    size_bytes: int = 0
    copied_bytes: int = 0
    read_bytes: int = 0  # copied, or read again
    copied: dict[CopyResult, int] = field(default_factory=lambda: dict.fromkeys(CopyResult, 0))
    # Some blobs of each failure, to name their files.
    examples: dict[CopyResult, list[str]] = field(
        default_factory=lambda: {kind: [] for kind in FAILED}
    )
    pass_number: int = 0
    is_waiting: bool = False  # for a store that doesn't answer

    def begin_pass(self) -> None:
        """Restart the counts of files and of blobs that the source has lost; keep the others."""
        self.pass_number += 1
        self.files = self.size_bytes = 0
        self.total_files = self.total_bytes = 0
        for model in (File, DeletedFile):
            totals = model.objects.aggregate(files=Count("pk"), bytes=Sum("size_bytes", default=0))
            self.total_files += totals["files"]
            self.total_bytes += totals["bytes"]
        for kind in (CopyResult.MISSING, CopyResult.CHANGED):
            self.copied[kind] = 0
            self.examples[kind].clear()

    def count(self, blob: NamedBlob, result: CopyResult) -> None:
        self.files += 1
        self.size_bytes += blob.size_bytes or 0
        if result is not CopyResult.KEPT or self.pass_number == 1:
            self.copied[result] += 1
        if result in (CopyResult.NEW, CopyResult.REPLACED):
            self.copied_bytes += blob.size_bytes or 0
        if result in FAILED and len(self.examples[result]) < MOST_NAMED:
            self.examples[result].append(blob.blob)


class StoreCopy:
    def __init__(
        self,
        source: Store,
        target: Store,
        report: Callable[[Progress], None] = lambda _progress: None,
        *,
        is_verifying: bool = False,
    ) -> None:
        """`is_verifying`: read every copy again, including those of earlier runs."""
        self._source = source
        self._target = target
        self._report = report
        self._is_verifying = is_verifying
        self._stopped = Event()
        self.progress = Progress()

    def run(self) -> Progress:
        """Copy until nothing new has arrived meanwhile. Raises StoreAway, DiskFull, OSError."""
        for _pass in range(MOST_PASSES):
            self.progress.begin_pass()
            before = self.progress.copied[CopyResult.NEW]
            self._pass()
            if self.progress.copied[CopyResult.NEW] == before:
                break
        return self.progress

    def _pass(self) -> None:
        may_verify = self._is_verifying and self.progress.pass_number == 1
        self._stopped.clear()
        with ExitStack() as ending:
            small, large = (ThreadPoolExecutor(count) for count in (SMALL_AT_ONCE, LARGE_AT_ONCE))
            for threads in (small, large):
                ending.callback(threads.shutdown, cancel_futures=True)
            # The stack calls this first. After a failure, copies end soon, or never begin.
            ending.callback(self._stopped.set)
            running: dict[Future[CopyResult], NamedBlob] = {}
            for blob, is_there in self._blobs(small):
                if is_there and not (may_verify and blob.sha1):
                    self._count(blob, CopyResult.KEPT)
                    continue
                threads = small if (blob.size_bytes or 0) <= SMALL_BYTES else large
                bring = partial(self._bring, blob, is_there=is_there)
                running[threads.submit(self._insist, bring)] = blob
                if len(running) >= AHEAD:
                    self._collect(running)
            while running:
                self._collect(running)

    def _blobs(self, threads: ThreadPoolExecutor) -> Iterator[tuple[NamedBlob, bool]]:
        """Yield each blob, and whether the target has it."""
        for batch in rows():
            list_sizes = partial(self._target.sizes_in_order, [each.blob for each in batch])
            sizes = threads.submit(self._insist, list_sizes)
            self._report(self.progress)
            while not wait([sizes], REPORT_SECONDS).done:
                self._report(self.progress)
            for each, size_bytes in zip(batch, sizes.result(), strict=True):
                is_there = size_bytes is not None and each.size_bytes in (size_bytes, None)
                yield each, is_there

    def _collect(self, running: dict[Future[CopyResult], NamedBlob]) -> None:
        """Wait briefly, then count the copies that have ended. Raises what a copy raised."""
        ended, _others = wait(running, REPORT_SECONDS, FIRST_COMPLETED)
        for future in ended:
            blob = running.pop(future)
            self._count(blob, future.result())
            self.progress.read_bytes += blob.size_bytes or 0
        self._report(self.progress)

    def _insist(self, act: Callable[[], Result]) -> Result:
        """Call a function until the store answers. Raises StoreAway if that takes too long."""
        until: float | None = None
        pause_seconds = 1.0
        while True:
            try:
                result = act()
            except StoreAway:
                self.progress.is_waiting = True
                until = until or time.monotonic() + PATIENCE_SECONDS
                if time.monotonic() > until or self._stopped.wait(pause_seconds):
                    raise
                pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)
            else:
                self.progress.is_waiting = False
                return result

    def _count(self, blob: NamedBlob, result: CopyResult) -> None:
        # The file may have been deleted meanwhile.
        is_lost = result in (CopyResult.MISSING, CopyResult.CHANGED)
        if blob.sha1 and not (is_lost and not is_named(blob)):
            self.progress.count(blob, result)

    def _bring(self, blob: NamedBlob, *, is_there: bool) -> CopyResult:
        """Copy a blob, unless the target has it intact."""
        if is_there and self._is_intact(blob):
            return CopyResult.KEPT
        try:
            self._copy(blob)
        except NotFound:
            return CopyResult.DAMAGED if is_there else CopyResult.MISSING
        except UnreadableBlob:
            return CopyResult.DAMAGED if is_there else CopyResult.CHANGED
        if self._is_verifying and blob.sha1 and not self._is_intact(blob):
            return CopyResult.DAMAGED
        return CopyResult.REPLACED if is_there else CopyResult.NEW

    def _copy(self, blob: NamedBlob) -> None:
        """Copy a blob, if its hash is right. Raises NotFound, UnreadableBlob."""
        try:
            source = self._source.open(blob.blob)
        except OSError as trouble:
            raise UnreadableBlob from trouble
        with source, self._target.writer(blob.blob) as writer:
            for chunk in self._read(source):
                writer.write(chunk)
            if blob.sha1 and writer.sums.sha1.hexdigest() != blob.sha1:
                raise UnreadableBlob
            writer.commit()

    def _is_intact(self, blob: NamedBlob) -> bool:
        sums = Sums()
        try:
            with self._target.open(blob.blob) as copy:
                for chunk in self._read(copy):
                    sums.add(chunk)
        except (NotFound, UnreadableBlob):
            return False
        return sums.sha1.hexdigest() == blob.sha1

    def _read(self, file: BinaryIO) -> Iterator[bytes]:
        while True:
            if self._stopped.is_set():
                raise Stopped
            try:
                chunk = file.read(CHUNK_BYTES)
            except OSError as trouble:
                raise UnreadableBlob from trouble
            if not chunk:
                return
            yield chunk


def rows() -> Iterator[list[NamedBlob]]:
    """Yield all blobs that rows name in batches, each in the order of ids.

    Each batch is a separate query, since the next batch may be needed an hour later.
    """
    last = ""
    while batch := rows_after(last):
        database_connection.give_back()
        yield batch
        last = batch[-1].blob


def rows_after(last: str) -> list[NamedBlob]:
    unknown = {"size_bytes": Value(None, BigIntegerField()), "sha1": Value("", CharField())}
    # Running downloads and archives may still read what was discarded.
    querysets: tuple[QuerySet[Any], ...] = (
        File.objects.filter(blob__gt=last),
        DeletedFile.objects.filter(blob__gt=last),
        Discarded.objects.filter(blob__gt=last).annotate(**unknown),
    )
    ends = [
        rows.order_by("blob").values_list("blob", flat=True)[ROWS_AT_ONCE - 1 :].first()
        for rows in querysets
    ]
    end = min(filter(None, ends), default=None)
    if end is not None:
        querysets = tuple(rows.filter(blob__lte=end) for rows in querysets)
    # In one query, since deleting and restoring move a blob from one of the tables to another.
    first, *others = (rows.values_list("blob", "size_bytes", "sha1") for rows in querysets)
    return [NamedBlob(*values) for values in first.union(*others).order_by("blob")]


def is_named(blob: NamedBlob) -> bool:
    # It may be restored between two of the queries.
    is_there = any(
        model.objects.filter(blob=blob.blob).exists() for model in (File, DeletedFile, File)
    )
    database_connection.give_back()
    return is_there
