"""Classify failures of disks and databases, for responses, pages, and logs."""

import errno
import re
import sqlite3
from enum import StrEnum

from django.db.utils import Error as DatabaseError


class Outage(StrEnum):
    DISK_FULL = "disk_full"
    READ_ONLY = "disk_read_only"
    DISK_ERROR = "disk_error"
    DAMAGED = "database_damaged"
    BUSY = "database_busy"
    CROWDED = "database_crowded"
    AWAY = "database_away"


# Error names of SQLite, SQLSTATEs of PostgreSQL, and the messages of both if there is no name.
OF_DATABASES = {
    Outage.DISK_FULL: re.compile("SQLITE_FULL|53100|.*disk is full"),
    Outage.READ_ONLY: re.compile("SQLITE_READONLY|25006|.*readonly database"),
    Outage.DISK_ERROR: re.compile("SQLITE_IOERR|58030|.*disk I/O error"),
    Outage.DAMAGED: re.compile("SQLITE_(CORRUPT|NOTADB)|XX00[12]|.*(malformed|not a database)"),
    Outage.BUSY: re.compile("SQLITE_(BUSY|LOCKED)|40001|40P01|55P03|.*(locked|busy)"),
    Outage.CROWDED: re.compile(
        "53300|.*(too many (clients|connections)|remaining connection slots|connections of this "
        "process are in use)"
    ),
    Outage.AWAY: re.compile(
        "SQLITE_CANTOPEN|08|57P0|.*(unable to open|could not connect|connection (failed|refused|"
        "is bad|is closed|already closed|is lost|timeout expired)|connection attempts failed|"
        "failed to resolve|closed the connection|(consuming input|flushing) failed)"
    ),
}
OF_FILES = {
    errno.ENOSPC: Outage.DISK_FULL,
    errno.EDQUOT: Outage.DISK_FULL,
    errno.EROFS: Outage.READ_ONLY,
    errno.EIO: Outage.DISK_ERROR,
}


def outage_of(error: BaseException) -> Outage | None:
    if isinstance(error, DatabaseError | sqlite3.Error):
        cause = error.__cause__ or error
        name = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
        word = str(name or error)
        return next((kind for kind, words in OF_DATABASES.items() if words.match(word)), None)
    return OF_FILES.get(error.errno or 0) if isinstance(error, OSError) else None


def may_be_committed(error: BaseException) -> bool:
    """Return whether a transaction that failed so may be committed all the same.

    A server that goes away during a commit may have written it, and only the answer is lost.
    """
    return outage_of(error) is Outage.AWAY
