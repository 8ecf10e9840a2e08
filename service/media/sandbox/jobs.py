"""Limit how many media jobs the worker runs at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from service.errors import Busy


class Pausable(Protocol):
    def pause(self) -> None: ...

    def resume(self) -> None: ...


class Jobs:
    """Turns, of which `most` are given at once.

    Converters are refused at once where there are so many; somebody could wait for a film's
    length. Pictures that were asked for wait for one another, and for nothing else. What nobody
    has asked for yet takes a turn only while less than `most` of all goes on and nobody waits.
    A whole film is made beside all that, one at a time, and stands still while viewers need every
    converter that there may be.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._converting = 0
        self._picturing = 0
        self._picturing_ahead = 0
        self._film: Pausable | None = None
        self._waiting = 0
        self._is_closed = False
        self._changed = threading.Condition()

    @contextmanager
    def converting(self) -> Iterator[None]:
        """Raises Busy."""
        with self._changed:
            if self._converting >= self.most:
                raise Busy
            self._converting += 1
            self._share()
        try:
            yield
        finally:
            with self._changed:
                self._converting -= 1
                self._share()
                self._changed.notify_all()

    @contextmanager
    def filming(self, film: Pausable) -> Iterator[None]:
        with self._changed:
            self._film = film
            self._share()
        try:
            yield
        finally:
            with self._changed:
                self._film = None

    def _share(self) -> None:
        if self._film and self._converting >= self.most:
            self._film.pause()
        elif self._film:
            self._film.resume()

    @contextmanager
    def picturing(self, wait_seconds: float) -> Iterator[None]:
        """Raises Busy where no turn comes within that time."""
        with self._changed:
            self._waiting += 1
            try:
                is_in_time = self._changed.wait_for(self._has_turn, wait_seconds)
                if not is_in_time or self._is_closed:
                    raise Busy
                self._picturing += 1
            finally:
                self._waiting -= 1
        try:
            yield
        finally:
            with self._changed:
                self._picturing -= 1
                self._changed.notify_all()

    @contextmanager
    def picturing_ahead(self) -> Iterator[None]:
        """Waits as long as it takes. Raises Busy when all is to end."""
        with self._changed:
            self._changed.wait_for(self._has_idle_turn)
            if self._is_closed:
                raise Busy
            self._picturing_ahead += 1
        try:
            yield
        finally:
            with self._changed:
                self._picturing_ahead -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Nobody waits any longer."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _has_turn(self) -> bool:
        return self._is_closed or self._picturing < self.most

    def _has_idle_turn(self) -> bool:
        going_on = self._converting + self._picturing + self._picturing_ahead
        return self._is_closed or (not self._waiting and going_on < self.most)
