"""Sync files and folders to disk: only then does what was written survive a power cut."""

import ctypes
import errno
import os
from pathlib import Path


def sync_file_system(folder: Path) -> None:
    """All that was written to it; where the system cannot do that, to any."""
    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if syncfs(descriptor):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """A file or a folder. Some network shares can't sync a folder, and keep it as they see fit."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as trouble:
        if trouble.errno != errno.EINVAL or not path.is_dir():
            raise
    finally:
        os.close(descriptor)
