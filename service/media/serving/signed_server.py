"""Receive the signed questions of web processes, in the worker."""

import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any, Self, cast

from service.media.serving.local_socket import is_our_own
from service.media.serving.requests import (
    MOST_BYTES,
    NONCE,
    PATH,
    SIGNATURE,
    Facts,
    is_signed,
    sign,
)

# How long a question may take to arrive, and a client to send or read anything more.
ARRIVAL_SECONDS = 5
# How soon the server notices that it should stop.
LOOK_SECONDS = 1.0
# Connections that have sent no signed question yet. Beyond this, the oldest is cut off: a web
# process's question arrives within milliseconds.
MOST_ARRIVING = 64
# All threads of the web processes may ask at once, and no stranger reaches the local socket.
MOST_ARRIVING_LOCALLY = 1024


class SignedServer:
    """A server with a thread for each of `most_at_once` questions, and for some that arrive.

    Strangers, whose questions aren't signed, can't take the threads of answers.
    """

    def __init__(
        self,
        listener: socket.socket,
        answer: Callable[[Facts, socket.socket], Facts],
        most_at_once: int,
    ) -> None:
        self._listener = listener
        self._answer = answer
        is_local = listener.family == socket.AF_UNIX
        self._most_arriving = MOST_ARRIVING_LOCALLY if is_local else MOST_ARRIVING
        self._arriving: dict[socket.socket, float] = {}  # and when it connected, oldest first
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(
            most_at_once + MOST_ARRIVING, thread_name_prefix="media-requests"
        )
        listener.settimeout(LOOK_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._listener.close()
        with self._lock:
            self._cut_off_late(0)
        self._threads.shutdown()

    def receive(self) -> None:
        """Receive one connection, if one comes soon. Raises OSError if the socket is broken."""
        with suppress(TimeoutError):
            connection, _address = self._listener.accept()
            with self._lock:
                self._arriving[connection] = time.monotonic()
            self._threads.submit(self._converse, connection)
        with self._lock:
            self._cut_off_late(self._most_arriving)

    def _cut_off_late(self, most: int) -> None:
        """Cut off connections that are late, and the oldest beyond `most`."""
        began_by = time.monotonic() - ARRIVAL_SECONDS
        for connection, began_at in list(self._arriving.items()):
            if began_at > began_by and len(self._arriving) <= most:
                break
            del self._arriving[connection]
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _converse(self, connection: socket.socket) -> None:
        try:
            # The system doesn't report the user of a process on another machine.
            if connection.family != socket.AF_UNIX or is_our_own(connection):
                SignedHandler(connection, "", cast("Any", self))
        except (OSError, ValueError):
            pass  # It hung up, or sent nonsense.
        finally:
            with self._lock:
                self._arriving.pop(connection, None)
            connection.close()

    def answer(self, question: Facts, connection: socket.socket) -> Facts:
        """Answer a signed question, which has arrived: its client is no stranger."""
        with self._lock:
            self._arriving.pop(connection, None)
        return self._answer(question, connection)


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
        content = json.dumps(server.answer(json.loads(body), self.connection)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header(SIGNATURE, sign("answer", nonce, content))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *_args: Any) -> None:  # noqa: A002  Its name there.
        """Log nothing: what answers logs its own failures."""
