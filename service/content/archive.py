"""ZIP archives of any selection: planned once, then served from any byte to any other.

plan file = magic | names, blob ids, texts | records of fixed width | footer
archive   = (local header, content) per record | central directory | tail
"""

import os
import struct
import time
import zlib
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from io import FileIO
from itertools import accumulate, chain, compress, islice, repeat, tee
from operator import add
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO, NamedTuple

from common.names import safe_name
from service.content.download_names import DownloadNames

MISSING_NAME = "MISSING.txt"
MISSING_HEADING = b"These files are not in this archive, because their content is missing:\n\n"

# A name in a ZIP may have 65,535 bytes, but Linux opens no path over 4,095, and unzip cuts it off.
# So folders with longer paths move to the root. The rest of the 4,095 is for the folder into which
# the archive is unpacked.
LONGEST_PATH_BYTES = 3_500
LONGEST_FOLDER_BYTES = LONGEST_PATH_BYTES - 256

READ_BYTES = 256 * 1024
COALESCED_BYTES = 128 * 1024
SPOOL_BYTES = 1024 * 1024
WINDOW_BYTES = 64 * 1024
RECORDS_AT_ONCE = 512

# Part of the digest: raise the number when headers change, else a download that resumes after an
# upgrade would mix the old layout with the new.
MAGIC = b"FERRYZ01"
RECORD = struct.Struct("<QQQQQIIIHBB")
FOOTER = struct.Struct("<QQQQQ32s8s")

# APPNOTE 4.3.7, 4.3.12, 4.3.14 to 4.3.16, 4.5.3; the DOS time and date are packed as one number.
LOCAL = struct.Struct("<4sHHHIIIIHH")
CENTRAL = struct.Struct("<4sHHHHIIIIHHHHHII")
END64 = struct.Struct("<4sQHHIIQQQQ")
LOCATOR64 = struct.Struct("<4sIQI")
END = struct.Struct("<4sHHHHIIH")
TIMESTAMP = struct.Struct("<HHBi")
LIMIT32 = 0xFFFF_FFFF
LIMIT16 = 0xFFFF
UTF8_NAME = 0x0800
PLAIN_VERSION = 20
ZIP64_VERSION = 45
MADE_ON_UNIX = 3 << 8
FILE_ATTRIBUTES = 0o100644 << 16
FOLDER_ATTRIBUTES = 0o040755 << 16 | 0x10
EARLIEST_DOS_SECONDS = 315_532_800
LATEST_SECONDS = 0x7FFF_FFFF


class ArchiveBroken(Exception):  # noqa: N818 (errors are nouns here)
    """Promised bytes are missing: the connection must be aborted, never ended normally."""


class ArchiveFiles(NamedTuple):
    """Several files of one folder, in columns.

    Making an object for each of 10,000 files took longer than fetching them all.
    """

    names: Sequence[str]
    sizes_bytes: Sequence[int]
    crcs: Sequence[int]
    modified_at: Sequence[datetime]
    blobs: Sequence[str]

    def only(self, mask: Sequence[bool]) -> "ArchiveFiles":
        return ArchiveFiles._make([*compress(column, mask)] for column in self)


class ArchiveFolder(NamedTuple):
    name: str
    modified_at: datetime


class MissingFile(NamedTuple):
    """A file whose content is lost; MISSING.txt lists it instead."""

    name: str


class Step(NamedTuple):
    """A step of a walk; `depth` is 0 for the selected entries, 1 for those in them, and so on."""

    depth: int
    item: ArchiveFiles | ArchiveFolder | MissingFile


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    size_bytes: int
    etag: str
    entry_count: int
    missing_count: int


