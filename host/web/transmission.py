"""Send bytes as fast as a client takes them. Each function is a generator of small steps.

A step that has sent something yields None. A step that has to wait yields what it waits for, which
frees its thread: see host.web.answers.
"""

import os
import select
import selectors
import socket
import ssl
from collections import deque
from collections.abc import Generator
from contextlib import ExitStack
from typing import Any

# How long a thread waits for a client before it takes other work: fast readers keep their thread.
PATIENCE_MS = 20
PIPE_BYTES = 1024 * 1024
# What https encrypts at once.
RECORD_BYTES = 16 * 1024

Wait = tuple[socket.socket, int]
"""A socket, and the event of `selectors` that it needs."""

Steps = Generator[Wait | None, None, None]


class Outbox:
    """What gunicorn writes to in place of the client's socket."""

    def __init__(self) -> None:
        self._pieces: deque[memoryview] = deque()

    def sendall(self, piece: bytes) -> None:
        self._pieces.append(memoryview(piece))

    def send(self, _interim: bytes) -> None:
        """Drop `100 Continue`: the body has arrived, or `ClientConnection` has asked for it."""

    def empty_into(self, client: socket.socket) -> Steps:
        while self._pieces:
            try:
                self._remove(client.sendmsg(self._pieces))
            except BlockingIOError:
                yield from until(client, selectors.EVENT_WRITE)

    def _remove(self, count: int) -> None:
        while self._pieces and count >= len(self._pieces[0]):
            count -= len(self._pieces.popleft())
        if count:
            self._pieces[0] = self._pieces[0][count:]


def send_file(file: Any, count: int, client: socket.socket) -> Steps:
    """Let the kernel send part of a file, from its position; for https, encrypt it."""
    send = send_encrypted if isinstance(client, ssl.SSLSocket) else send_plain
    offset = os.lseek(file.fileno(), 0, os.SEEK_CUR)
    while count:
        try:
            sent = send(client, file, offset, count)
        except BlockingIOError:
            yield from until(client, selectors.EVENT_WRITE)
            continue
        if not sent:
            raise EOFError("a file lost its end while it was sent")
        offset, count = offset + sent, count - sent
        yield None


def send_plain(client: socket.socket, file: Any, offset: int, count: int) -> int:
    return os.sendfile(client.fileno(), file.fileno(), offset, count)


def send_encrypted(client: socket.socket, file: Any, offset: int, count: int) -> int:
    piece = os.pread(file.fileno(), min(count, RECORD_BYTES), offset)
    return client.send(piece) if piece else 0


def splice(
    source: socket.socket, count: int, client: socket.socket
) -> Generator[Wait | None, None, bool]:
    """Let the kernel move bytes between sockets.

    Return False if the source ends early, or if there is no descriptor for a pipe.
    """
    with ExitStack() as stack:
        try:
            # Duplicate it, since nothing else may close a descriptor that the poller watches.
            own = stack.enter_context(source.dup())
            outlet, inlet = os.pipe()
        except OSError:
            return False
        stack.callback(os.close, outlet)
        stack.callback(os.close, inlet)
        own.setblocking(False)
        while count:
            try:
                held = os.splice(own.fileno(), inlet, min(count, PIPE_BYTES))
            except BlockingIOError:
                yield from until(own, selectors.EVENT_READ)
                continue
            if not held:
                return False
            count -= held
            while held:
                try:
                    held -= os.splice(outlet, client.fileno(), held)
                except BlockingIOError:
                    yield from until(client, selectors.EVENT_WRITE)
            yield None
    return True


def until(sock: socket.socket, event: int) -> Steps:
    """Wait in this thread for a moment, then free the thread and keep waiting."""
    poll = select.poll()
    poll.register(sock, select.POLLIN if event == selectors.EVENT_READ else select.POLLOUT)
    if not poll.poll(PATIENCE_MS):
        yield sock, event
