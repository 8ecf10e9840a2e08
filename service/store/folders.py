"""Create private folders and drafts, and list folders."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from common.storage import durable
from service.errors import DiskFull

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
# Content never takes these: even to delete something, the database must be able to write.
RESERVE_BYTES = 64 * 2**20

make_folder = partial(durable.make_folder, is_lasting=False)


def free_bytes(folder: Path) -> int:
    """Return how much of the folder's disk is free for content."""
    return max(0, shutil.disk_usage(folder).free - RESERVE_BYTES)


@contextmanager
def translate_disk_full() -> Iterator[None]:
    try:
        yield
    except OSError as trouble:
        if trouble.errno in NO_SPACE:
            raise DiskFull from trouble
        raise


@contextmanager
def no_leftover(draft: Path) -> Iterator[None]:
    try:
        yield
    finally:
        draft.unlink(missing_ok=True)


def private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def folders_in(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (entry for entry in path.iterdir() if entry.is_dir())


def files_in(path: Path) -> Iterator[tuple["os.DirEntry[str]", os.stat_result]]:
    """Yield the files in a folder with their facts, except those that are deleted meanwhile."""
    if path.is_dir():
        with os.scandir(path) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if entry.is_file(follow_symlinks=False):
                        yield entry, entry.stat(follow_symlinks=False)
