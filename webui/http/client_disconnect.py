"""Detect clients that disconnect while a stream is idle, when no write would fail."""

import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache

LEFT = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR


class DisconnectWatcher:
    """A thread that watches the connections of all clients, asleep until one of them closes."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._lock = threading.Lock()
        self._told: dict[int, Callable[[], None]] = {}
        threading.Thread(target=self._watch, name="departures", daemon=True).start()

    def expect(self, reader: socket.socket, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell` from another thread, at most once, if the client disconnects.

        Return a function that stops watching. Call it once, before the connection is closed or
        serves another request.
        """
        number = reader.fileno()
        with self._lock:
            self._told[number] = tell
            self._epoll.register(number, LEFT | select.EPOLLONESHOT)
        return lambda: self._forget(number)

    def _forget(self, number: int) -> None:
        with self._lock:
            self._told.pop(number, None)
            with suppress(OSError):
                self._epoll.unregister(number)

    def _watch(self) -> None:
        while True:
            for number, _events in self._epoll.poll():
                # Under the lock, so that after `_forget` nothing more happens to the connection.
                with self._lock:
                    # The connection of this event may be closed by now, and its number reused for
                    # another client that is still connected.
                    if number in self._told and has_left(number):
                        self._told.pop(number)()


def has_left(number: int) -> bool:
    now = select.poll()
    now.register(number, select.POLLRDHUP)
    return bool(now.poll(0))


@cache
def disconnect_watcher() -> DisconnectWatcher:
    """Create the watcher on first use, so never before a fork."""
    return DisconnectWatcher()
