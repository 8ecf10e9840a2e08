"""Copies of objects on this machine, for programs that read files."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from weakref import WeakValueDictionary

from service.store.folders import (
    files_in,
    free_bytes,
    make_folder,
    no_leftover,
    translate_disk_full,
)
from service.store.hardlinks import try_link

# A program opens its file soon. If it had to wait for its turn for longer, it borrows again.
KEPT_SECONDS = 60.0


class Loans:
    """Files by blob, within a budget: the one that was lent longest ago is deleted first.

    A file's modification time says when it was last lent. Beyond those of the last minute, all of
    them together take at most half of what the disk would have without them.
    """

    def __init__(self, folder: Path, budget_bytes: int) -> None:
        self._folder = folder
        self._budget_bytes = budget_bytes
        self._lock = threading.Lock()
        self._locks: WeakValueDictionary[str, _Lock] = WeakValueDictionary()

    def lend(self, blob: str, download: Callable[[BinaryIO], None]) -> Path:
        """Return a file with the blob's bytes, which one caller downloads while the others wait."""
        path = self._folder / blob
        with self._lock:
            lock = self._locks.setdefault(blob, _Lock())
        with lock.lock:
            if not is_touched(path):
                draft = self._draft(blob)
                with no_leftover(draft), translate_disk_full():
                    with draft.open("wb") as file:
                        download(file)
                    draft.rename(path)
                self.sweep()
        return path

    def adopt(self, blob: str, source: Path) -> None:
        """Lend a file that this machine still has: it costs nothing if the disk has links."""
        make_folder(self._folder)
        with suppress(OSError):
            if try_link(source, self._folder / blob):
                # No program was promised this file, so it may go at once.
                unpromised_at = time.time() - KEPT_SECONDS
                os.utime(self._folder / blob, (unpromised_at, unpromised_at))
                self.sweep()

    def forget(self, blob: str) -> None:
        (self._folder / blob).unlink(missing_ok=True)

    def _draft(self, blob: str) -> Path:
        make_folder(self._folder)
        return self._folder / f".{blob}.{os.getpid()}"

    def sweep(self) -> None:
        """Delete what exceeds the budget, and drafts of workers that died."""
        before = time.time() - KEPT_SECONDS
        files = []
        for entry in files_in(self._folder):
            # Another thread's draft may get its name now.
            with suppress(FileNotFoundError):
                files.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
        if not files:
            return
        files.sort()
        total_bytes = sum(size for _at, size, _path in files)
        most_bytes = min(self._budget_bytes, (free_bytes(self._folder) + total_bytes) // 2)
        excess_bytes = total_bytes - most_bytes
        for lent_at, size_bytes, path in files:
            if lent_at > before:
                break
            if excess_bytes > 0 or Path(path).name.startswith("."):
                Path(path).unlink(missing_ok=True)
                excess_bytes -= size_bytes


class _Lock:
    """A lock that is forgotten when no one holds it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def is_touched(path: Path) -> bool:
    """Record that the file is lent now, or return False if there is none."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True
