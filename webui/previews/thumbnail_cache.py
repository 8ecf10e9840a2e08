"""A cache of pictures on disk for all processes, keyed by the hash of their content."""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from django.conf import settings

from common.storage.durable import replacing
from webui.limiter import Limiter

MOST_BYTES = 2 * 2**20
MOST_LARGE_BYTES = 8 * 2**20
MOST_KEPT_BYTES = 512 * 2**20
MISSING_SECONDS = 600
# Count again once a process has added this part of the limit.
PRUNE_AFTER = 1 / 20
# Each file takes at least a block: an empty one has a name and an inode.
BLOCK_BYTES = 4096
SPARE_BYTES = 64 * 2**20

turns = Limiter(4, wait_seconds=20)


class Pictures:
    """A cache of pictures.

    Guarantee: by its first bytes, everything served is a picture, whatever the service sent. The
    service is asked again for a missing picture after ten minutes at the earliest. Four callers at
    once ask the service, and each checks the disk again before it does. All pictures together take
    at most half of what the disk would have without them.
    """

    def __init__(
        self,
        folder: Path,
        most_bytes: int = MOST_KEPT_BYTES,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._clock = clock
        self._grown_bytes = 0

    def get(
        self, key: str, fetch: Callable[[], Iterator[bytes]], most_bytes: int = MOST_BYTES
    ) -> bytes | None:
        """Return a picture, or None if there is none. Raises `TimeoutError` if too many are being
        fetched already."""
        path = self._path(key)
        picture = self._read(path)
        if picture is None:
            with turns.one():
                picture = self._read(path)
                if picture is None:
                    picture = picture_in(fetch(), most_bytes)
                    # Without space, the service is asked each time.
                    with suppress(OSError):
                        self._save(path, picture)
        return picture or None

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / name[2:]

    def _read(self, path: Path) -> bytes | None:
        """Return None if nothing is cached, and empty bytes if the picture was recently missing."""
        try:
            picture = path.read_bytes()
            is_old = path.stat().st_mtime < self._clock() - MISSING_SECONDS
        except FileNotFoundError:
            return None
        if picture:
            # Of a file that was damaged on the disk, nothing may be left but zeros.
            return picture if type_of(picture[:32]) else None
        return None if is_old else picture

    def _save(self, path: Path, content: bytes) -> None:
        if shutil.disk_usage(self._folder.parent).free < SPARE_BYTES:
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(path, by_many=True) as draft:
            draft.write_bytes(content)
            os.utime(draft, (self._clock(), self._clock()))
        self._grown_bytes += max(len(content), BLOCK_BYTES)
        if self._grown_bytes > self._most_bytes * PRUNE_AFTER:
            self.prune()

    def prune(self) -> None:
        self._grown_bytes = 0
        facts = sorted(self._facts(), key=lambda fact: fact[0].st_mtime)
        size_bytes = sum(disk_bytes(status) for status, _path in facts)
        if not facts:
            return
        free_bytes = shutil.disk_usage(self._folder).free
        most_bytes = min(self._most_bytes, (free_bytes + size_bytes) // 2)
        for status, path in facts:
            if size_bytes <= most_bytes:
                return
            path.unlink(missing_ok=True)
            size_bytes -= disk_bytes(status)

    def _facts(self) -> Iterator[tuple[os.stat_result, Path]]:
        for path in self._folder.glob("*/*"):
            # Another process may prune, or rename its draft.
            with suppress(FileNotFoundError):
                yield path.stat(), path


def disk_bytes(status: os.stat_result) -> int:
    return max(status.st_blocks * 512, BLOCK_BYTES)


def fetch_once(fetch: Callable[[], Iterator[bytes]], most_bytes: int) -> bytes | None:
    """Return a picture that isn't cached, or None if there is none. Raises `TimeoutError`."""
    with turns.one():
        return picture_in(fetch(), most_bytes) or None


def picture_in(pieces: Iterator[bytes], most_bytes: int = MOST_BYTES) -> bytes:
    """Return the picture, or empty bytes if it is too large or isn't a picture."""
    content = bytearray()
    for piece in pieces:
        content += piece
        if len(content) > most_bytes:
            return b""
    return bytes(content) if type_of(bytes(content[:32])) else b""


def type_of(head: bytes) -> str:
    """Return the type by the first bytes. SVG isn't among them, since it can contain scripts."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis"):
        return "image/avif"
    return ""


def store() -> Pictures:
    return _kept_in(settings.DATA_DIR / "thumbs")


@cache
def _kept_in(folder: Path) -> Pictures:
    return Pictures(folder)
