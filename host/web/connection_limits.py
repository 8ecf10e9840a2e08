"""Share a port among web processes, and their threads among clients."""

import errno
import logging
import selectors
import socket
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER  # type: ignore[import-untyped]

from config import settings
from host.tls import listening
from host.tls.context import ServerContext
from host.web.answers import PARKED
from host.web.connections import ClientConnection
from host.web.idle_connections import IdleWorker, overdue
from host.web.visitor_limits import HEALTH_SLOTS, ConnectionSlots, Visitor, VisitorKind, quarter

log = logging.getLogger("ferry.connections")

SECONDS_FOR_EACH = 0.0001
FEW = 16
# How long the head of the next request may take to arrive, and after it the beginning of the body.
# By then, a thread judges the body by what has arrived.
ARRIVAL_SECONDS = 15
# How long a request waits for a free thread; then it gets a 503.
WAIT_SECONDS = 30
REST_SECONDS = 1
LOG_SECONDS = 60
FREED_AT_ONCE = 15
NOBODY_THERE = (errno.EAGAIN, errno.ECONNABORTED)
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class SharingWorker(IdleWorker):
    """A gunicorn worker that lets processes with fewer connections accept first.

    All processes wait on the same socket, and a process that is awake accepts everything. In every
    other run with two processes, one got all eight connections of a client, and a core stood idle.
    With many connections, chance distributes them as well, so a crowd isn't delayed.

    A connection takes a thread when a request has arrived and `ConnectionSlots` has a slot for its
    visitor. Until then, while the client takes nothing of a response, and while it closes, it costs
    a descriptor. If one network has too many connections, or all together, the one that was idle
    longest is closed.
    """

    def init_process(self) -> None:
        # gunicorn imports this module before the site is loaded; by now it is.
        self._visitors = import_module("host.web.visitors")
        self._slots = ConnectionSlots(self.cfg.threads)
        self._sessions = self._visitors.Sessions()
        self._lookups = ThreadPoolExecutor(1, thread_name_prefix="sessions")
        self._accept_at = self._log_at = 0.0
        self._https = ServerContext()
        super().init_process()

    def get_thread_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.cfg.threads + HEALTH_SLOTS)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    # Accepting

    def set_accept_enabled(self, enabled: bool) -> None:  # noqa: FBT001  As gunicorn calls it.
        super().set_accept_enabled(enabled and time.monotonic() >= self._accept_at)

    def accept(self, listener: socket.socket) -> None:
        time.sleep(seconds_for_others(self.nr_conns))
        try:
            sock, client = listener.accept()
            server = listener.getsockname()
        except OSError as trouble:
            if trouble.errno not in NOBODY_THERE:
                self._handle_accept_error(trouble)
            return
        is_https = server[1] == listening.https_port()
        reader = self._https.wrap(sock) if is_https else sock
        if reader is not None:
            self._welcome(ClientConnection(self.cfg, reader, client, server))

    def _welcome(self, conn: ClientConnection) -> None:
        conn.network = self._visitors.network_of_peer(conn.peer)
        self.nr_conns += 1
        self._by_peer[conn.network] += 1
        if self._make_room(conn):
            self._await_request(conn)
        else:
            self._end(conn)

    def _handle_accept_error(self, trouble: OSError) -> None:
        """Handle a failed accept, most likely for lack of descriptors.

        Close a few idle connections, for the next one and for files that requests open. If none is
        idle, new clients wait until another connection ends.
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

    def _make_room(self, conn: ClientConnection) -> bool:
        """Close an idle connection if this one is too many; return whether it may stay."""
        if conn.network and self._by_peer[conn.network] > quarter(self.worker_connections):
            return self._end_one_of(self._idle(conn.network))
        return self.nr_conns < self.worker_connections or self._end_one_of(self._idle())

    # The request

    def _await_request(self, conn: ClientConnection) -> None:
        seconds = ARRIVAL_SECONDS if self.alive else STOP_KEEPALIVE_LINGER
        conn.deadline = time.monotonic() + seconds
        self._reading[conn] = None
        self._watch(conn, conn.sock, selectors.EVENT_READ, self._on_bytes)

    def _on_bytes(self, conn: ClientConnection, _sock: socket.socket) -> None:
        if conn not in self._reading:
            return  # It was closed a moment ago to make room for another connection.
        before = bool(conn.head), conn.has_head
        try:
            is_here = conn.receive()
        except ConnectionError:
            self._end(conn)
            return
        if is_here:
            self._forget(conn)
            self._admit(conn)
        elif before != (bool(conn.head), conn.has_head) and self.alive:
            # A head that begins only now has the full time, and so has a body; no handshake has.
            conn.deadline = time.monotonic() + ARRIVAL_SECONDS
            self._reading[conn] = self._reading.pop(conn)

    def _admit(self, conn: ClientConnection) -> None:
        caller = self._visitors.caller_of(bytes(conn.head), conn.peer)
        conn.hand_over()
        conn.visitor = caller.visitor
        is_known = self._sessions.get(caller.session_key) if caller.session_key else False
        if is_known is None:
            looked_up = self._lookups.submit(self._visitors.is_signed_in, caller.session_key)
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
        self._begin_or_wait(conn)

    def _begin_or_wait(self, conn: ClientConnection) -> None:
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

    # The response

    def finish_request(self, conn: ClientConnection, fs: "Future[object]") -> None:
        self._slots.give_back(conn.claim or {})
        outcome = not fs.cancelled() and fs.exception() is None and fs.result()
        if outcome is PARKED:
            self._park(conn)
        elif not outcome:
            self._leave(conn)
        else:
            self._take_back(conn)
        self._begin_waiting()

    def _park(self, conn: ClientConnection) -> None:
        conn.deadline = time.monotonic() + settings.STALLED_SECONDS
        self._parked[conn] = None
        self._watch(conn, *conn.wait, self._on_ready)

    def _on_ready(self, conn: ClientConnection, _sock: socket.socket) -> None:
        if conn in self._parked:
            self._forget(conn)
            self._begin_or_wait(conn)

    def _take_back(self, conn: ClientConnection) -> None:
        conn.take_back()
        if conn.has_request():
            self._admit(conn)
        else:
            self._await_request(conn)

    def _begin_waiting(self) -> None:
        without: set[Visitor] = set()
        for conn in list(self._waiting):
            if conn.visitor not in without and not self._begin(conn):
                without.add(conn.visitor)

    # Called by gunicorn regularly

    def murder_keepalived(self, force: bool = False) -> None:  # noqa: FBT001, FBT002  As gunicorn calls it.
        now = float("inf") if force else time.monotonic()
        for conn in overdue(self._reading, now):
            if conn.has_head and not force:
                self._forget(conn)
                conn.source.is_late = True
                self._admit(conn)
            else:
                self._end(conn)
        for conn in overdue(self._leaving, now):
            self._end(conn)
        for conn in overdue(self._parked, now):
            if not force:
                other = "client" if conn.wait[0] is conn.sock else "service"
                self.log.error("The %s stalled.", other, exc_info=TimeoutError())
            self._end(conn)
        for conn in overdue(self._waiting, now):
            if conn.answer is None:
                self._waiting.pop(conn)
                with suppress(OSError):
                    util.write_error(conn.sock, 503, "Service Unavailable", "")
                self._leave(conn)
            elif force:
                self._end(conn)

    def _cap_keepalive(self, deadline: float) -> None:
        for conn in self._reading:
            conn.deadline = min(conn.deadline, deadline)


def seconds_for_others(connections: int) -> float:
    return connections * SECONDS_FOR_EACH if connections < FEW else 0
