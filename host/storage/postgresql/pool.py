"""Share a bounded number of connections to PostgreSQL among the threads of a process."""

import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from psycopg import Connection as AnyConnection
from psycopg import OperationalError
from psycopg.pq import TransactionStatus

Connection = AnyConnection[Any]

# As long as a request waits for a thread.
WAIT_SECONDS = 30
MOST_IDLE_SECONDS = 60


class ConnectionPool:
    """A pool with the methods that Django calls.

    A thread that finds no idle connection opens one itself, so it learns at once why it can't, and
    while the server is away each request fails at once. The pool detects idle connections that the
    server has closed without querying the server.

    Rejected: psycopg_pool, whose own threads connect. While the server is away, each request waits
    until its timeout and fails without the cause, and after a restart it discovers each dead
    connection separately. A shorter timeout would fail requests that only wait for a busy server.
    """

    def __init__(self, connect: Callable[[], Connection], most: int) -> None:
        self._connect = connect
        self._most = most
        self._turns = threading.BoundedSemaphore(most)
        self._idle: list[tuple[float, Connection]] = []  # the one used last comes last

    def open(self) -> None:
        """Do nothing: Django calls this before each `getconn`."""

    def getconn(self) -> Connection:
        """Take a connection. Raises OperationalError."""
        if not self._turns.acquire(timeout=WAIT_SECONDS):
            raise OperationalError(f"all {self._most} connections of this process are in use")
        try:
            connection = self._take_idle() or self._connect()
        except BaseException:
            self._turns.release()
            raise
        connection._pool = self  # noqa: SLF001  Django gives it back there.
        return connection

    def putconn(self, connection: Connection) -> None:
        now = time.monotonic()
        if connection.info.transaction_status == TransactionStatus.IDLE:
            self._idle.append((now, connection))
        else:
            connection.close()
        self._turns.release()
        self._close_idle(until=now - MOST_IDLE_SECONDS)

    def close(self) -> None:
        self._close_idle(until=float("inf"))

    def _take_idle(self) -> Connection | None:
        with suppress(IndexError):
            _since, connection = self._idle.pop()
            if is_alive(connection):
                return connection
            # The server has restarted, so the others are dead as well.
            connection.close()
            self.close()
        return None

    def _close_idle(self, until: float) -> None:
        with suppress(IndexError):
            while self._idle[0][0] < until:
                self._idle.pop(0)[1].close()


def is_alive(connection: Connection) -> bool:
    """Return whether the server has neither closed the connection nor sent a farewell."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)
