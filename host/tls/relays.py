"""Decrypt https for the web server, which goes on to use plain sockets.

It waits for requests with MSG_PEEK and SO_RCVLOWAT, and sends files with sendfile and splice, which
encrypted sockets can't do. So each https client gets a pair of loopback sockets: the web server
uses one end in place of the client's socket, with all of its limits, and one thread of the process
moves bytes between the other end and the client.
"""

import os
import select
import selectors
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from host.tls.context import ServerContext

PIECE_BYTES = 256 * 1024
# How many pieces one client may send or receive before others have their turn.
TURN_PIECES = 4
# What each socket may hold, so that the web server notices a client that reads slowly or nothing.
QUEUED_BYTES = 128 * 1024
PAIR_SECONDS = 1
LEAVE_SECONDS = 2
SWEEP_SECONDS = 1
PLAIN = (
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 58\r\n\r\nThis port speaks https. Begin the address with https://.\r\n"
)

Wait = tuple[socket.socket, int]
Steps = Generator[Wait | None, None, Any]


class Relay:
    """A client's encrypted socket and its plain counterpart, with a task for each direction."""

    def __init__(self, client: ssl.SSLSocket, plain: socket.socket) -> None:
        self.client, self.plain = client, plain
        self.tasks: dict[Steps, Wait | None] = {self._receive(): None, self._send(): None}
        self.watched: dict[socket.socket, int] = {}
        self.moved_at = time.monotonic()
        self.left_at = float("inf")

    def run(self, sock: socket.socket | None = None, events: int = 0) -> bool:
        """Go on with tasks that wait for a socket, or for their turn. Return whether any still
        wants a turn. Raise OSError once the relay is over."""
        for task, wait in list(self.tasks.items()):
            if wait is None or (wait[0] is sock and wait[1] & events):
                try:
                    self.tasks[task] = next(task)
                except StopIteration:
                    del self.tasks[task]
        if not self.tasks:
            raise ConnectionError
        return None in self.tasks.values()

    def waits(self) -> dict[socket.socket, int]:
        events: dict[socket.socket, int] = {}
        for sock, event in filter(None, self.tasks.values()):
            events[sock] = events.get(sock, 0) | event
        return events

    def is_late(self, now: float, stalled_seconds: float) -> bool:
        """Return whether the client takes nothing, or doesn't close although we did."""
        is_stuck = (self.client, selectors.EVENT_WRITE) in self.tasks.values()
        is_stalled = is_stuck and now > self.moved_at + stalled_seconds
        return is_stalled or now > self.left_at + LEAVE_SECONDS

    def has_ended(self) -> bool:
        """Return whether the web server has closed its end, and counts the connection no more."""
        poll = select.poll()
        poll.register(self.plain, select.POLLRDHUP)
        return bool(poll.poll(0))

    def close(self) -> None:
        self.client.close()
        self.plain.close()

    def _receive(self) -> Steps:
        try:
            yield from self._attempt(self.client.do_handshake)
        except ssl.SSLError as refusal:
            if refusal.reason == "HTTP_REQUEST":
                socket.socket.send(self.client, PLAIN)
            raise
        yield from self._copy(self.client, self.plain)
        with suppress(OSError):  # The web server has closed its end; its response goes on.
            self.plain.shutdown(socket.SHUT_WR)

    def _send(self) -> Steps:
        yield from self._copy(self.plain, self.client)
        with suppress(OSError, ValueError):
            self.client.unwrap()
        socket.socket.shutdown(self.client, socket.SHUT_WR)
        self.left_at = time.monotonic()

    def _copy(self, source: socket.socket, target: socket.socket) -> Steps:
        pieces = 0
        while piece := (yield from self._attempt(source.recv, PIECE_BYTES)):
            rest = memoryview(piece)
            while rest:
                rest = rest[(yield from self._attempt(target.send, rest)) :]
                self.moved_at = time.monotonic()
            pieces += 1
            if pieces % TURN_PIECES == 0:
                yield None

    def _attempt(self, action: Callable[..., Any], *arguments: Any) -> Steps:
        plain_event = selectors.EVENT_READ if action == self.plain.recv else selectors.EVENT_WRITE
        while True:
            try:
                return action(*arguments)
            except ssl.SSLWantReadError:
                yield self.client, selectors.EVENT_READ
            except ssl.SSLWantWriteError:
                yield self.client, selectors.EVENT_WRITE
            except BlockingIOError:
                yield self.plain, plain_event


