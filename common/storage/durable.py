"""Write files and folders so that a power cut leaves them as they were, or whole."""

import ctypes
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from common.storage.hardlinks import place_first

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
MOST_TRIES = 10


def read_boot_id() -> str:
    """Return an id that changes each time the machine starts, or "" if the system has none."""
    return BOOT_ID.read_text() if BOOT_ID.exists() else ""


def sync(path: Path) -> None:
    """Sync a file or folder. Some network shares can't sync folders; that error is ignored."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as trouble:
        if trouble.errno != errno.EINVAL or not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def sync_file_system(folder: Path) -> None:
    """Sync the folder's file system."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: Path, *, by_many: bool = False) -> Iterator[Path]:
    """Yield an empty private file. If the block succeeds, sync it and let it take `path`'s place.

    A power cut soon after may bring the old file back, unless the folder is synced, too.
    `by_many`: several threads or processes may do so at once.
    """
    with _draft_beside(path, _unique() if by_many else f"{path.name}.new") as draft:
        yield draft
        sync(draft)
        draft.replace(path)


def write(path: Path, content: bytes) -> None:
    """Write a file: once this returns, no power cut brings the old one back."""
    with replacing(path) as draft:
        draft.write_bytes(content)
    sync(path.parent)


def create(path: Path, content: bytes) -> None:
    """Create a file. If several processes create it at once, the first one's content counts."""
    with _draft_beside(path, _unique()) as draft:
        draft.write_bytes(content)
        sync(draft)
        place_first(draft, path)
    sync(path.parent)


@contextmanager
def _draft_beside(path: Path, name: str) -> Iterator[Path]:
    draft = path.with_name(name)
    try:
        # One that a killed process left has the same name, and is written anew.
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600))
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _unique() -> str:
    return f".{secrets.token_hex(8)}"


def make_folder(path: Path, *, is_lasting: bool = True) -> None:
    """Make a folder and its parents, readable only by the user Ferry runs as.

    `is_lasting`: no power cut undoes it. `mkdir(parents=True)` would leave the parents open to all.
    """
    for tries_left in reversed(range(MOST_TRIES)):
        if path.is_dir():
            return
        make_folder(path.parent, is_lasting=is_lasting)
        try:
            path.mkdir(mode=0o700, exist_ok=True)
            if is_lasting:
                sync(path.parent)
        except FileNotFoundError:
            # A sweep may have deleted the parent meanwhile. In /proc, nothing can ever be made.
            if not tries_left:
                raise


def replace_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Replace a folder. A power cut leaves the old folder, the new one, or none."""
    new, old = (path.with_name(f"{path.name}.{word}") for word in ("new", "old"))
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    new.mkdir(mode=0o700)
    fill(new)
    sync_file_system(new)
    with suppress(FileNotFoundError):
        path.rename(old)
    new.rename(path)
    sync(path.parent)
    shutil.rmtree(old, ignore_errors=True)
