"""Cache what was read from the database until the database changes.

SQLite counts the commits of other connections (`data_version`) and the changes of this one
(`total_changes`). Comparing the two numbers takes less than a tenth of the time of a query. No page
is stale: any commit, also of another process, drops everything. Within a transaction, and on
PostgreSQL, which has no such numbers, everything is read each time.
"""

import sqlite3
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from django.db import connection

MOST_VALUES = 500
T = TypeVar("T")


class RowCache(threading.local):
    """The values of one thread, since each connection has its own counters."""

    def __init__(self) -> None:
        self._version: tuple[sqlite3.Connection, int, int] | None = None
        self._values: dict[Hashable, Any] = {}

    def read(self, key: Hashable, load: Callable[[], T]) -> T:
        """Return the value of a key. The caller must not change it."""
        version = current_version()
        if version is None:
            return load()
        if version != self._version or len(self._values) >= MOST_VALUES:
            self._version, self._values = version, {}
        if key not in self._values:
            self._values[key] = load()
        return cast("T", self._values[key])


def current_version() -> tuple[sqlite3.Connection, int, int] | None:
    """Return a value that differs after any change of the database, or None if there is none."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return None
    connection.ensure_connection()
    base = connection.connection
    (commits,) = base.execute("PRAGMA data_version").fetchone()
    return base, commits, base.total_changes


read = RowCache().read
