"""Run a server on loopback that misbehaves on purpose, and list its misbehaviors."""

import gzip
import json
import socket
import ssl
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

MEGABYTE = 1024 * 1024
TICK_SECONDS = 0.02
LISTING = json.dumps({"id": 1, "folders": [], "files": [], "torrents": [], "result": True}).encode()


class Wire:
    """One accepted connection, seen from the server, and the head of the request."""

    def __init__(
        self, connection: socket.socket, stopping: threading.Event, head: bytes = b""
    ) -> None:
        self.connection = connection
        self.stopping = stopping
        self.head = head

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.connection.sendall(piece)

    def drip(self, piece: bytes) -> None:
        """Send the piece byte by byte, slowly, over and over without end."""
        while not self.stopping.wait(TICK_SECONDS):
            for byte in piece:
                self.connection.sendall(bytes([byte]))
                if self.stopping.wait(TICK_SECONDS):
                    return

    def pour(self, piece: bytes) -> None:
        """Send the piece over and over, as fast as the client reads."""
        while not self.stopping.is_set():
            self.connection.sendall(piece)

    def wait(self) -> None:
        self.stopping.wait(30)

    def rest(self, seconds: float) -> None:
        self.stopping.wait(seconds)

    def wait_for_end(self) -> None:
        """Read until the client stops sending."""
        while self.connection.recv(1):
            pass

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


Misbehaviour = Callable[[Wire], None]


@dataclass
class Server:
    """A server that reads and keeps each request's head, then hands the wire to a misbehavior."""

    misbehave: Misbehaviour
    context: ssl.SSLContext | None = None
    heads: list[bytes] = field(default_factory=list)
    got_request: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.stopping = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _peer = self._listening.accept()
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self.threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(10)
        with suppress(OSError):
            if self.context is not None:
                connection = self.context.wrap_socket(connection, server_side=True)
            head = b""
            while not is_complete(head) and (piece := connection.recv(65_536)):
                head += piece
            self.heads.append(head)
            self.got_request.set()
            self.misbehave(Wire(connection, self.stopping, head))
        connection.close()

    def close(self) -> None:
        self.stopping.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self.threads:
            thread.join(5)


def is_complete(head: bytes) -> bool:
    """Return whether this is a whole head of HTTP, or the beginning of a TLS handshake."""
    return b"\r\n\r\n" in head or head.startswith(b"\x16")


