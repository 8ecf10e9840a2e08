"""Receive the signed questions of other machines, in the worker."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer
from typing import Any, cast

from service.media.serving.signed_requests import (
    MOST_BYTES,
    NONCE,
    PATH,
    SIGNATURE,
    is_signed,
    sign,
)

# How long a question may take to arrive, and a client to send or read anything more.
ARRIVAL_SECONDS = 5
# How soon the server notices that it should stop.
LOOK_SECONDS = 1.0
# Connections that have sent no signed question yet. Beyond this, the oldest is cut off: another
# machine's question arrives within milliseconds.
MOST_ARRIVING = 64


class SignedServer(TCPServer):
    """A server with a bounded number of threads, which hangs up when none is free.

    Only signed questions take turns, so strangers can't take them all.
    """

    allow_reuse_address = True
    # Beyond this, the kernel drops connections, and another machine tries again too late.
    request_queue_size = 1024
    timeout = LOOK_SECONDS

    def __init__(
        self,
        address: str,
        answer: Callable[[dict[str, Any], socket.socket], dict[str, Any]],
        most_at_once: int,
    ) -> None:
        host, _, port = address.rpartition(":")
        host = host.strip("[]")
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.answer = answer
        self._turns = threading.BoundedSemaphore(most_at_once)
        self._arriving: dict[socket.socket, float] = {}  # and when it connected, oldest first
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(
            most_at_once + MOST_ARRIVING, thread_name_prefix="signed-requests"
        )
        super().__init__((host, int(port)), SignedHandler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._cut_off_late(MOST_ARRIVING - 1)
            self._arriving[request] = time.monotonic()
        self._threads.submit(self._process, request, client_address)

    def handle_timeout(self) -> None:
        with self._lock:
            self._cut_off_late(MOST_ARRIVING)

    def _cut_off_late(self, most: int) -> None:
        """Cut off connections that are late, and the oldest beyond `most`."""
        began_by = time.monotonic() - ARRIVAL_SECONDS
        for connection, began_at in list(self._arriving.items()):
            if began_at > began_by and len(self._arriving) <= most:
                break
            del self._arriving[connection]
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _process(self, request: Any, client_address: Any) -> None:
        try:
            self.finish_request(request, client_address)
        except (OSError, ValueError):
            pass  # It hung up, or sent nonsense.
        finally:
            with self._lock:
                self._arriving.pop(request, None)
            self.shutdown_request(request)

    @contextmanager
    def turn(self, connection: socket.socket) -> Iterator[None]:
        """Take a turn for a signed question. Raises OSError to hang up if none is free."""
        with self._lock:
            self._arriving.pop(connection, None)
        if not self._turns.acquire(blocking=False):
            raise OSError("no turn is free")
        try:
            yield
        finally:
            self._turns.release()

    def server_close(self) -> None:
        super().server_close()
        with self._lock:
            self._cut_off_late(0)
        self._threads.shutdown()


class SignedHandler(BaseHTTPRequestHandler):
    timeout = ARRIVAL_SECONDS

    def do_POST(self) -> None:
        length = self.headers["Content-Length"] or ""
        if self.path != PATH or not length.isdecimal() or int(length) > MOST_BYTES:
            self.send_error(400)
            return
        body, nonce = self.rfile.read(int(length)), self.headers[NONCE] or ""
        if not is_signed("question", nonce, body, self.headers[SIGNATURE]):
            self.send_error(403)
            return
        server = cast("SignedServer", self.server)
        with server.turn(self.connection):
            content = json.dumps(server.answer(json.loads(body), self.connection)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header(SIGNATURE, sign("answer", nonce, content))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *_args: Any) -> None:  # noqa: A002  Its name there.
        """Log nothing: what answers logs its own failures."""
