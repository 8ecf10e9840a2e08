"""Choose what to unpack from a ZIP file, of which every byte may be hostile."""

import os
import re
import stat
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import IO, BinaryIO, NamedTuple, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from common.names import key_of
from service.details import Details, Kind
from service.fetching.errors import PermanentFailure
from service.library.library import MOST_DEPTH

MOST_FILES = 100_000
MOST_DIRECTORY_BYTES = 16 * 2**20
# One byte of Deflate becomes at most so many. Other methods have no such limit, or take gigabytes
# of memory if the file says so.
MOST_INFLATED = 1032
METHODS = (ZIP_STORED, ZIP_DEFLATED)
ENCRYPTED, PATCHED, MASKED = 0x1, 0x20, 0x2000
ENTRY_BEGINS = b"PK\1\2"
HEADER_BYTES = 30
# What macOS writes beside the files themselves.
ATTRIBUTES = "__MACOSX/"
DRIVE = re.compile("[A-Za-z]:")


class BeforeTheFile(OSError):  # noqa: N818  Errors are nouns here.
    """A position before the beginning. `zipfile` expects the error that a file would raise."""


# What `zipfile` raises for damaged or malicious files.
UNREADABLE = (
    *(BadZipFile, BeforeTheFile, EOFError, OverflowError, RuntimeError, ValueError),
    *(struct.error, zlib.error),
)


class Member(NamedTuple):
    """A file in a ZIP file. Nothing in its path leads out of the new folder."""

    path: tuple[str, ...]
    info: ZipInfo


class BadZip(PermanentFailure):
    def __init__(self, kind: Kind) -> None:
        super().__init__(Details(kind), kind)


@contextmanager
def open_zip(blob: BinaryIO) -> Iterator[ZipFile]:
    """Open a ZIP file within limits. Raises BadZip, also for what the block reads from it."""
    try:
        with ZipFile(cast("IO[bytes]", LimitedReader(blob))) as zip_file:
            yield zip_file
    except UNREADABLE as error:
        raise BadZip("zip_damaged") from error


class LimitedReader:
    """What `zipfile` needs of a file, without short reads, and with limits for the directory.

    `zipfile` reads the directory at once, however long it is, and makes an object of some 700
    bytes for each entry.
    """

    def __init__(self, blob: BinaryIO) -> None:
        self._blob = blob
        self._size_bytes = blob.seek(0, os.SEEK_END)
        self._at = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size_bytes}[whence]
        if base + position < 0:
            raise BeforeTheFile
        self._at = base + position
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size_bytes - self._at)
        wanted = left if size < 0 else min(size, left)
        if wanted > MOST_DIRECTORY_BYTES:
            raise BadZip("zip_too_large")
        self._blob.seek(self._at)
        content = bytearray()
        while len(content) < wanted and (piece := self._blob.read(wanted - len(content))):
            content += piece
        self._at += len(content)
        if content.count(ENTRY_BEGINS) > MOST_FILES:
            raise BadZip("zip_too_large")
        return bytes(content)


def members_of(zip_file: ZipFile) -> list[Member]:
    """Return the files to unpack, without folders, links, and devices. Raises BadZip."""
    members = [
        Member(path_of(info.filename), info) for info in zip_file.infolist() if is_file(info)
    ]
    if not members:
        raise BadZip("zip_empty")
    for member in members:
        refuse_unreadable(member.info)
    refuse_overlaps([member.info for member in members], zip_file.start_dir)
    return members


def without_top(members: list[Member], name: str) -> list[Member]:
    """Leave out a folder that contains all the rest and has the name of the new one: what is in
    `Photos.zip` is often a folder `Photos`."""
    tops = {caseless(member.path[0]) if len(member.path) > 1 else "" for member in members}
    if tops != {caseless(name)}:
        return members
    return [Member(path[1:], info) for path, info in members]


def caseless(name: str) -> str:
    return key_of(name).casefold()


def is_file(info: ZipInfo) -> bool:
    # In some releases of Python 3.11, `is_dir` fails for an entry without a name.
    if not info.filename or info.is_dir() or info.filename.startswith(ATTRIBUTES):
        return False
    # A folder, as some programs on Windows write it.
    if info.filename.endswith("\\") and not info.file_size:
        return False
    return stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)


def path_of(name: str) -> tuple[str, ...]:
    """Return the names of a path, as other programs read it: without `..`, and without a drive."""
    names = [each for each in name.replace("\\", "/").split("/") if each not in ("", ".", "..")]
    if len(names) > 1 and DRIVE.fullmatch(names[0]):
        names = names[1:]
    # The library shortens deep paths to its own limit, but cleans every name before.
    return tuple(names if len(names) <= MOST_DEPTH else (*names[:MOST_DEPTH], names[-1]))


def refuse_unreadable(info: ZipInfo) -> None:
    if info.flag_bits & (ENCRYPTED | MASKED):
        raise BadZip("zip_encrypted")
    if info.compress_type not in METHODS or info.flag_bits & PATCHED:
        raise BadZip("zip_unsupported")
    most_bytes = info.compress_size
    if info.compress_type == ZIP_DEFLATED:
        most_bytes *= MOST_INFLATED
    if info.file_size > most_bytes:
        raise BadZip("zip_damaged")


def refuse_overlaps(infos: Sequence[ZipInfo], end: int) -> None:
    """Refuse files that share bytes, of which a few megabytes become petabytes."""
    in_order = sorted(infos, key=lambda info: info.header_offset)
    starts = [*(info.header_offset for info in in_order), end]
    for info, (start, following) in zip(in_order, pairwise(starts), strict=True):
        if start < 0 or start + HEADER_BYTES + info.compress_size > following:
            raise BadZip("zip_damaged")
