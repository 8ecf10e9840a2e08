"""A disk or database that fails: a few lines in the log instead of a traceback for each attempt."""

import errno
import fcntl
import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db.utils import Error as DatabaseError

log = logging.getLogger("ferry.outages")

EVERY_SECONDS = 60
FULL, READ_ONLY, DISK_ERROR = "disk_full", "disk_read_only", "disk_error"
BUSY, DAMAGED, AWAY = "database_busy", "database_damaged", "database_away"
WORDS = {
    FULL: "The disk is full. Free some space on it; until then, Ferry can't write",
    READ_ONLY: "The disk can't be written to. Mount it for writing, and check who owns DATA_DIR",
    DISK_ERROR: "The disk fails. Check it",
    BUSY: "The database is locked by another program for too long",
    DAMAGED: "The database is damaged. Stop Ferry and restore a backup",
    AWAY: "The database is away. Ferry goes on when it is back",
}
# As SQLite and as PostgreSQL (SQLSTATE) call it, and the words of both where they name nothing.
KINDS = {
    FULL: re.compile("SQLITE_FULL|53100|.*disk is full"),
    READ_ONLY: re.compile("SQLITE_READONLY|25006|.*readonly database"),
    DISK_ERROR: re.compile("SQLITE_IOERR|58030|.*disk I/O error"),
    DAMAGED: re.compile("SQLITE_(CORRUPT|NOTADB)|XX00[12]|.*(malformed|not a database)"),
    BUSY: re.compile("SQLITE_(BUSY|LOCKED)|40001|40P01|55P03|.*locked"),
    AWAY: re.compile(
        "SQLITE_CANTOPEN|08|57P0|.*(unable to open|could not connect|connection (failed|refused|"
        "is closed|already closed)|closed the connection|connection is lost)"
    ),
}
OF_FILES = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EROFS: READ_ONLY,
    errno.EIO: DISK_ERROR,
}
MOST_CAUSES = 10

_said: dict[str, float] = {}


class Outages(logging.Filter):
    """Says once a minute that a disk fails, and once that the database is away: for all processes
    of Ferry together, where the disk still lets them agree."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Some lines name what failed without its traceback.
        error = record.exc_info[1] if record.exc_info else getattr(record, "trouble", None)
        kind = kind_of(error)
        if kind is None:
            return True
        if not (goes_away() if kind == AWAY else is_due(kind)):
            return False
        record.levelno, record.levelname = logging.ERROR, "ERROR"
        record.msg, record.args = "%s: %s (%s)", (WORDS[kind], cause_in(error), record.getMessage())
        record.exc_info = record.exc_text = None
        return True


def kind_of(error: BaseException | None) -> str | None:
    return next((kind for each in causes(error) if (kind := kind_of_one(each))), None)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    for _each in range(MOST_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def kind_of_one(error: BaseException) -> str | None:
    if isinstance(error, DatabaseError | sqlite3.Error):
        cause = error.__cause__ or error
        name = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
        word = str(name or error)
        return next((kind for kind, words in KINDS.items() if words.match(word)), None)
    return OF_FILES.get(error.errno or 0) if isinstance(error, OSError) else None


def cause_in(error: BaseException | None) -> str:
    said = next((each for each in causes(error) if kind_of_one(each)), None)
    return str(said).partition("\n")[0]


def is_due(kind: str) -> bool:
    now = time.time()
    return take_turn(kind, lambda said_at: not 0 <= now - said_at < EVERY_SECONDS, now)


def goes_away() -> bool:
    """Whether this is news."""
    now = time.time()
    is_news = take_turn(AWAY, lambda said_at: said_at == 0, now)
    _said[AWAY] = now
    return is_news


def come_back(**_signal: object) -> None:
    """A connection was made."""
    if _said.pop(AWAY, 0) and take_turn(AWAY, lambda said_at: said_at != 0, 0):
        log.warning("The database is back.")


def take_turn(kind: str, may: Callable[[float], bool], now: float) -> bool:
    """Whether it is this process that says so: the time of a file, in whole seconds, tells when
    one did. Files were made when there was space, and a time needs none."""
    try:
        descriptor = os.open(place(kind), os.O_RDONLY)
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
    if kind == AWAY and not now:
        return True
    if not may(_said.get(kind, 0)):
        return False
    _said[kind] = now
    return True


def begin() -> None:
    """At a start, nothing is away that anybody was told of."""
    with suppress(OSError):
        place(AWAY).parent.mkdir(mode=0o700, exist_ok=True)
        for kind in WORDS:
            place(kind).touch(mode=0o600)
            os.utime(place(kind), (0, 0))


def place(kind: str) -> Path:
    return Path(settings.DATA_DIR) / "outages" / kind


def advice(error: BaseException) -> str | None:
    """One line for a start that fails; None where the error is none of these."""
    kind = kind_of(error)
    told = {
        FULL: "The disk is full. Free some space on it",
        READ_ONLY: "The disk can't be written to. Mount it for writing, and check who owns it",
        DISK_ERROR: "The disk fails. Check it",
        BUSY: "The database is locked. End the program that uses it",
        DAMAGED: "The database is damaged. Restore a backup in its place, or move it away to begin "
        "with an empty one",
        AWAY: "The database doesn't answer. Check that it runs and that DATABASE_URL is right",
    }
    if kind is None:
        return None
    return (
        f"{told[kind]}, then start Ferry again. DATA_DIR is {settings.DATA_DIR}. {cause_in(error)}"
    )
