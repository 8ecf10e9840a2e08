"""Sync files and folders to disk, so that what was written survives a power cut."""

import ctypes
import errno
import os
from pathlib import Path


def sync_file_system(folder: Path) -> None:
    """Sync the folder's file system; where the system can't do that, sync all of them."""
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
    """Sync a file or folder. Some network shares can't sync folders; that error is ignored."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as trouble:
        if trouble.errno != errno.EINVAL or not path.is_dir():
            raise
    finally:
        os.close(descriptor)
