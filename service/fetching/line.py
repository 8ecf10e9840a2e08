"""What a fetch waits on: its sockets, its timeout, and an order to stop."""

import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event

import httpcore

from service.fetching.errors import FetchStopped

Clock = Callable[[], float]


class StoppableWait:
    """One for each fetch. `stop` may come from any thread, and ends every wait at once."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
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
        """For those who never wait, since there is always something to read."""
        self.check()
        if self._clock() > self._due:
            raise httpcore.ReadTimeout

    def allow(self, seconds: float) -> None:
        """From now on. Something that gets on is allowed anew again and again."""
        self._due = self._clock() + seconds

    def pause(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise FetchStopped

    def await_ready(self, waiting: socket.socket, event: int, at_most: float = 3600) -> None:
        """Raises Stopped and httpcore.TimeoutException."""
        left = min(self._due - self._clock(), at_most)
        poll = select.poll()
        poll.register(waiting, event)
        poll.register(self._wake_up, select.POLLIN)
        found = poll.poll(max(left, 0) * 1000)
        self.check()
        if not found:
            raise httpcore.ReadTimeout

    def close(self) -> None:
        self._wake_up.close()
        self._sender.close()
