"""A connection of the web server that takes no thread until a request has arrived."""

import re
import socket
import ssl
import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any

from django.conf import settings
from gunicorn import http  # type: ignore[import-untyped]
from gunicorn.http.errors import LimitRequestHeaders  # type: ignore[import-untyped]
from gunicorn.http.unreader import SocketUnreader  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn  # type: ignore[import-untyped]

from host.web.transmission import Wait
from host.web.visitor_limits import Claim, Visitor

# How much memory a slow client costs us at most; the kernel holds the rest of a body. A client of
# https costs `AWAITED_BYTES` more.
PIECE_BYTES = 16 * 1024
LONGEST_HEAD = 32 * 1024
# An empty line ends a head. So does a bare line feed: it is never valid, and gunicorn refuses it.
END = re.compile(rb"\r\n\r\n|(?<!\r)\n")
FRAMING = re.compile(
    rb"\r\n(?:Content-Length:[ \t]*([0-9]{1,18})|Transfer-Encoding:)", re.IGNORECASE
)
EXPECTS = re.compile(rb"[^\r\n]+ HTTP/1\.1\r\n(?s:.*\r\n)?Expect:[ \t]*100-continue", re.IGNORECASE)
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# How much of a body must have arrived before a thread reads the rest.
AWAITED_BYTES = 64 * 1024
# How long a thread waits for a body's bytes in all, and how many received bytes add a second.
BODY_SECONDS = 15
BODY_BYTES_PER_SECOND = 4096
UPLOAD = re.compile(
    r"/+rest/+(?:transfer|torrent)/+file/*|/+files/+[^/]+/+upload/+|/+files/+uploads/+[^/]+/+"
    r"|/+s/+[^/]+/+send/+|/+dav/.+"
)


Answer = Generator[Wait | None, None, bool]
"""A response that is sent step by step, and returns whether its connection may be reused."""


class BodyReader(SocketUnreader):  # type: ignore[misc]
    """The input that gunicorn parses: a head that has arrived, then a body that must keep its pace.

    Only the time spent waiting for the sender counts, not what the site needs before it reads.
    """

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self._head_bytes: int | None = 0
        self._seconds_left = float(BODY_SECONDS)
        self.is_late = False

    def begin_head(self, head: bytes) -> None:
        self.unread(head)
        self._head_bytes = len(head)

    def begin_body(self, *, may_be_slow: bool) -> None:
        self._head_bytes = None
        self._seconds_left = 0 if self.is_late else BODY_SECONDS
        if may_be_slow:
            self._seconds_left = float("inf")
        self.is_late = False

    def chunk(self, size_hint: int | None = None) -> bytes:
        if self._head_bytes is not None:
            if self._head_bytes >= LONGEST_HEAD:
                raise LimitRequestHeaders("a head too long")
            return b""
        if self._seconds_left == float("inf"):
            return self._receive(size_hint)
        return self._in_time(size_hint)

    def _in_time(self, size_hint: int | None) -> bytes:
        before, began_at = self.sock.gettimeout(), time.monotonic()
        seconds = max(0, self._seconds_left)
        self.sock.settimeout(seconds if before is None else min(before, seconds))
        try:
            piece = self._receive(size_hint)
        except BlockingIOError as nothing:
            raise TimeoutError("a body came too slowly") from nothing
        finally:
            self.sock.settimeout(before)
        self._seconds_left += began_at - time.monotonic() + len(piece) / BODY_BYTES_PER_SECOND
        return piece

    def _receive(self, size_hint: int | None) -> bytes:
        piece: bytes = super().chunk(size_hint)
        return piece


class ClientConnection(TConn):  # type: ignore[misc]
    """A connection that reads heads without blocking, and raises ConnectionError if it is lost."""

    visitor: Visitor
    claim: Claim | None = None
    # A response that has begun, what it waits for, and its request's ID for log lines.
    answer: Answer | None = None
    wait: Wait
    request_id = ""
    # Connections of one network count together; "" for a proxy, which forwards many networks.
    network = ""
    deadline = 0.0

    def __init__(self, cfg: Any, sock: socket.socket, client: Any, server: Any) -> None:
        super().__init__(cfg, sock, client, server)
        self.source = BodyReader(sock)
        self.parser = http.get_parser(cfg, sock, client)
        self.parser.unreader = self.source
        self.initialized = True
        self.watched = sock
        self.is_https = isinstance(sock, ssl.SSLSocket)
        self.head = bytearray()
        self.has_head = False
        self._low_water = 0
        self.dropped_bytes = 0

    @property
    def peer(self) -> str:
        return str(self.client[0])

    def take_back(self) -> None:
        """Keep bytes read past the end of a request as the beginning of the next request."""
        self.sock.setblocking(False)
        self.head = bytearray(self.source.take_buffered())
        if self.is_https and self.sock.pending():
            self.head += self._piece()  # No poller knows of decrypted bytes.

    def receive(self) -> bool:
        """Read what has arrived of a head; return whether a thread can take the request."""
        start = max(0, len(self.head) - 3)
        if not self.has_head or self.is_https:
            self.head += self._piece()
        return self.has_request(start)

    def has_request(self, start: int = 0) -> bool:
        """Return whether the head is here, and the body or its first `AWAITED_BYTES`."""
        if not self.has_head:
            self.has_head = (
                len(self.head) >= LONGEST_HEAD or END.search(self.head, start) is not None
            )
        return self.has_head and self._has_body()

    def _has_body(self) -> bool:
        """Return whether enough of a body is here. If not, the kernel will wake us when it is.

        The bytes stay with the kernel, so that slow senders cost us no memory. If it wakes us
        earlier, then the client is gone or memory is short; a thread will find out. Of https, the
        kernel can't tell how much is here, so up to `AWAITED_BYTES` are kept in `head`.
        """
        if not FRAMING.search(self.head):
            return True
        head, end, begun = bytes(self.head).partition(b"\r\n\r\n")
        framing = FRAMING.search(head)
        if framing is None or not end:
            return True
        here = b"" if self.is_https else self._peek()
        body = begun + here
        if framing[1]:
            missing = min(int(framing[1]), AWAITED_BYTES) - len(body)
        else:
            missing = 0 if body.endswith(b"\r\n\r\n") else min(1, AWAITED_BYTES - len(body))
        is_early = not self.is_https and len(here) < self._low_water
        if missing <= 0 or is_early:
            return True
        if not self._low_water and EXPECTS.match(head):
            with suppress(OSError):
                self.sock.send(CONTINUE)
        self._set_low_water(len(here) + missing)
        return False

    def _peek(self) -> bytes:
        try:
            return bytes(self.sock.recv(AWAITED_BYTES, socket.MSG_PEEK))
        except OSError:
            return b""

    def _set_low_water(self, count: int) -> None:
        self._low_water = count
        if not self.is_https:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, max(1, count))

    def hand_over(self) -> None:
        if self._low_water:
            self._set_low_water(0)
        self.source.begin_head(bytes(self.head))
        self.head, self.has_head = bytearray(), False

    def drop_rest(self) -> int:
        """Discard what arrives after the last response; return how many bytes that is so far."""
        self.dropped_bytes += len(self._piece())
        return self.dropped_bytes

    def _piece(self) -> bytes:
        try:
            piece = self.sock.recv(PIECE_BYTES)
        except BlockingIOError:
            return b""
        except OSError as gone:
            raise ConnectionError from gone
        if not piece:
            raise ConnectionResetError
        return bytes(piece)


def is_upload(path: str) -> bool:
    return UPLOAD.fullmatch(path.removeprefix(settings.URL_PREFIX)) is not None
