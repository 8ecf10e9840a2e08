"""Renditions on disk, within a budget: the least recently read are deleted first."""

import functools
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from django.conf import settings

from service.media import content_folders
from service.store.blobs import library_store
from service.store.folders import UsedFile, delete_beyond, find_idle, free_bytes

# A sweep frees a tenth of the budget more than needed, so that not every segment needs one.
ROOM = 0.9
# The age at which unfinished files are deleted; their names begin with a dot.
DRAFT_SECONDS = 24 * 3600
# Never deleted: they are small, and all other files need them.
LASTING = frozenset({"plan.json", "init.mp4", "refused.json", "how.json"})
RENDITIONS, FILMS = "hls", "mp4"
# Each file takes at least a block.
BLOCK_BYTES = 4096


class Cache:
    """A cache on disk. A file's modification time is when it was last read: see `touch`.

    Each process counts what it adds, and now and then what others have added. All files together
    take at most half of what the disk would have without them.
    """

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self._lock = threading.Lock()
        self._most_bytes = budget_bytes
        self._size_bytes: int | None = None
        self._grown_bytes = 0

    def put(self, path: Path, data: bytes) -> None:
        """Write a file atomically. One that is lost in a power cut is made again."""
        content_folders.write_and_publish(path, data)
        self.grow(len(data))

    def has(self, path: Path) -> bool:
        """Return whether the file is there, or could be fetched from another machine.

        Raises Busy.
        """
        if is_there(path):
            return True
        if not library_store().fetch_published(path):
            return False
        self.grow(path.stat().st_size)
        return True

    def grow(self, size_bytes: int) -> None:
        with self._lock:
            self._grown_bytes += max(size_bytes, BLOCK_BYTES)
            room_bytes = self._most_bytes - (self._size_bytes or 0)
            may_grow_bytes = min(room_bytes, self._most_bytes * (1 - ROOM))
            if self._size_bytes is None or self._grown_bytes > may_grow_bytes:
                self._sweep()

    def sweep(self) -> None:
        """Count and delete again. Others may have deleted folders and made files meanwhile."""
        with self._lock:
            self._sweep()

    def _sweep(self) -> None:
        """Delete what exceeds the budget or the disk, and count the bytes that are left.

        Empty folders stay: another thread may be about to write there.
        """
        files = sorted(self._files(time.time()))
        size_bytes = sum(each.size_bytes for each in files)
        half_bytes = (free_bytes(Path(settings.DATA_DIR)) + size_bytes) // 2
        self._most_bytes = min(self.budget_bytes, half_bytes)
        if size_bytes > self._most_bytes:
            size_bytes -= delete_beyond(find_idle(files), size_bytes - self._most_bytes * ROOM)
        self._size_bytes, self._grown_bytes = size_bytes, 0

    def _files(self, now: float) -> Iterator[UsedFile]:
        folders = content_folders.media_folder().glob("??/*/")
        walks = (os.walk(folder / kind) for folder in folders for kind in (RENDITIONS, FILMS))
        for root, _folders, names in chain.from_iterable(walks):
            for name in names:
                if name in LASTING:
                    continue
                path = os.path.join(root, name)  # noqa: PTH118
                with suppress(OSError):
                    status = os.stat(path)  # noqa: PTH116
                    is_draft = name.startswith(".")
                    if is_draft and status.st_mtime < now - DRAFT_SECONDS:
                        os.unlink(path)  # noqa: PTH108
                        continue
                    # A film that is paused for viewers isn't being written, but will continue.
                    read_at = now if is_draft else status.st_mtime
                    yield UsedFile(read_at, max(status.st_blocks * 512, BLOCK_BYTES), path)


@functools.cache
def process_cache() -> Cache:
    """Return the cache of a process that only fetches what workers publish."""
    return Cache(settings.MEDIA_CACHE)


def touch(path: Path) -> None:
    """Record that the file was read now."""
    with suppress(OSError):
        os.utime(path)


def is_there(path: Path) -> bool:
    """Return whether the file is there and complete: a power cut may leave an empty one."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False
