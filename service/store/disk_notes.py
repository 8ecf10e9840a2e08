"""What a library's folder notes about itself in files: owner, generation, losses, and backups."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from common.storage import durable
from common.storage.locks import try_lock
from service.store.folders import make_folder, private

GENERATION_DIGITS = 20


class DiskNotes:
    def __init__(self, root: Path) -> None:
        self._root = root
        self.mark = root / "database"
        self._generation = root / "generation"

    def read_note(self, name: str) -> str | None:
        try:
            return (self._root / name).read_text()
        except FileNotFoundError:
            return None

    def write_note(self, name: str, text: str) -> None:
        make_folder(self._root)
        (self._root / name).write_text(text)

    def delete_note(self, name: str) -> None:
        (self._root / name).unlink(missing_ok=True)

    def owner(self, *, insists: bool = False) -> str | None:  # noqa: ARG002  A file is read anyway.
        return self.read_note(self.mark.name)

    def claim_for(self, database: str) -> bool:
        if not self.mark.exists():
            make_folder(self._root)
            durable.create(self.mark, database.encode())
        return self.owner() == database

    def hand_over(self, database: str) -> None:
        make_folder(self._root)
        durable.write(self.mark, database.encode())

    def generation(self) -> int:
        try:
            with self._generation.open("rb", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                return int(file.read() or b"0")
        except (FileNotFoundError, ValueError):
            return 0

    def reach_generation(self, number: int) -> None:
        """Keep the file's size and write in place: then one small sync makes it durable."""
        if not self._generation.exists():
            make_folder(self._root)
            durable.create(self._generation, b"%0*d\n" % (GENERATION_DIGITS, 0))
        with self._generation.open("r+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            text = file.read()
            if not text.strip().isdigit() or int(text) < number:
                os.pwrite(file.fileno(), b"%0*d\n" % (GENERATION_DIGITS, number), 0)
                os.fdatasync(file.fileno())

    @contextmanager
    def hold_all(self) -> Iterator[None]:
        """Keep every blob that a row names now, even if the row is deleted, during a backup."""
        with self._open_lock() as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield

    @contextmanager
    def removal_lock(self) -> Iterator[bool]:
        """Yield whether blobs may be removed now; a backup that begins meanwhile waits."""
        with self._open_lock() as file:
            yield try_lock(file)

    def _open_lock(self) -> BinaryIO:
        make_folder(self._root)
        return open(self._root / "pinned.lock", "ab", opener=private)