@contextmanager
def serving(misbehave: Misbehaviour, context: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(misbehave, context)
    try:
        yield server
    finally:
        server.close()


def head(status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def whole(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    return head(status, Content_Length=str(len(body)), Connection="close", **headers) + body


def answers(*pieces: bytes) -> Misbehaviour:
    return lambda wire: wire.send(*pieces)


def then_silent(*pieces: bytes) -> Misbehaviour:
    def misbehave(wire: Wire) -> None:
        wire.send(*pieces)
        wire.wait()

    return misbehave


def then_dripping(start: bytes, piece: bytes) -> Misbehaviour:
    def misbehave(wire: Wire) -> None:
        wire.send(start)
        wire.drip(piece)

    return misbehave


def then_pouring(start: bytes, piece: bytes) -> Misbehaviour:
    def misbehave(wire: Wire) -> None:
        wire.send(start)
        wire.pour(piece)

    return misbehave


def resetting(*pieces: bytes) -> Misbehaviour:
    def misbehave(wire: Wire) -> None:
        wire.send(*pieces)
        wire.reset()

    return misbehave


def bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    zeros = b" " * MEGABYTE
    return b"".join(packer.compress(zeros) for _ in range(size // MEGABYTE)) + packer.flush()


def chunk(piece: bytes) -> bytes:
    return f"{len(piece):x}\r\n".encode() + piece + b"\r\n"


CHUNKED = head(Transfer_Encoding="chunked")
ROW = b'{"id":7,"name":"' + b"x" * 1_000 + b'"},'
JSONP = b"?(" + LISTING + b")"
BOMB = bomb(64 * MEGABYTE)

# What the server does -> the failure's class and reason in webui.v1.errors, or None if the answer
# is accepted.
OF_CALLS: dict[str, tuple[Misbehaviour, str | None, str]] = {
    "hangs up": (answers(), "Unreadable", "broken_http"),
    "resets the connection": (resetting(), "Unavailable", "cut_off"),
    "resets half way": (resetting(head(Content_Length="500"), b"{"), "Unavailable", "cut_off"),
    "says nothing": (then_silent(), "Unavailable", "too_slow"),
    "drips the status line": (then_dripping(b"", b"HTTP/1.1 200 OK"), "Unavailable", "too_slow"),
    "drips headers": (
        then_dripping(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"), "Unavailable", "too_slow",
    ),
    "drips the body": (
        then_dripping(head(Content_Length="5000"), b" "), "Unavailable", "too_slow",
    ),
    "drips chunks": (then_dripping(CHUNKED, b"1\r\n \r\n"), "Unavailable", "too_slow"),
    "stops in the body": (
        then_silent(head(Content_Length="500"), b"{"), "Unavailable", "too_slow",
    ),
    "sends headers without end": (
        then_pouring(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 1_000), "Unreadable", "broken_http",
    ),
    "sends one header of 1 MB": (
        answers(head(A="x" * MEGABYTE)), "Unreadable", "broken_http",
    ),
    "sends interim answers without end": (
        then_pouring(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100), "Unavailable", "too_slow",
    ),
    "drips interim answers": (
        then_dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "Unavailable", "too_slow",
    ),
    "switches protocols": (
        answers(head("101 Switching Protocols", Upgrade="x", Connection="Upgrade")),
        "Unreadable", "broken_http",
    ),
    "cuts the body off": (
        answers(head(Content_Length="500"), LISTING), "Unreadable", "broken_http",
    ),
    "announces less than it has": (
        answers(head(Content_Length="10"), LISTING), "Unreadable", "not_json",
    ),
    "announces 10 GB": (
        then_silent(head(Content_Length=str(10**10))), "Unreadable", "too_large",
    ),
    "announces a length of 4,000 digits": (
        then_silent(head(Content_Length="9" * 4_000)), "Unreadable", "broken_http",
    ),
    "announces a negative length": (
        answers(head(Content_Length="-5"), LISTING), "Unreadable", "broken_http",
    ),
    "announces two lengths": (
        answers(head(Content_Length="5", content_length="80"), LISTING),
        "Unreadable", "broken_http",
    ),
    "breaks the chunking": (answers(CHUNKED, b"zz\r\n{}\r\n"), "Unreadable", "broken_http"),
    "never ends the chunks": (answers(CHUNKED, chunk(LISTING)), "Unreadable", "broken_http"),
    "writes chunk sizes without end": (
        then_pouring(CHUNKED, b"0" * 65_536), "Unreadable", "broken_http",
    ),
    "writes trailers without end": (
        then_pouring(CHUNKED + chunk(LISTING) + b"0\r\n", b"A: b\r\n" * 1_000),
        "Unreadable", "broken_http",
    ),
    "sends 10 GB of JSON": (
        then_pouring(CHUNKED + chunk(b'{"files":['), chunk(ROW * 60)), "Unreadable", "too_large",
    ),
    "sends spaces without end": (
        then_pouring(head(), b" " * 65_536), "Unreadable", "too_large",
    ),
    "packs a bomb": (answers(whole(BOMB, Content_Encoding="gzip")), "Unreadable", "too_large"),
    "packs a bomb in a bomb": (
        answers(whole(gzip.compress(BOMB), Content_Encoding="gzip, gzip")),
        "Unreadable", "unknown_coding",
    ),
    "packs nothing and says so": (
        answers(whole(LISTING, Content_Encoding="gzip")), "Unreadable", "bad_coding",
    ),
    "packs half": (
        answers(whole(gzip.compress(LISTING)[:-12], Content_Encoding="gzip")),
        "Unreadable", "cut_off",
    ),
    "packs as nobody asked": (
        answers(whole(LISTING, Content_Encoding="br")), "Unreadable", "unknown_coding",
    ),
    "packs well": (
        answers(whole(gzip.compress(LISTING), Content_Encoding="gzip")), None, "",
    ),
    "speaks SSH": (answers(b"SSH-2.0-OpenSSH_9.2\r\n"), "Unreadable", "broken_http"),
    "speaks HTTP/0.9": (answers(LISTING), "Unreadable", "broken_http"),
    "speaks HTTP/2": (answers(b"\x00\x00\x12\x04\x00\x00\x00"), "Unreadable", "broken_http"),
    "has zeros in its headers": (answers(head(A="b\x00c"), b"{}"), "Unreadable", "broken_http"),
    "answers a page": (answers(whole(b"<h1>Hi</h1>")), "Unreadable", "not_json"),
    "answers a script": (answers(whole(JSONP)), "Unreadable", "not_json"),
    "answers a list": (answers(whole(b"[" + LISTING + b"]")), "Unreadable", "not_json"),
    "answers nothing": (answers(whole(b"")), "Unreadable", "not_v1"),
    "nests 100,000 deep": (answers(whole(b"[" * 100_000)), "Unreadable", "not_json"),
    "cuts the JSON off": (answers(whole(LISTING[:-9])), "Unreadable", "not_json"),
    "writes a number of 100,000 digits": (
        answers(whole(LISTING[:-1] + b', "size": ' + b"9" * 100_000 + b"}")), None, "",
    ),
    "calls JSON a picture": (answers(whole(LISTING, Content_Type="image/png")), None, ""),
    "answers another kind of thing": (
        answers(whole(b'{"files": "many", "folders": 7, "id": {}, "result": true}')),
        "Unreadable", "not_v1",
    ),
    "fails with a page": (
        answers(whole(b"<h1>Oh</h1>", "500 No")), "Unavailable", "internal_server_error",
    ),
    "fails with a status that is none": (
        answers(whole(b"{}", "999 Strange")), "Unavailable", "unknown",
    ),
    "wants us back in 30 years": (
        answers(whole(b"", "429 No", Retry_After=str(10**9))), "TooMany", "too_many_requests",
    ),
    "refuses with a body without end": (
        then_pouring(head("401 No"), b"x" * 65_536), "Unauthorized", "unauthorized",
    ),
    "misses with a body without end": (
        then_pouring(head("404 No"), b"x" * 65_536), "NotFound", "not_found",
    ),
    "redirects to nowhere": (answers(head("302 Go")), "Unreadable", "redirected"),
    "redirects to a script": (
        answers(head("302 Go", Location="javascript:alert(1)")), "Unreadable", "bad_link",
    ),
}  # fmt: skip

# What a service does that sends the bytes of a file itself, or redirects to a link.
OF_STREAMS: dict[str, tuple[Misbehaviour, str, str]] = {
    "says nothing": (then_silent(), "Unavailable", "too_slow"),
    "drips headers": (then_dripping(head()[:-2], b"A: b\r\n"), "Unavailable", "too_slow"),
    "stops half way": (
        then_silent(head(Content_Length="500"), b"half"), "Unavailable", "too_slow",
    ),
    "cuts off": (answers(head(Content_Length="500"), b"half"), "Unreadable", "broken_http"),
    "resets half way": (
        resetting(head(Content_Length="500"), b"half"), "Unavailable", "cut_off",
    ),
    "breaks the chunking": (answers(CHUNKED, b"zz\r\n"), "Unreadable", "broken_http"),
    "redirects in a circle": (
        answers(whole(b"", "302 Go", Location="/rest/file/7")),
        "Unreadable", "too_many_redirects",
    ),
    "redirects to a file": (
        answers(whole(b"", "302 Go", Location="file:///etc/passwd")), "Unreadable", "bad_link",
    ),
    "redirects to a port that is none": (
        answers(whole(b"", "302 Go", Location="http://127.0.0.1:99999999/")),
        "Unavailable", "no_connection",
    ),
    "redirects to a name that is none": (
        answers(whole(b"", "302 Go", Location=f"http://{'a' * 70}.example/")),
        "Unavailable", "no_connection",
    ),
}  # fmt: skip
