"""Create private folders and drafts, list folders, and delete what was used longest ago."""

import errno
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from common.storage import durable
from service.errors import DiskFull

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
# Content never takes these: even to delete something, the database must be able to write.
RESERVE_BYTES = 64 * 2**20
# What is being watched is never deleted. A program opens its file soon; if it had to wait for its
# turn for longer, or a player paused, the file is fetched or made again.
KEPT_SECONDS = 60.0

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


class UsedFile(NamedTuple):
    used_at: float
    size_bytes: int
    path: str


def find_idle(files: Iterable[UsedFile]) -> list[UsedFile]:
    """Return the files that no one uses now."""
    before = time.time() - KEPT_SECONDS
    return [each for each in files if each.used_at <= before]


def delete_beyond(idle: list[UsedFile], excess_bytes: float, excess_files: int = 0) -> int:
    """Delete drafts, and the first files until the excess is gone. Return how many bytes."""
    deleted_bytes = 0
    for each in idle:
        path = Path(each.path)
        if excess_bytes > deleted_bytes or excess_files > 0 or path.name.startswith("."):
            with suppress(OSError):
                path.unlink(missing_ok=True)
                deleted_bytes += each.size_bytes
                excess_files -= 1
    return deleted_bytes
