"""Connections of a web process that need no thread now."""

import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain

from gunicorn import util  # type: ignore[import-untyped]

from host.web.answers import AnsweringWorker
from host.web.connections import ClientConnection
from host.web.visitor_limits import VisitorKind

# How long the client may take to close, and how much it may still send; gunicorn's own limits.
LEAVE_SECONDS = 2
LEAVE_BYTES = 64 * 1024

Quiet = dict[ClientConnection, None]
"""Connections without a thread, in the order of their deadlines."""


class IdleWorker(AnsweringWorker):
    """A gunicorn worker whose connections cost a descriptor while they wait.

    They wait for a request, for a free thread, for a client to take more of a response, and for a
    client to close.
    """

    def init_process(self) -> None:
        self._reading: Quiet = {}
        self._waiting: Quiet = {}
        self._parked: Quiet = {}
        self._leaving: Quiet = {}
        self._by_peer: Counter[str] = Counter()
        super().init_process()

    def _idle(self, network: str | None = None) -> Iterator[ClientConnection]:
        """Return what may be closed, of one network or of all."""
        begun = chain(self._waiting, self._parked)
        groups = [
            [each for each in group if network is None or each.network == network]
            for group in (self._leaving, self._reading, begun)
        ]
        return least_needed_first(*groups)

    def _end_one_of(self, connections: Iterator[ClientConnection]) -> bool:
        conn = next(connections, None)
        if conn is None:
            return False
        self._end(conn)
        return True

    def _leave(self, conn: ClientConnection) -> None:
        """Give the client time to read the response and close.

        If we close before its bytes are read, the connection is reset. gunicorn waits for that in
        a thread.
        """
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._end(conn)
            return
        conn.deadline = time.monotonic() + LEAVE_SECONDS
        self._leaving[conn] = None
        self._watch(conn, conn.sock, selectors.EVENT_READ, self._on_rest)

    def _on_rest(self, conn: ClientConnection, _sock: socket.socket) -> None:
        if conn not in self._leaving:
            return
        try:
            is_over = conn.drop_rest() >= LEAVE_BYTES
        except ConnectionError:
            is_over = True
        if is_over:
            self._end(conn)

    def _end(self, conn: ClientConnection) -> None:
        self._forget(conn)
        self._waiting.pop(conn, None)
        self.nr_conns -= 1
        self._by_peer[conn.network] -= 1
        if not self._by_peer[conn.network]:
            del self._by_peer[conn.network]
        if conn.answer is not None:
            with suppress(OSError):
                conn.answer.close()
        util.close(conn.sock)

    def _watch(
        self,
        conn: ClientConnection,
        sock: socket.socket,
        event: int,
        react: Callable[[ClientConnection, socket.socket], None],
    ) -> None:
        conn.watched = sock
        self.poller.register(sock, event, partial(react, conn))

    def _forget(self, conn: ClientConnection) -> None:
        for connections in (self._reading, self._parked, self._leaving):
            connections.pop(conn, None)
        with suppress(KeyError, ValueError):
            self.poller.unregister(conn.watched)


def least_needed_first(
    leaving: list[ClientConnection],
    reading: list[ClientConnection],
    begun: list[ClientConnection],
) -> Iterator[ClientConnection]:
    """Order connections, the least needed first, without responses to signed-in people.

    Connections without a whole request and responses to strangers are two groups. The larger group
    comes first, so that neither can push out the other.
    """
    strangers = [each for each in begun if each.visitor.kind is VisitorKind.STRANGER]
    return chain(leaving, *sorted((reading, strangers), key=len, reverse=True))


def overdue(connections: Quiet, now: float) -> list[ClientConnection]:
    late = []
    for conn in connections:
        if conn.deadline > now:
            break
        late.append(conn)
    return late