def write_plan(steps: Iterable[Step], target: BinaryIO, made_at: datetime) -> ArchivePlan:
    """Decide names and layout of an archive, and write them to `target`, an empty file.

    This walks depth first, in one pass; names may be any that people gave.
    Memory: the hashes of the names seen so far in the folders being walked.
    """
    with _spool() as records, _spool() as missing:
        missing.write(MISSING_HEADING)
        planner = _Planner(target, records, missing)
        for step in steps:
            planner.add(step)
        planner.list_missing(made_at)
        return planner.finish()


def _spool() -> "SpooledTemporaryFile[bytes]":
    return SpooledTemporaryFile(SPOOL_BYTES)


class _OpenFolder(NamedTuple):
    names: DownloadNames
    path: bytes = b""
    path_at: int = 0


class _Planner:
    def __init__(self, target: BinaryIO, records: IO[bytes], missing: IO[bytes]) -> None:
        self._heap = _Sink(target)
        self._heap.append(MAGIC)
        self._records = records
        self._missing = missing
        self._missing_count = 0
        self._entry_count = 0
        self._local_at = 0
        self._central_at = 0
        # From the root to the one being walked.
        self._folders = [_OpenFolder(DownloadNames())]

    def add(self, step: Step) -> None:
        depth, item = step
        del self._folders[depth + 1 :]
        folder = self._folders[-1]
        if isinstance(item, ArchiveFiles):
            self._add_files(folder, item)
        elif isinstance(item, ArchiveFolder):
            self._folders.append(self._add_folder(folder, item))
        else:
            self._note_missing(folder, item)

    def _add_files(self, folder: _OpenFolder, files: ArchiveFiles) -> None:
        if not all(files.blobs):
            raise ValueError(f"One of {files.names!r} has no blob")
        self._add(folder, files._replace(names=folder.names.take_all(files.names)))

    def _add_folder(self, parent: _OpenFolder, folder: ArchiveFolder) -> _OpenFolder:
        if len(parent.path) + 256 > LONGEST_FOLDER_BYTES:
            parent = self._folders[0]
        path = parent.path + parent.names.take(folder.name, is_folder=True).encode() + b"/"
        child = _OpenFolder(DownloadNames(), path, self._heap.append(path))
        self._add(child, ArchiveFiles([""], [0], [0], [folder.modified_at], [""]))
        return child

    def _note_missing(self, folder: _OpenFolder, missing: MissingFile) -> None:
        self._missing_count += 1
        self._missing.write(folder.path + safe_name(missing.name).encode() + b"\n")

    def list_missing(self, made_at: datetime) -> None:
        if not self._missing_count:
            return
        size_bytes, crc = 0, 0
        for part in _read_back(self._missing):
            size_bytes += len(part)
            crc = zlib.crc32(part, crc)
        root = self._folders[0]
        names = [root.names.take(MISSING_NAME)]
        self._add(root, ArchiveFiles(names, [size_bytes], [crc], [made_at], [""]))
        for part in _read_back(self._missing):
            self._heap.append(part)

    def _add(self, folder: _OpenFolder, files: ArchiveFiles) -> None:
        """Add files under their final names, column by column: by entry, it took twice as long."""
        sizes_bytes, folder_length = files.sizes_bytes, len(folder.path)
        names = [name.encode() for name in files.names]
        blobs = [blob.encode("ascii") for blob in files.blobs]
        name_lengths, blob_lengths = [*map(len, names)], [*map(len, blobs)]
        path_lengths = [folder_length + length for length in name_lengths]
        local_lengths = map(add, map(_local_length, path_lengths, sizes_bytes), sizes_bytes)
        local_at = [*accumulate(local_lengths, initial=self._local_at)]
        central_lengths = map(_central_length, path_lengths, sizes_bytes, local_at)
        central_at = [*accumulate(central_lengths, initial=self._central_at)]
        name_at = accumulate(map(add, name_lengths, blob_lengths), initial=self._heap.size_bytes)
        positions = local_at, central_at, sizes_bytes, repeat(folder.path_at), name_at
        times = zip(*map(_times, files.modified_at), strict=True)
        lengths = repeat(folder_length), name_lengths, blob_lengths
        self._records.write(b"".join(map(RECORD.pack, *positions, files.crcs, *times, *lengths)))
        self._heap.append(b"".join(chain.from_iterable(zip(names, blobs, strict=True))))
        self._local_at, self._central_at = local_at[-1], central_at[-1]
        self._entry_count += len(names)

    def finish(self) -> ArchivePlan:
        records_at = self._heap.size_bytes
        for part in _read_back(self._records):
            self._heap.append(part)
        tail_at = self._local_at + self._central_at
        footer = _Footer(self._entry_count, records_at, self._local_at, tail_at, 0, b"", MAGIC)
        footer = footer._replace(size_bytes=tail_at + len(_tail(footer)))
        footer = footer._replace(digest=self._heap.digest())
        self._heap.append(FOOTER.pack(*footer))
        self._heap.flush()
        return ArchivePlan(footer.size_bytes, footer.etag, self._entry_count, self._missing_count)


