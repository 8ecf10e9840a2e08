"""Compute the checksums of files: while they are written, while they arrive, or afterward."""

import hashlib
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import FileIO
from threading import Event

CHUNK_BYTES = 2**20
LARGE_CHUNK_BYTES = 2**22
DROP_BYTES = 2**23
KEPT_BYTES = 2**25


@dataclass(frozen=True)
class Stored:
    """A complete blob in the store."""

    blob: str
    size_bytes: int
    sha1: str
    crc32: int


class Sums:
    """The size and the checksums of content, computed as it passes."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self.sha1 = hashlib.sha1(usedforsecurity=False)
        self.crc32 = 0

    def add(self, chunk: bytes | memoryview) -> None:
        self.size_bytes += len(chunk)
        self.sha1.update(chunk)
        self.crc32 = zlib.crc32(chunk, self.crc32)

    def hash_ahead(self, file: FileIO, until: int, is_over: Event) -> None:
        """Continue with a file that is still arriving, whose first `until` bytes are final."""
        for piece in pieces_of(file, self.size_bytes, until):
            if is_over.is_set():
                break
            self.add(piece)
            if self.size_bytes % DROP_BYTES < len(piece):
                drop_behind(file, self.size_bytes)

    def copy(self) -> "Sums":
        copy = Sums()
        copy.size_bytes, copy.sha1, copy.crc32 = self.size_bytes, self.sha1.copy(), self.crc32
        return copy

    def of_blob(self, blob: str) -> Stored:
        return Stored(blob, self.size_bytes, self.sha1.hexdigest(), self.crc32)


def drop_behind(file: FileIO, offset: int) -> None:
    """Have the system write what was hashed last, and drop from memory what it wrote before.

    A large download thus goes through a little memory, instead of taking the place of everything
    else in the page cache.
    """
    start = max(0, offset - KEPT_BYTES)
    os.posix_fadvise(file.fileno(), start, offset - start, os.POSIX_FADV_DONTNEED)


def sums_of(file: FileIO, report: Callable[[int], None], begun: Sums | None = None) -> Sums:
    """Return the sums of a file, of a large one with a thread for each checksum.

    Neither holds the interpreter while it computes. Each reads the file itself: on a busy machine,
    sharing pieces would make them wait for each other at every piece. `begun` has the sums of its
    beginning.
    """
    sums = begun.copy() if begun else Sums()
    if begun:
        report(begun.size_bytes)
    if os.fstat(file.fileno()).st_size - sums.size_bytes <= LARGE_CHUNK_BYTES:
        file.seek(sums.size_bytes)
        while chunk := file.read(LARGE_CHUNK_BYTES):
            sums.add(chunk)
            report(len(chunk))
        return sums
    is_over = Event()
    with ThreadPoolExecutor(1) as other:
        future = other.submit(crc32_of, file, sums.size_bytes, sums.crc32, is_over)
        try:
            for piece in pieces_of(file, sums.size_bytes):
                sums.sha1.update(piece)
                sums.size_bytes += len(piece)
                report(len(piece))
            sums.crc32 = future.result()
        finally:
            is_over.set()
    return sums


def crc32_of(file: FileIO, offset: int, crc32: int, is_over: Event) -> int:
    for piece in pieces_of(file, offset):
        if is_over.is_set():
            break
        crc32 = zlib.crc32(piece, crc32)
    return crc32


def pieces_of(file: FileIO, offset: int = 0, end: int = sys.maxsize) -> Iterator[memoryview]:
    """Yield a part of a file, wherever others read; each piece is valid until the next."""
    buffer = memoryview(bytearray(CHUNK_BYTES))
    while size_bytes := os.preadv(file.fileno(), [buffer[: max(0, end - offset)]], offset):
        yield buffer[:size_bytes]
        offset += size_bytes
