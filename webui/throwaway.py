"""SQLite files that all processes of one machine share, and that may be lost."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

OPEN_SECONDS, OPEN_STEP_SECONDS = 10, 0.01
LEAST_FREE_BYTES = 16 * 2**20


class Throwaway:
    """A connection for each use: none survives a fork, and opening one costs 0.1 ms.

    While the disk takes nothing, being full or read-only, each process has a store of its own in
    memory instead: pages are shown as ever, and the service is asked once more for them.
    """

    def __init__(self, path: Path, prepare: Callable[[sqlite3.Connection], object]) -> None:
        self._path = path
        self._prepare = prepare
        self._is_ready = False
        self._memory: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        if takes_something(self._path.parent):
            self._memory = None
            with closing(connection_to(str(self._path))) as base:
                if not self._is_ready:
                    self._make_ready(base)
                yield base
        else:
            with self._lock:
                yield self._in_memory()

    def _make_ready(self, base: sqlite3.Connection) -> None:
        with self._lock:
            write_ahead(base)
            self._prepare(base)
            self._is_ready = True

    def _in_memory(self) -> sqlite3.Connection:
        if self._memory is None:
            self._memory = connection_to(":memory:")
            self._prepare(self._memory)
        return self._memory


def takes_something(folder: Path) -> bool:
    """Asked beforehand: where SQLite finds out itself, it may be in the middle of something."""
    facts = os.statvfs(folder)
    is_read_only = bool(facts.f_flag & os.ST_RDONLY)
    return not is_read_only and facts.f_bavail * facts.f_frsize >= LEAST_FREE_BYTES


def connection_to(place: str) -> sqlite3.Connection:
    """Whoever opens it closes it; that of the memory stays, and is used by one at a time."""
    base = sqlite3.connect(place, timeout=10, isolation_level=None, check_same_thread=False)
    base.row_factory = sqlite3.Row
    base.execute("PRAGMA synchronous=OFF")
    return base


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
