"""Log a failing disk or database in a few lines, instead of a traceback per attempt."""

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from service.outages import Outage, outage_of

log = logging.getLogger("ferry.outages")

EVERY_SECONDS = 60
WORDS = {
    Outage.DISK_FULL: "The disk is full. Free some space on it; until then, Ferry can't write",
    Outage.READ_ONLY: "The disk can't be written to. Mount it for writing, and check who owns "
    "DATA_DIR",
    Outage.DISK_ERROR: "The disk fails. Check it",
    Outage.BUSY: "The database is locked by another program for too long",
    Outage.CROWDED: "No connection to the database is free. Raise the server's max_connections, or "
    "WEB_THREADS",
    Outage.DAMAGED: "The database is damaged. Stop Ferry and restore a backup",
    Outage.AWAY: "The database is away. Ferry goes on when it is back",
}
ADVICE = {
    Outage.DISK_FULL: "The disk is full. Free some space on it",
    Outage.READ_ONLY: "The disk can't be written to. Mount it for writing, and check who owns it",
    Outage.DISK_ERROR: "The disk fails. Check it",
    Outage.BUSY: "The database is locked. End the program that uses it",
    Outage.CROWDED: "No connection to the database is free. Raise the server's max_connections",
    Outage.DAMAGED: "The database is damaged. Restore a backup in its place, or move it away to "
    "begin with an empty one",
    Outage.AWAY: "The database doesn't answer. Check that it runs and that DATABASE_URL is right",
}
MOST_CAUSES = 10

_logged_at: dict[str, float] = {}


class Outages(logging.Filter):
    """A log filter that reports a failing disk once a minute, and a missing database once.

    It counts for all processes of Ferry together, if the disk still lets them coordinate.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        # Some records name the error without its traceback.
        error = record.exc_info[1] if record.exc_info else getattr(record, "trouble", None)
        kind = outage_in(error)
        if kind is None:
            return True
        if not (goes_away() if kind == Outage.AWAY else is_due(kind)):
            return False
        record.levelno, record.levelname = logging.ERROR, "ERROR"
        record.msg, record.args = "%s: %s (%s)", (WORDS[kind], cause_in(error), record.getMessage())
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
    return take_turn(kind, lambda logged_at: not 0 <= now - logged_at < EVERY_SECONDS, now)


def goes_away() -> bool:
    """Remember that the database is away; return whether that is news."""
    now = time.time()
    is_news = take_turn(Outage.AWAY, lambda logged_at: logged_at == 0, now)
    _logged_at[Outage.AWAY] = now
    return is_news


def come_back(**_signal: object) -> None:
    """Log that the database is back, when a connection is made."""
    if _logged_at.pop(Outage.AWAY, 0) and take_turn(
        Outage.AWAY, lambda logged_at: logged_at != 0, 0
    ):
        log.warning("The database is back.")


def take_turn(kind: str, may: Callable[[float], bool], now: float) -> bool:
    """Return whether this process is the one to log the outage.

    A file's modification time, in whole seconds, is when a process last did. The files were made
    at the start, when there was space; changing a time needs none.
    """
    try:
        descriptor = os.open(path(kind), os.O_RDONLY)
    except OSError:
        return take_own_turn(kind, may, now)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not may(int(os.fstat(descriptor).st_mtime)):
            return False
        os.utime(descriptor, (int(now), int(now)))
    except OSError:
        return take_own_turn(kind, may, now)
    else:
        return True
    finally:
        os.close(descriptor)


def take_own_turn(kind: str, may: Callable[[float], bool], now: float) -> bool:
    if kind == Outage.AWAY and not now:
        return True
    if not may(_logged_at.get(kind, 0)):
        return False
    _logged_at[kind] = now
    return True


def begin() -> None:
    """Make the files, and forget which outages were logged before this start."""
    with suppress(OSError):
        path(Outage.AWAY).parent.mkdir(mode=0o700, exist_ok=True)
        for kind in WORDS:
            path(kind).touch(mode=0o600)
            os.utime(path(kind), (0, 0))


def path(kind: str) -> Path:
    return Path(settings.DATA_DIR) / "outages" / kind


def advice(error: BaseException) -> str | None:
    """Return one line for a start that fails, or None if the error isn't an outage."""
    kind = outage_in(error)
    if kind is None:
        return None
    cause = cause_in(error)
    return f"{ADVICE[kind]}, then start Ferry again. DATA_DIR is {settings.DATA_DIR}. {cause}"
