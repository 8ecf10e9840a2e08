"""Copies of objects on this machine, for programs that read files."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from weakref import WeakValueDictionary

from common.storage.hardlinks import try_link
from service.errors import DiskFull
from service.store.folders import (
    KEPT_SECONDS,
    UsedFile,
    delete_beyond,
    files_in,
    find_idle,
    free_bytes,
    make_folder,
    no_leftover,
    translate_disk_full,
)
from service.store.sums import CHUNK_BYTES

# Each sweep looks at all of them.
MOST_FILES = 5000


class Loans:
    """Files by blob, within a budget: the one that was lent longest ago is deleted first.

    A file's modification time says when it was last lent. Beyond those of the last minute, there
    are at most MOST_FILES, and all of them together take at most half of what the disk would have
    without them.
    """

    def __init__(self, folder: Path, budget_bytes: int) -> None:
        self._folder = folder
        self._budget_bytes = budget_bytes
        self._lock = threading.Lock()
        # Each is forgotten when no one holds it.
        self._locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    def lend(self, blob: str, open_source: Callable[[], BinaryIO]) -> Path:
        """Return a file with the blob's bytes, which one caller copies while the others wait.

        Raises DiskFull.
        """
        path = self._folder / blob
        with self._lock:
            lock = self._locks.setdefault(blob, threading.Lock())
        with lock:
            try:
                os.utime(path)
            except FileNotFoundError:
                with open_source() as source:
                    self._copy(source, path)
                self.sweep()
        return path

    def _copy(self, source: BinaryIO, path: Path) -> None:
        make_folder(self._folder)
        size_bytes = source.seek(0, os.SEEK_END)
        source.seek(0)
        self._make_room(size_bytes)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with no_leftover(draft), translate_disk_full():
            with draft.open("wb") as file:
                shutil.copyfileobj(source, file, CHUNK_BYTES)
            draft.rename(path)

    def _make_room(self, size_bytes: int) -> None:
        """Delete idle files, if that makes enough room. Raises DiskFull."""
        lacking_bytes = size_bytes - free_bytes(self._folder)
        idle = find_idle(self._files())
        if sum(each.size_bytes for each in idle) >= lacking_bytes:
            delete_beyond(idle, lacking_bytes)
        if free_bytes(self._folder) < size_bytes:
            raise DiskFull

    def adopt(self, blob: str, source: Path) -> None:
        """Lend a file that this machine still has: it costs nothing if the disk has links.

        Many are adopted at once, so the caller sweeps.
        """
        make_folder(self._folder)
        with suppress(OSError):
            if try_link(source, self._folder / blob):
                # No program was promised this file, so it may go at once.
                unpromised_at = time.time() - KEPT_SECONDS
                os.utime(self._folder / blob, (unpromised_at, unpromised_at))

    def forget(self, blob: str) -> None:
        (self._folder / blob).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete what exceeds the budget, and drafts of workers that died."""
        files = self._files()
        if not files:
            return
        total_bytes = sum(each.size_bytes for each in files)
        most_bytes = min(self._budget_bytes, (free_bytes(self._folder) + total_bytes) // 2)
        delete_beyond(find_idle(files), total_bytes - most_bytes, len(files) - MOST_FILES)

    def _files(self) -> list[UsedFile]:
        files = files_in(self._folder)
        return sorted(UsedFile(facts.st_mtime, facts.st_size, entry.path) for entry, facts in files)
