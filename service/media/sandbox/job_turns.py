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
    """Turns for media jobs, at most `most` of each kind at once.

    A converter beyond that is refused immediately: it could wait for the length of a film.
    Requested pictures wait only for one another. Pictures that no one has requested yet get a
    turn only while fewer than `most` jobs of all kinds run and no request waits. A whole film is
    made alongside, one at a time, and pauses while viewers use every converter's turn.
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
        """Take a converter's turn. Raises Busy if none is free."""
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
        """Wait for a turn to make a requested picture. Raises Busy after `wait_seconds`."""
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
        """Wait for a turn as long as it takes. Raises Busy after `close`."""
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
        """End all waiting for turns, with Busy."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _has_turn(self) -> bool:
        return self._is_closed or self._picturing < self.most

    def _has_idle_turn(self) -> bool:
        going_on = self._converting + self._picturing + self._picturing_ahead
        return self._is_closed or (not self._waiting and going_on < self.most)
