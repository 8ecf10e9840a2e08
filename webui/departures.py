"""Readers who leave while a stream is silent: no write would tell of it before the next bytes."""

import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache

LEFT = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR


class Departures:
    """One thread watches the connections of all readers, asleep until one of them closes."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._lock = threading.Lock()
        self._told: dict[int, Callable[[], None]] = {}
        threading.Thread(target=self._watch, name="departures", daemon=True).start()

    def expect(self, reader: socket.socket, tell: Callable[[], None]) -> Callable[[], None]:
        """`tell` is called at most once, from another thread. Returns what ends the waiting, to
        be called before the connection is closed or serves another request."""
        number = reader.fileno()
        with self._lock:
            self._told[number] = tell
            self._epoll.register(number, LEFT | select.EPOLLONESHOT)
        return lambda: self._forget(number)

    def _forget(self, number: int) -> None:
        with self._lock:
            if self._told.pop(number, None) is not None:
                with suppress(OSError):
                    self._epoll.unregister(number)

    def _watch(self) -> None:
        while True:
            for number, _events in self._epoll.poll():
                # Told under the lock: whoever forgets has the connection to itself afterwards.
                with self._lock:
                    tell = self._told.get(number)
                    if tell is not None:
                        tell()


@cache
def departures() -> Departures:
    """Made when first needed, so never before a fork."""
    return Departures()
