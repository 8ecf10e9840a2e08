"""One SQLite file for all processes of a machine; it may be thrown away at any time."""

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from zlib import crc32

OPEN_SECONDS, OPEN_STEP_SECONDS = 10, 0.01


class SharedFile:
    """`facts` names what is kept within a column. A file of another release of Ferry, with other
    tables or other facts, begins anew: what it knew is asked for again."""

    def __init__(self, path: Path, schema: str, facts: Iterable[str]) -> None:
        self._path = path
        self._schema = schema
        self._shape = crc32(f"{schema} {' '.join(facts)}".encode()) & 0x7FFFFFFF
        self._is_ready = False
        self._lock = threading.Lock()

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """A connection for each use: none survives a fork, and opening one costs 0.1 ms."""
        with closing(sqlite3.connect(self._path, timeout=10, isolation_level=None)) as base:
            base.row_factory = sqlite3.Row
            base.execute("PRAGMA synchronous=OFF")
            if not self._is_ready:
                self._prepare(base)
            yield base

    @contextmanager
    def changed(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing, one process at a time."""
        with self.opened() as base, transaction(base):
            yield base

    def _prepare(self, base: sqlite3.Connection) -> None:
        with self._lock:
            write_ahead(base)
            with transaction(base):
                if base.execute("PRAGMA user_version").fetchone()[0] != self._shape:
                    drop_all(base)
                    base.execute(f"PRAGMA user_version = {self._shape}")
            base.executescript(self._schema)
            self._is_ready = True


def write_ahead(base: sqlite3.Connection) -> None:
    """SQLite waits for no lock here: of processes that open a new file at once, one is refused."""
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
