"""Receive the signed questions of other machines, in the worker."""

import json
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer
from typing import Any, cast

from service.media.signed_requests import (
    ANSWER,
    MOST_BYTES,
    NONCE,
    PATH,
    QUESTION,
    SIGNATURE,
    is_signed,
    sign,
)

# How long a question may take to arrive.
ARRIVAL_SECONDS = 5
# How soon the server notices that it should stop.
LOOK_SECONDS = 1.0


class SignedServer(TCPServer):
    """A server with a bounded number of threads, which hangs up when none is free."""

    allow_reuse_address = True
    request_queue_size = 64
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
        self._threads = ThreadPoolExecutor(most_at_once, thread_name_prefix="signed-requests")
        super().__init__((host, int(port)), SignedHandler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._turns.acquire(blocking=False):
            self._threads.submit(self._process, request, client_address)
        else:
            self.shutdown_request(request)

    def _process(self, request: Any, client_address: Any) -> None:
        try:
            self.finish_request(request, client_address)
        except (OSError, ValueError):
            pass  # It hung up, or sent nonsense.
        finally:
            self._turns.release()
            self.shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        self._threads.shutdown()


class SignedHandler(BaseHTTPRequestHandler):
    timeout = ARRIVAL_SECONDS

    def do_POST(self) -> None:
        length = self.headers["Content-Length"] or ""
        if self.path != PATH or not length.isdecimal() or int(length) > MOST_BYTES:
            self.send_error(400)
            return
        body, nonce = self.rfile.read(int(length)), self.headers[NONCE] or ""
        if not is_signed(QUESTION, nonce, body, self.headers[SIGNATURE]):
            self.send_error(403)
            return
        reply = cast("SignedServer", self.server).answer(json.loads(body), self.connection)
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header(SIGNATURE, sign(ANSWER, nonce, content))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *_args: Any) -> None:  # noqa: A002  Its name there.
        """Log nothing: what answers logs its own failures."""
