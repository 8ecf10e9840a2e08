"""A cache of pictures on disk for all processes, keyed by the hash of their content."""

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

from webui.limiter import Limiter

MOST_BYTES = 2 * 2**20
MOST_LARGE_BYTES = 8 * 2**20
MOST_KEPT_BYTES = 512 * 2**20
MISSING_SECONDS = 600
PRUNE_EVERY = 500

turns = Limiter(4, wait_seconds=20)


class Pictures:
    """A cache of pictures.

    Guarantee: by its first bytes, everything served is a picture, whatever the service sent. The
    service is asked again for a missing picture after ten minutes at the earliest. Four callers at
    once ask the service, and each checks the disk again before it does.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._kept = 0

    def get(
        self, key: str, fetch: Callable[[], Iterator[bytes]], most_bytes: int = MOST_BYTES
    ) -> bytes | None:
        """Return a picture, or None if there is none. Raises `TimedOut` if too many are being
        fetched already."""
        path = self._path(key)
        picture = self._read(path)
        if picture is None:
            with turns.one():
                picture = self._read(path)
                if picture is None:
                    picture = picture_in(fetch(), most_bytes)
                    self._save(path, picture)
        return picture or None

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / name[2:]

    def _read(self, path: Path) -> bytes | None:
        """Return None if nothing is cached, and empty bytes if the picture was recently missing."""
        try:
            picture = path.read_bytes()
            if not picture and path.stat().st_mtime < self._clock() - MISSING_SECONDS:
                return None
        except FileNotFoundError:
            return None
        return picture

    def _save(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            # Otherwise a power cut could leave an empty file under the picture's name.
            os.fsync(file.fileno())
        os.utime(draft, (self._clock(), self._clock()))
        draft.replace(path)
        self._kept += 1
        if self._kept % PRUNE_EVERY == 0:
            self.prune()

    def prune(self, most_bytes: int = MOST_KEPT_BYTES) -> None:
        """Delete the oldest pictures beyond `most_bytes`."""
        facts = sorted(((path.stat(), path) for path in self._folder.glob("*/*")), key=age)
        size = sum(stat.st_size for stat, _path in facts)
        for stat, path in facts:
            if size <= most_bytes:
                return
            path.unlink(missing_ok=True)
            size -= stat.st_size


def age(fact: tuple[os.stat_result, Path]) -> float:
    return fact[0].st_mtime


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
