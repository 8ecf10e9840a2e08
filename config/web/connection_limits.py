"""Share a port among web processes, and their threads among clients."""

import errno
import logging
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.workers.gthread import (  # type: ignore[import-untyped]
    STOP_KEEPALIVE_LINGER,
    ThreadWorker,
)

from config.web.connections import ClientConnection
from config.web.slots import HEALTH_SLOTS, ConnectionSlots, Visitor, VisitorKind, quarter

log = logging.getLogger("ferry.connections")

SECONDS_FOR_EACH = 0.0001
FEW = 16
# How long the next request head may take to be complete, whether it has begun or not.
HEAD_SECONDS = 15
# How long a request waits for a free thread; then it gets a 503.
WAIT_SECONDS = 30
# How long the client may take to close, and how much it may still send; gunicorn's own limits.
LEAVE_SECONDS = 2
LEAVE_BYTES = 64 * 1024
REST_SECONDS = 1
LOG_SECONDS = 60
FREED_AT_ONCE = 15
NOBODY_THERE = (errno.EAGAIN, errno.ECONNABORTED)
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

Quiet = dict[ClientConnection, None]
"""Connections without a thread, in the order of their deadlines."""


class SharingWorker(ThreadWorker):  # type: ignore[misc]
    """A gunicorn worker that lets processes with fewer connections accept first.

    All processes wait on the same socket, and one that is awake takes whatever comes: of two, one
    had all eight connections of a client in every other run, and a core stood idle. With many
    connections, chance distributes them as well, so a crowd isn't delayed.

    A connection takes a thread when the head of a request is complete and `ConnectionSlots` has a
    slot for its visitor. Until then, and while the client closes, it costs a descriptor. If one
    network has too many connections, or all together, the one that was idle longest is closed.
    """

    def init_process(self) -> None:
        # gunicorn imports this module before the site is loaded; by now it is.
        self._visitors = import_module("config.web.visitors")
        self._slots = ConnectionSlots(self.cfg.threads)
        self._reading: Quiet = {}
        self._waiting: Quiet = {}
        self._leaving: Quiet = {}
        self._by_peer: Counter[str] = Counter()
        self._sessions = self._visitors.Sessions()
        self._lookups = ThreadPoolExecutor(1, thread_name_prefix="sessions")
        self._accept_at = self._log_at = 0.0
        super().init_process()

    def get_thread_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.cfg.threads + HEALTH_SLOTS)

    # Accepting

    def set_accept_enabled(self, enabled: bool) -> None:  # noqa: FBT001  As gunicorn calls it.
        super().set_accept_enabled(enabled and time.monotonic() >= self._accept_at)

    def accept(self, listener: socket.socket) -> None:
        time.sleep(seconds_for_others(self.nr_conns))
        try:
            sock, client = listener.accept()
        except OSError as trouble:
            if trouble.errno not in NOBODY_THERE:
                self._bear_with(trouble)
            return
        conn = ClientConnection(self.cfg, sock, client, listener.getsockname())
        conn.network = self._visitors.network_of_peer(conn.peer)
        self.nr_conns += 1
        self._by_peer[conn.network] += 1
        if self._has_place(conn):
            self._await_head(conn)
        else:
            self._end(conn)

    def _bear_with(self, trouble: OSError) -> None:
        """Handle a failed accept, most likely for lack of descriptors.

        Close a few idle connections, for the next one and for files that requests open. If none is
        idle, new clients wait until something has ended.
        """
        is_helped = trouble.errno in EXHAUSTED and self._end_one_of(self._idle())
        for _ in range(FREED_AT_ONCE if is_helped else 0):
            self._end_one_of(self._idle())
        if not is_helped:
            self._accept_at = time.monotonic() + REST_SECONDS
            self.set_accept_enabled(False)
        if time.monotonic() >= self._log_at:
            self._log_at = time.monotonic() + LOG_SECONDS
            log.error("a connection can't be accepted: %s", trouble.strerror)

    def _has_place(self, conn: ClientConnection) -> bool:
        """Return whether there is room for a connection; close an idle one if there isn't."""
        if conn.network and self._by_peer[conn.network] > quarter(self.worker_connections):
            idle = (each for each in self._idle() if each.network == conn.network)
            return self._end_one_of(idle)
        return self.nr_conns < self.worker_connections or self._end_one_of(self._idle())

    def _idle(self) -> Iterator[ClientConnection]:
        yield from self._leaving
        yield from self._reading
        yield from (each for each in self._waiting if each.visitor.kind is VisitorKind.STRANGER)

    def _end_one_of(self, connections: Iterator[ClientConnection]) -> bool:
        conn = next(connections, None)
        if conn is None:
            return False
        self._end(conn)
        return True

    # The head

    def _await_head(self, conn: ClientConnection) -> None:
        conn.sock.setblocking(False)
        seconds = HEAD_SECONDS if self.alive else STOP_KEEPALIVE_LINGER
        conn.deadline = time.monotonic() + seconds
        self._reading[conn] = None
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_head, conn))

    def _on_head(self, conn: ClientConnection, _sock: socket.socket) -> None:
        if conn not in self._reading:
            return  # It was closed a moment ago to make room for another connection.
        is_first = not conn.head
        try:
            is_whole = conn.receive()
        except ConnectionError:
            self._end(conn)
            return
        if is_whole:
            self._forget(conn)
            self._admit(conn)
        elif is_first and self.alive:
            # A head that begins only now has the full time.
            conn.deadline = time.monotonic() + HEAD_SECONDS
            self._reading[conn] = self._reading.pop(conn)

    def _admit(self, conn: ClientConnection) -> None:
        caller = self._visitors.caller_of(bytes(conn.head), conn.peer)
        conn.hand_over()
        conn.visitor = caller.visitor
        is_known = self._sessions.get(caller.session_key) if caller.session_key else False
        if is_known is None:
            looked_up = self._lookups.submit(self._visitors.look_up, caller.session_key)
            tell = partial(self.method_queue.defer, self._finish_lookup, conn, caller.session_key)
            looked_up.add_done_callback(tell)
        else:
            self._begin_as(conn, is_signed_in=is_known)

    def _finish_lookup(
        self, conn: ClientConnection, session_key: str, looked_up: "Future[bool]"
    ) -> None:
        """Begin a request whose session was looked up. After an error, the next one tries again."""
        is_anybodys = not looked_up.cancelled() and looked_up.exception() is None
        if is_anybodys:
            is_anybodys = looked_up.result()
            self._sessions.remember(session_key, is_anybodys=is_anybodys)
        self._begin_as(conn, is_signed_in=is_anybodys)

    def _begin_as(self, conn: ClientConnection, *, is_signed_in: bool) -> None:
        if is_signed_in:
            conn.visitor = Visitor(conn.visitor.network, VisitorKind.SIGNED_IN)
        if not self._begin(conn):
            conn.deadline = time.monotonic() + WAIT_SECONDS
            self._waiting[conn] = None

    def _begin(self, conn: ClientConnection) -> bool:
        conn.claim = self._slots.take(conn.visitor)
        if conn.claim is None:
            return False
        self._waiting.pop(conn, None)
        self.enqueue_req(conn)
        return True

    # The end

    def finish_request(self, conn: ClientConnection, fs: "Future[bool]") -> None:
        self._slots.give_back(conn.claim or {})
        stays = not fs.cancelled() and fs.exception() is None and fs.result()
        if not stays:
            self._leave(conn)
        else:
            conn.take_back()
            if conn.has_head():
                self._admit(conn)
            else:
                self._await_head(conn)
        self._begin_waiting()

    def _begin_waiting(self) -> None:
        without: set[Visitor] = set()
        for conn in list(self._waiting):
            if conn.visitor not in without and not self._begin(conn):
                without.add(conn.visitor)

    def _leave(self, conn: ClientConnection) -> None:
        """Give the client time to read the response and close.

        If we close before its bytes are read, the connection is reset. gunicorn waits for that in
        a thread.
        """
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
        except OSError:
            self._end(conn)
            return
        conn.deadline = time.monotonic() + LEAVE_SECONDS
        self._leaving[conn] = None
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_rest, conn))

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
        util.close(conn.sock)

    def _forget(self, conn: ClientConnection) -> None:
        self._reading.pop(conn, None)
        self._leaving.pop(conn, None)
        with suppress(KeyError, ValueError):
            self.poller.unregister(conn.sock)

    # Called by gunicorn regularly

    def murder_keepalived(self, force: bool = False) -> None:  # noqa: FBT001, FBT002  As gunicorn calls it.
        now = float("inf") if force else time.monotonic()
        for conn in overdue(self._reading, now) + overdue(self._leaving, now):
            self._end(conn)
        for conn in overdue(self._waiting, now):
            with suppress(OSError):
                util.write_error(conn.sock, 503, "Service Unavailable", "")
            self._waiting.pop(conn)
            self._leave(conn)

    def _cap_keepalive(self, deadline: float) -> None:
        for conn in self._reading:
            conn.deadline = min(conn.deadline, deadline)


def seconds_for_others(connections: int) -> float:
    return connections * SECONDS_FOR_EACH if connections < FEW else 0


def overdue(connections: Quiet, now: float) -> list[ClientConnection]:
    late = []
    for conn in connections:
        if conn.deadline > now:
            break
        late.append(conn)
    return late
