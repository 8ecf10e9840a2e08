"""Log a failing disk or database in a few lines, instead of a traceback per attempt."""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from common.storage.outages import Outage, outage_of

log = logging.getLogger("ferry.outages")

EVERY_SECONDS = 60
# Attempts to connect that began before the database was back may fail this much later.
LATE_SECONDS = 5
ADVICE = {
    Outage.DISK_FULL: "The disk is full. Free some space on it",
    Outage.READ_ONLY: "The disk can't be written to. Mount it for writing, and check who owns it",
    Outage.DISK_ERROR: "The disk fails. Check it",
    Outage.BUSY: "The database is locked. End the program that uses it",
    Outage.CROWDED: "No connection to the database is free. Raise the server's max_connections, or "
    "WEB_THREADS",
    Outage.DAMAGED: "The database is damaged. Restore a backup in its place, or move it away to "
    "begin with an empty one",
    Outage.AWAY: "The database is away. Check that it runs and that DATABASE_URL is right",
}
MOST_CAUSES = 10

# When an outage was logged, and when its end was; 0 if the other happened later.
Times = tuple[float, float]
NEVER: Times = (0, 0)

# What this process knows if the disk can't store it for all.
_own_times: dict[str, Times] = {}
_seen_away = threading.Event()


class Outages(logging.Filter):
    """A log filter that reports a failing disk once a minute, and a missing database once.

    All processes of Ferry share these limits, if the disk still lets them coordinate.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        # Some records name the error without its traceback.
        error = record.exc_info[1] if record.exc_info else getattr(record, "trouble", None)
        kind = outage_in(error)
        if kind is None:
            return True
        if not (record_away() if kind == Outage.AWAY else is_due(kind)):
            return False
        record.levelno, record.levelname = logging.ERROR, "ERROR"
        words = ADVICE[kind], cause_in(error), record.getMessage()
        record.msg, record.args = "%s: %s (%s)", words
        record.exc_info = record.exc_text = None
        return True


def outage_in(error: BaseException | None) -> Outage | None:
    return next((outage for each in causes(error) if (outage := outage_of(each))), None)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    for _each in range(MOST_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def cause_in(error: BaseException | None) -> str:
    cause = next((each for each in causes(error) if outage_of(each)), None)
    return str(cause).partition("\n")[0]


def is_due(kind: str) -> bool:
    now = time.time()
    return take_turn(kind, lambda began, _ended: not 0 <= now - began < EVERY_SECONDS, (now, 0))


def record_away() -> bool:
    """Record that the database is away. Return whether that is news."""
    now = time.time()
    _seen_away.set()
    return take_turn(
        Outage.AWAY,
        lambda began, ended: not began and not 0 <= now - ended < LATE_SECONDS,
        (now, 0),
    )


def come_back(**_signal: object) -> None:
    """Log that the database is back, when a connection is made."""
    if not _seen_away.is_set():
        return
    _seen_away.clear()
    if take_turn(Outage.AWAY, lambda began, _ended: bool(began), (0, time.time())):
        log.warning("The database is back.")


def take_turn(kind: str, may: Callable[[float, float], bool], times: Times) -> bool:
    """Return whether this process is the one to log the outage or its end.

    A file's times record the outage in whole seconds: the modification time is when it was logged,
    and the access time is when its end was logged. The files were created at the start, when there
    was space; changing a time needs no space.
    """
    try:
        with open(path(kind), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            status = os.fstat(file.fileno())
            may_log = may(int(status.st_mtime), int(status.st_atime))
            if may_log:
                began, ended = map(int, times)
                os.utime(file.fileno(), (ended, began))
            return may_log
    except OSError:
        may_log = may(*_own_times.get(kind, NEVER))
        if may_log:
            _own_times[kind] = times
        return may_log


def track(name: str, *, is_on: bool) -> float:
    """Record a trouble that Health sees, or its end. Return how many seconds it has lasted."""
    with suppress(OSError):
        now, began = time.time(), path(name).stat().st_mtime
        if is_on != bool(began):
            os.utime(path(name), (now, now if is_on else 0))
        return now - began if is_on and began else 0
    return 0


def begin() -> None:
    """Make the files, and forget which outages were logged before this start."""
    with suppress(OSError):
        path(Outage.AWAY).parent.mkdir(mode=0o700, exist_ok=True)
        for kind in (*ADVICE, "locked"):
            path(kind).touch(mode=0o600)
            os.utime(path(kind), NEVER)


def path(kind: str) -> Path:
    return Path(settings.DATA_DIR) / "outages" / kind


def advice(error: BaseException) -> str | None:
    """Return one line for a start that fails, or None if the error isn't an outage."""
    kind = outage_in(error)
    if kind is None:
        return None
    cause = cause_in(error)
    return f"{ADVICE[kind]}, then start Ferry again. DATA_DIR is {settings.DATA_DIR}. {cause}"
