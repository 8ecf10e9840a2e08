"""A connection of the web server that takes no thread until a request's headers are complete."""

import re
import socket
import time
from typing import Any

from django.conf import settings
from gunicorn import http  # type: ignore[import-untyped]
from gunicorn.http.errors import LimitRequestHeaders  # type: ignore[import-untyped]
from gunicorn.http.unreader import SocketUnreader  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn  # type: ignore[import-untyped]

from config.web.slots import Claim, Visitor

PIECE_BYTES = 64 * 1024
LONGEST_HEAD = 64 * 1024
# An empty line ends a head. So does a bare line feed: it is never valid, and gunicorn refuses it.
END = re.compile(rb"\r\n\r\n|(?<!\r)\n")
# How long we wait for a body's bytes in all, and how many received bytes add a second.
BODY_SECONDS = 15
BODY_BYTES_PER_SECOND = 4096
UPLOAD = re.compile(r"/+rest/+(?:transfer|torrent)/+file/*|/+files/+[^/]+/+upload/+")


class BodyReader(SocketUnreader):  # type: ignore[misc]
    """The input that gunicorn parses: a head that has arrived, then a body that must keep its pace.

    Only the time spent waiting for the sender counts, not what the site needs before it reads.
    """

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self._head_bytes: int | None = 0
        self._seconds_left = float(BODY_SECONDS)

    def begin_head(self, head: bytes) -> None:
        self.unread(head)
        self._head_bytes = len(head)

    def begin_body(self, *, may_be_slow: bool) -> None:
        self._head_bytes = None
        self._seconds_left = float("inf") if may_be_slow else float(BODY_SECONDS)

    def chunk(self, size_hint: int | None = None) -> bytes:
        if self._head_bytes is not None:
            if self._head_bytes >= LONGEST_HEAD:
                raise LimitRequestHeaders("a head too long")
            return b""
        if self._seconds_left == float("inf"):
            return self._receive(size_hint)
        return self._in_time(size_hint)

    def _in_time(self, size_hint: int | None) -> bytes:
        if self._seconds_left <= 0:
            raise TimeoutError("a body came too slowly")
        before, began_at = self.sock.gettimeout(), time.monotonic()
        seconds = self._seconds_left if before is None else min(before, self._seconds_left)
        self.sock.settimeout(seconds)
        try:
            piece = self._receive(size_hint)
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
    # Connections of one network are counted together; "" for a proxy, which brings everyone's.
    network = ""
    deadline = 0.0

    def __init__(self, cfg: Any, sock: socket.socket, client: Any, server: Any) -> None:
        super().__init__(cfg, sock, client, server)
        self.source = BodyReader(sock)
        self.parser = http.get_parser(cfg, sock, client)
        self.parser.unreader = self.source
        self.initialized = True
        self.head = bytearray()
        self.dropped_bytes = 0

    @property
    def peer(self) -> str:
        return str(self.client[0])

    def take_back(self) -> None:
        """Keep what was read beyond a request as the beginning of the next one."""
        self.head = bytearray(self.source.take_buffered())

    def has_head(self) -> bool:
        return len(self.head) >= LONGEST_HEAD or END.search(self.head) is not None

    def receive(self) -> bool:
        """Read what has arrived; return whether the head is complete."""
        start = max(0, len(self.head) - 3)
        self.head += self._piece()
        return len(self.head) >= LONGEST_HEAD or END.search(self.head, start) is not None

    def hand_over(self) -> None:
        self.source.begin_head(bytes(self.head))
        self.head = bytearray()

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