class _Sink:
    """A buffer that counts the plan's bytes, and hashes and writes them with one call per block."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._digest = sha256()
        self._waiting = bytearray()
        self.size_bytes = 0

    def append(self, part: bytes) -> int:
        at = self.size_bytes
        self.size_bytes += len(part)
        self._waiting += part
        if len(self._waiting) >= WINDOW_BYTES:
            self.flush()
        return at

    def flush(self) -> None:
        self._digest.update(self._waiting)
        self._target.write(self._waiting)
        self._waiting.clear()

    def digest(self) -> bytes:
        self.flush()
        return self._digest.digest()


@lru_cache(maxsize=RECORDS_AT_ONCE)
def _times(moment: datetime) -> tuple[int, int]:
    """Return Unix seconds and DOS time, cached: files of one transfer share one date."""
    seconds = max(0, min(LATEST_SECONDS, int(moment.timestamp())))
    at = time.gmtime(max(seconds, EARLIEST_DOS_SECONDS))
    date = (at.tm_year - 1980) << 9 | at.tm_mon << 5 | at.tm_mday
    return seconds, date << 16 | at.tm_hour << 11 | at.tm_min << 5 | at.tm_sec // 2


def _read_back(spool: IO[bytes]) -> Iterator[bytes]:
    spool.seek(0)
    while part := spool.read(READ_BYTES):
        yield part


class _Record(NamedTuple):
    """One entry. A folder has a path, but no name; a text has no blob, but follows its name."""

    local_at: int
    central_at: int
    size_bytes: int
    folder_at: int
    name_at: int
    crc: int
    seconds: int
    dos_time: int
    folder_length: int
    name_length: int
    blob_length: int


class _Footer(NamedTuple):
    entry_count: int
    records_at: int
    central_at: int
    tail_at: int
    size_bytes: int
    digest: bytes
    magic: bytes

    @property
    def etag(self) -> str:
        return f'"{self.digest.hex()}"'


class Archive:
    """A planned ZIP, of which any range of bytes can be read.

    Guarantee: `read(start, stop)` yields that slice of an archive that never changes, has exactly
    `size_bytes` bytes, and is identified by `etag`; or it raises ArchiveBroken. Every path in it
    stays below the folder into which it is unpacked, and is unique on Windows, macOS, and Linux.

    Reason: a download must show its length, resume after an hour in another process, and start at
    once. Content is stored uncompressed, and its CRC-32 and size are known since the file arrived,
    so the layout follows from the plan alone: a range costs a binary search over records, then
    reads.

    Names are decided on a walk through trees (ArchiveFiles, ArchiveFolder, MissingFile), one folder
    at a time, not from paths: two selected folders "Films" keep their contents apart, in "Films"
    and "Films (2)", and no characters in a name can form a path. A folder whose path would be too
    long to unpack moves to the root, with all below it.

    Cost: some 150 bytes of disk per entry and link. Memory is the same for one entry and for a
    million: a chunk, a block of records, a window of names. An archive keeps nothing open; each
    read opens the plan, and one blob at a time, and closes them when it ends, fails, or is closed.
    A blob's size is checked when it is opened, but its content isn't hashed: if it was overwritten
    with as many other bytes, the CRC-32 shows that when the archive is unpacked.

    Rejected: data descriptors (a range that touches one would have to read the file before it),
    deflate (no length beforehand; films don't shrink), a temporary ZIP on disk (twice the bytes),
    the layout as a list in memory (it grows with the entries, in each process), mmap (pages of
    the plan would count as memory of each process).
    """

    def __init__(self, plan: Path, open_blob: Callable[[str], BinaryIO], ahead: int = 0) -> None:
        """`ahead`: how many blobs threads open before their turn."""
        self._plan = plan
        self._open_blob = open_blob
        self._ahead = ahead
        with plan.open("rb", buffering=0) as file:
            self._footer = _OpenPlan(file).footer
        self.size_bytes = self._footer.size_bytes
        self.entry_count = self._footer.entry_count
        self.etag = self._footer.etag

    def read(self, start: int = 0, stop: int | None = None) -> Generator[bytes, None, None]:
        stop = self.size_bytes if stop is None else stop
        if not 0 <= start <= stop <= self.size_bytes:
            raise ValueError(f"No bytes {start} to {stop} in an archive of {self.size_bytes}")
        return self._chunks(start, stop)

    def _chunks(self, start: int, stop: int) -> Generator[bytes, None, None]:
        if start == stop:
            return
        try:
            with self._plan.open("rb", buffering=0) as file:
                open_plan = _OpenPlan(file)
                if open_plan.footer != self._footer:
                    raise ArchiveBroken("The plan was replaced by another")
                with closing(self._parts(open_plan, start)) as parts:
                    yield from _coalesce(parts, stop - start)
        except OSError as error:
            raise ArchiveBroken(str(error)) from error

    def _parts(self, open_plan: "_OpenPlan", start: int) -> Generator[bytes, None, None]:
        footer = self._footer
        if start < footer.central_at:
            yield from self._entries(open_plan, start)
        if start < footer.tail_at:
            yield from _directory(open_plan, max(0, start - footer.central_at))
        yield _tail(footer)[max(0, start - footer.tail_at) :]

    def _entries(self, open_plan: "_OpenPlan", start: int) -> Generator[bytes, None, None]:
        first = open_plan.last_before(start, lambda record: record.local_at)
        skip = start - open_plan.record(first).local_at
        records, coming = tee(open_plan.records(first))
        names = (open_plan.blob(each) for each in coming if each.blob_length and each.size_bytes)
        with closing(_open_in_order(names, self._open_blob, self._ahead)) as blobs:
            for record in records:
                header = _local_header(record, open_plan.path(record))
                yield header[skip:]
                skip = max(0, skip - len(header))
                if skip < record.size_bytes:
                    yield from self._content(open_plan, record, skip, blobs)
                skip = 0

    def _content(
        self,
        open_plan: "_OpenPlan",
        record: _Record,
        skip: int,
        blobs: Iterator[tuple[str, BinaryIO]],
    ) -> Generator[bytes, None, None]:
        if not record.blob_length:
            yield from open_plan.text(record, skip)
            return
        name, opened = next(blobs)
        with opened as blob:
            _refuse_other_size(blob, name, record.size_bytes)
            blob.seek(skip)
            remaining_bytes = record.size_bytes - skip
            while remaining_bytes:
                part = blob.read(min(remaining_bytes, READ_BYTES))
                if not part:
                    raise ArchiveBroken(
                        f"Blob {name} lost its last {remaining_bytes} bytes while being read"
                    )
                remaining_bytes -= len(part)
                yield part


def _open_in_order(
    names: Iterator[str], open_blob: Callable[[str], BinaryIO], ahead: int
) -> Generator[tuple[str, BinaryIO], None, None]:
    """Open blobs one after another, and up to `ahead` of them before their turn."""
    if not ahead:
        for name in names:
            yield name, open_blob(name)
        return
    with ThreadPoolExecutor(ahead, thread_name_prefix="archive") as threads:
        waiting = deque((name, threads.submit(open_blob, name)) for name in islice(names, ahead))
        while waiting:
            name, future = waiting.popleft()
            waiting.extend((each, threads.submit(open_blob, each)) for each in islice(names, 1))
            yield name, future.result()


def _refuse_other_size(blob: BinaryIO, name: str, size_bytes: int) -> None:
    actual_bytes = blob.seek(0, os.SEEK_END)
    if actual_bytes != size_bytes:
        raise ArchiveBroken(f"Blob {name} has {actual_bytes} bytes, not {size_bytes}")


def _coalesce(parts: Iterable[bytes], remaining_bytes: int) -> Generator[bytes, None, None]:
    waiting: list[bytes] = []
    waiting_bytes = 0
    for part in parts:
        waiting.append(part[:remaining_bytes])
        waiting_bytes += len(waiting[-1])
        remaining_bytes -= len(waiting[-1])
        if waiting_bytes >= COALESCED_BYTES or not remaining_bytes:
            yield b"".join(waiting)
            waiting.clear()
            waiting_bytes = 0
        if not remaining_bytes:
            return
    raise ArchiveBroken("The plan ends before the archive does")


def _directory(open_plan: "_OpenPlan", start: int) -> Generator[bytes, None, None]:
    first = open_plan.last_before(start, lambda record: record.central_at)
    skip = start - open_plan.record(first).central_at
    for record in open_plan.records(first):
        yield _central_header(record, open_plan.path(record))[skip:]
        skip = 0


class _OpenPlan:
    """A plan, open for one reader."""

    def __init__(self, file: FileIO) -> None:
        self._fd = file.fileno()
        self._window_at = 0
        self._window = b""
        self._folder_at = -1
        self._folder = b""
        self.footer = self._read_footer()

    def _read_footer(self) -> _Footer:
        footer_at = os.fstat(self._fd).st_size - FOOTER.size
        if footer_at < 0:
            raise ArchiveBroken("The plan is cut short")
        footer = _Footer(*FOOTER.unpack(self._read(footer_at, FOOTER.size)))
        records_end = footer.records_at + footer.entry_count * RECORD.size
        if footer.magic != MAGIC or records_end != footer_at:
            raise ArchiveBroken("The plan is cut short, or of another version")
        return footer

    def _read(self, at: int, length: int) -> bytes:
        part = os.pread(self._fd, length, at)
        if len(part) != length:
            raise ArchiveBroken("The plan is cut short")
        return part

    def last_before(self, position: int, offset: Callable[[_Record], int]) -> int:
        """Return the number of the record at `position`, or of the last one before it."""
        numbers = range(self.footer.entry_count)
        return bisect_right(numbers, position, key=lambda number: offset(self.record(number))) - 1

    def record(self, number: int) -> _Record:
        at = self.footer.records_at + number * RECORD.size
        return _Record(*RECORD.unpack(self._read(at, RECORD.size)))

    def records(self, first: int) -> Iterator[_Record]:
        for number in range(first, self.footer.entry_count, RECORDS_AT_ONCE):
            at = self.footer.records_at + number * RECORD.size
            count = min(RECORDS_AT_ONCE, self.footer.entry_count - number)
            yield from map(_Record._make, RECORD.iter_unpack(self._read(at, count * RECORD.size)))

    def path(self, record: _Record) -> bytes:
        if record.folder_at != self._folder_at:
            self._folder = self._read(record.folder_at, record.folder_length)
            self._folder_at = record.folder_at
        return self._folder + self._near(record.name_at, record.name_length)

    def blob(self, record: _Record) -> str:
        return self._near(record.name_at + record.name_length, record.blob_length).decode("ascii")

    def text(self, record: _Record, skip: int) -> Iterator[bytes]:
        text_at = record.name_at + record.name_length
        for at in range(text_at + skip, text_at + record.size_bytes, READ_BYTES):
            yield self._read(at, min(READ_BYTES, text_at + record.size_bytes - at))

    def _near(self, at: int, length: int) -> bytes:
        """Read names and blob ids, which are in the order of records: one read serves hundreds."""
        begin = at - self._window_at
        if begin < 0 or begin + length > len(self._window):
            self._window = os.pread(self._fd, WINDOW_BYTES, at)
            self._window_at, begin = at, 0
        return self._window[begin : begin + length]


def _local_header(record: _Record, path: bytes) -> bytes:
    is_large = record.size_bytes >= LIMIT32
    size32 = min(record.size_bytes, LIMIT32)
    sizes = _zip64(record.size_bytes, record.size_bytes) if is_large else b""
    extra = _timestamp(record.seconds) + sizes
    header = LOCAL.pack(
        *(b"PK\3\4", ZIP64_VERSION if is_large else PLAIN_VERSION, UTF8_NAME, 0),
        *(record.dos_time, record.crc, size32, size32, len(path), len(extra)),
    )
    return header + path + extra


def _local_length(path_length: int, size_bytes: int) -> int:
    return LOCAL.size + path_length + TIMESTAMP.size + (20 if size_bytes >= LIMIT32 else 0)


def _central_header(record: _Record, path: bytes) -> bytes:
    size32, at32 = min(record.size_bytes, LIMIT32), min(record.local_at, LIMIT32)
    large = [record.size_bytes] * 2 if size32 == LIMIT32 else []
    large += [record.local_at] if at32 == LIMIT32 else []
    extra = _timestamp(record.seconds) + (_zip64(*large) if large else b"")
    version = ZIP64_VERSION if large else PLAIN_VERSION
    attributes = FILE_ATTRIBUTES if record.name_length else FOLDER_ATTRIBUTES
    header = CENTRAL.pack(
        *(b"PK\1\2", MADE_ON_UNIX | ZIP64_VERSION, version, UTF8_NAME, 0),
        *(record.dos_time, record.crc, size32, size32, len(path), len(extra)),
        *(0, 0, 0, attributes, at32),
    )
    return header + path + extra


def _central_length(path_length: int, size_bytes: int, local_at: int) -> int:
    large = (16 if size_bytes >= LIMIT32 else 0) + (8 if local_at >= LIMIT32 else 0)
    return CENTRAL.size + path_length + TIMESTAMP.size + (4 + large if large else 0)


def _zip64(*values: int) -> bytes:
    return struct.pack(f"<HH{len(values)}Q", 0x0001, 8 * len(values), *values)


def _timestamp(seconds: int) -> bytes:
    """Return the time in UTC, since readers take a DOS time for local time."""
    return TIMESTAMP.pack(0x5455, 5, 1, seconds)


def _tail(footer: _Footer) -> bytes:
    count, central_at = footer.entry_count, footer.central_at
    central_bytes = footer.tail_at - central_at
    count16 = min(count, LIMIT16)
    end = END.pack(
        *(b"PK\5\6", 0, 0, count16, count16),
        *(min(central_bytes, LIMIT32), min(central_at, LIMIT32), 0),
    )
    if count < LIMIT16 and central_at < LIMIT32 and central_bytes < LIMIT32:
        return end
    end64 = END64.pack(
        *(b"PK\6\6", END64.size - 12, MADE_ON_UNIX | ZIP64_VERSION, ZIP64_VERSION, 0, 0),
        *(count, count, central_bytes, central_at),
    )
    return end64 + LOCATOR64.pack(b"PK\6\7", 0, footer.tail_at, 1) + end