class Relays:
    """The thread that runs all relays of a process. Make this after the fork."""

    def __init__(self, most: int, stalled_seconds: float) -> None:
        # The web server cuts and logs a stalled client first, as long as it has more to send.
        self._most, self._stalled_seconds = most, stalled_seconds + LEAVE_SECONDS
        self._context = ServerContext()
        self._new: SimpleQueue[tuple[socket.socket, socket.socket]] = SimpleQueue()
        self._relays: dict[Relay, None] = {}
        self._turns: deque[Relay] = deque()
        self._selector = selectors.DefaultSelector()
        self._outlet, self._inlet = os.pipe()
        os.set_blocking(self._inlet, False)
        self._selector.register(self._outlet, selectors.EVENT_READ)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUED_BYTES)
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="tls", daemon=True)
        self._thread.start()

    def plain_socket_of(self, client: socket.socket) -> socket.socket:
        """Return a socket that speaks for the client in plain text."""
        try:
            ours, theirs = make_pair(self._listener)
        except OSError:
            client.close()
            raise
        self._new.put((client, theirs))
        self._wake()
        return ours

    def finish(self, seconds: float) -> None:
        """Let clients take what the web server has sent them, within this time."""
        self._is_stopping = True
        self._wake()
        self._thread.join(seconds)
        self._listener.close()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # A full pipe wakes it, too.
            os.write(self._inlet, b"\0")

    def _run(self) -> None:
        sweep_at = 0.0
        while not (self._is_stopping and not self._relays and self._new.empty()):
            timeout = 0 if self._turns else SWEEP_SECONDS if self._relays else None
            events = self._selector.select(timeout)
            for key, mask in events:
                if key.data is None:
                    os.read(self._outlet, 4096)
                else:
                    self._go_on(key.data, key.fileobj, mask)
            for _each in range(len(self._turns)):
                self._go_on(self._turns.popleft())
            while not self._new.empty():
                self._begin(*self._new.get())
            if time.monotonic() >= sweep_at:
                self._sweep()
                sweep_at = time.monotonic() + SWEEP_SECONDS

    def _begin(self, client: socket.socket, plain: socket.socket) -> None:
        plain.setblocking(False)
        client.setblocking(False)
        try:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, QUEUED_BYTES)
            wrapped = self._context.get().wrap_socket(
                client, server_side=True, do_handshake_on_connect=False
            )
        except (OSError, ValueError):
            client.close()
            plain.close()
            return
        if len(self._relays) >= self._most:
            self._end_uncounted()
        relay = Relay(wrapped, plain)
        self._relays[relay] = None
        self._go_on(relay)

    def _go_on(self, relay: Relay, sock: Any = None, events: int = 0) -> None:
        if relay not in self._relays:
            return
        try:
            if relay.run(sock, events) and relay not in self._turns:
                self._turns.append(relay)
            self._watch(relay)
        except (OSError, ValueError):
            self._end(relay)

    def _watch(self, relay: Relay) -> None:
        waits = relay.waits()
        for sock in relay.watched.keys() - waits.keys():
            self._selector.unregister(sock)
        for sock, events in waits.items():
            if sock not in relay.watched:
                self._selector.register(sock, events, relay)
            elif relay.watched[sock] != events:
                self._selector.modify(sock, events, relay)
        relay.watched = waits

    def _sweep(self) -> None:
        now = time.monotonic()
        for relay in list(self._relays):
            if relay.is_late(now, self._stalled_seconds):
                self._end(relay)

    def _end_uncounted(self) -> None:
        """End the oldest relay that the web server's limits no longer count, if there is one."""
        for relay in self._relays:
            if relay.has_ended():
                self._end(relay)
                return

    def _end(self, relay: Relay) -> None:
        del self._relays[relay]
        for sock in relay.watched:
            self._selector.unregister(sock)
        relay.close()


def make_pair(listener: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets: unlike Unix sockets, those of TCP heed SO_RCVLOWAT."""
    ours = socket.socket()
    try:
        ours.settimeout(PAIR_SECONDS)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, QUEUED_BYTES)
        ours.connect(listener.getsockname())
        listener.settimeout(PAIR_SECONDS)
        theirs, address = listener.accept()
        while address != ours.getsockname():  # Another program on this machine connected.
            theirs.close()
            theirs, address = listener.accept()
    except OSError:
        ours.close()
        raise
    for each in (ours, theirs):
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ours, theirs
