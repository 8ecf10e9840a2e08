"""One SQLite file shared by all processes of a machine. It may be deleted at any time."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

OPEN_SECONDS, OPEN_STEP_SECONDS = 10, 0.01
LEAST_FREE_BYTES = 16 * 2**20
MOST_IDLE = 4
TURN_SECONDS = 60
TURNS = "CREATE TABLE IF NOT EXISTS turn (key TEXT PRIMARY KEY, until REAL);"


class SharedFile:
    """A cache in SQLite. `facts` names the values that are stored inside a column.

    If another release of Ferry wrote the file, with other tables or facts, the cache starts empty.
    While the disk is full or read-only, each process uses a database in memory instead: pages work
    as usual, and each process asks the service once more.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        facts: Iterable[str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._schema = TURNS + schema
        self._clock = clock
        self._shape = crc32(f"{schema} {' '.join(facts)}".encode()) & 0x7FFFFFFF
        self._is_ready = False
        self._idle: list[sqlite3.Connection] = []
        self._memory: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        if takes_something(self._path.parent):
            self._memory = None
            with self._borrow() as base:
                yield base
        else:
            with self._lock:
                yield self._in_memory()

    @contextmanager
    def transact(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: atomically, and in one process at a time."""
        with self.open() as base, transaction(base):
            yield base

    @contextmanager
    def refresh_lock(self, key: str) -> Iterator[bool]:
        """Yield True to one caller at a time, and False to the others. The lock expires, since its
        process may die."""
        now = self._clock()
        until = now + TURN_SECONDS
        with self.open() as base:
            base.execute("DELETE FROM turn WHERE until < ?", (now,))
            cursor = base.execute("INSERT OR IGNORE INTO turn VALUES (?, ?)", (key, until))
        has_lock = cursor.rowcount == 1
        try:
            yield has_lock
        finally:
            if has_lock:
                # Once it has expired, the lock may be another process's.
                with self.open() as base:
                    base.execute("DELETE FROM turn WHERE key = ? AND until = ?", (key, until))

    @contextmanager
    def _borrow(self) -> Iterator[sqlite3.Connection]:
        """Reuse connections, one use at a time: opening one and closing the last costs 0.3 ms, and
        reading a row 0.005 ms. Close a connection after an exception, since it may be in the middle
        of a transaction. Connections don't survive a fork, so never open one before forking."""
        base = self._idle_or_new()
        try:
            yield base
        except BaseException:
            base.close()
            raise
        if len(self._idle) < MOST_IDLE:
            self._idle.append(base)
        else:
            base.close()

    def _idle_or_new(self) -> sqlite3.Connection:
        with suppress(IndexError):
            return self._idle.pop()
        base = connection_to(str(self._path))
        if not self._is_ready:
            self._prepare(base)
        return base

    def _prepare(self, base: sqlite3.Connection) -> None:
        with self._lock:
            write_ahead(base)
            with transaction(base):
                if base.execute("PRAGMA user_version").fetchone()[0] != self._shape:
                    drop_all(base)
                    base.execute(f"PRAGMA user_version = {self._shape}")
            base.executescript(self._schema)
            self._is_ready = True

    def _in_memory(self) -> sqlite3.Connection:
        if self._memory is None:
            self._memory = connection_to(":memory:")
            self._memory.executescript(self._schema)
        return self._memory


def takes_something(folder: Path) -> bool:
    """Check the disk beforehand, since SQLite might fail in the middle of a transaction."""
    facts = os.statvfs(folder)
    is_read_only = bool(facts.f_flag & os.ST_RDONLY)
    return not is_read_only and facts.f_bavail * facts.f_frsize >= LEAST_FREE_BYTES


def connection_to(place: str) -> sqlite3.Connection:
    """Open a connection that any thread may use, one at a time."""
    base = sqlite3.connect(place, timeout=10, isolation_level=None, check_same_thread=False)
    base.row_factory = sqlite3.Row
    base.execute("PRAGMA synchronous=OFF")
    return base


def write_ahead(base: sqlite3.Connection) -> None:
    """Switch to WAL, with retries: if several processes open a new file at once, SQLite refuses one
    of them without waiting."""
    deadline = time.monotonic() + OPEN_SECONDS
    while True:
        try:
            base.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(OPEN_STEP_SECONDS)
        else:
            return


@contextmanager
def transaction(base: sqlite3.Connection) -> Iterator[None]:
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        base.execute("ROLLBACK")
        raise
    base.execute("COMMIT")


def drop_all(base: sqlite3.Connection) -> None:
    tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in tables:
        base.execute(f"DROP TABLE {name}")
