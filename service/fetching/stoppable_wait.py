"""Wait for a fetch's socket, its timeout, or an order to stop."""

import select
import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Event

import httpcore

from service.fetching.errors import FetchStopped

Clock = Callable[[], float]
READ_BYTES = 2**18


class StoppableWait:
    """The waits of one fetch. Any thread may call `stop`, which ends them at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.read_bytes = READ_BYTES  # how much to read at once: little, if there is a rate limit
        self._due = float("inf")
        self._stopped = Event()
        self._wake_up, self._sender = socket.socketpair()

    def stop(self) -> None:
        self._stopped.set()
        with suppress(OSError):
            self._sender.send(b".")

    def check(self) -> None:
        if self._stopped.is_set():
            raise FetchStopped

    def check_due(self) -> None:
        """Check the timeout for callers that never wait because they always have bytes to read."""
        self.check()
        if self._clock() > self._due:
            raise httpcore.ReadTimeout

    def allow(self, seconds: float) -> None:
        """Set the timeout, from now on; a fetch that makes progress calls this again and again."""
        self._due = self._clock() + seconds

    def pause(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise FetchStopped

    def await_ready(self, waiting: socket.socket, event: int, at_most: float = 3600) -> None:
        """Wait until a socket is ready. Raises FetchStopped and httpcore.TimeoutException."""
        seconds = min(self._due - self._clock(), at_most)
        poll = select.poll()
        poll.register(waiting, event)
        poll.register(self._wake_up, select.POLLIN)
        events = poll.poll(max(seconds, 0) * 1000)
        self.check()
        if not events:
            raise httpcore.ReadTimeout

    def close(self) -> None:
        self._wake_up.close()
        self._sender.close()
