"""Locks of files, which the kernel releases when their process ends, whatever the cause."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


def try_lock(file: int | IO[bytes], kind: int = fcntl.LOCK_EX) -> bool:
    """Return whether no one else holds the lock of a file, so that it is ours now."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Yield whether no one else holds the lock of a file; if so, it is ours until the end."""
    with path.open("a") as file:
        yield try_lock(file.fileno())


def is_locked(path: Path) -> bool:
    """Return whether someone holds the lock of a file; no one does if the file is missing.

    NFS locks only files that are open for writing; on a read-only disk, none can be.
    """
    mode = "r+b" if os.access(path, os.W_OK) else "rb"
    with suppress(FileNotFoundError), path.open(mode) as file:
        return not try_lock(file)
    return False
