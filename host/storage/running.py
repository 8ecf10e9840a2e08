"""Check whether Ferry is running on a data folder."""

import fcntl
import os
import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from common.storage import durable, locks
from common.storage.locks import try_lock

LOCK = "running.lock"
RESTORING = "restoring"
MOMENT_SECONDS, STEP_SECONDS = 1, 0.01

_descriptors: list[int] = []


def note_running() -> None:
    """Mark the data folder as in use until the last process of Ferry that called this ends.

    Raise SystemExit while a restore holds the folder.
    """
    refuse_half_restored()
    descriptor = os.open(_path(), os.O_CREAT | os.O_RDWR, 0o600)
    if try_lock(descriptor):
        # The first process sets the time since which Ferry has been running.
        os.utime(_path())
    if not _share(descriptor):
        os.close(descriptor)
        raise SystemExit("DATA_DIR is being restored; start Ferry when that has ended.")
    # The lock holds for as long as the descriptor is open: until this process and its forks end.
    _descriptors.append(descriptor)


def _share(descriptor: int) -> bool:
    """Take the shared lock.

    A starting process holds the exclusive lock briefly, and a restore longer.
    """
    deadline = time.monotonic() + MOMENT_SECONDS
    while not (is_shared := try_lock(descriptor, fcntl.LOCK_SH)) and time.monotonic() <= deadline:
        time.sleep(STEP_SECONDS)
    return is_shared


def running_since() -> datetime | None:
    """Return when Ferry was started, or None if it isn't running."""
    with alone() as is_alone:
        if is_alone:
            return None
        return datetime.fromtimestamp(_path().stat().st_mtime, UTC)


def alone() -> AbstractContextManager[bool]:
    """Yield whether no process of Ferry runs; if so, none can start until the block ends."""
    return locks.alone(_path())


def begin_restore() -> None:
    """Prevent Ferry from starting before a restore is complete, even if this one is interrupted."""
    durable.write(_marker(), b"")


def end_restore() -> None:
    _marker().unlink()
    durable.sync(_marker().parent)


def is_half_restored() -> bool:
    return _marker().exists()


def refuse_half_restored() -> None:
    if is_half_restored():
        raise SystemExit("DATA_DIR is half restored: run manage.py restore again, to its end.")


def _marker() -> Path:
    return Path(settings.DATA_DIR) / RESTORING


def _path() -> Path:
    return Path(settings.DATA_DIR) / LOCK
