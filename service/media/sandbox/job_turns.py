"""Limit how many media jobs the worker runs at once."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from service.errors import Busy
from service.media.sandbox.launcher import RunningProgram

LIGHT_AT_ONCE, LIGHT_SECONDS = 4, 2.0


class Jobs:
    """Turns for media jobs: `most` jobs of each kind may run at once.

    A converter beyond that is refused immediately: it could wait for the length of a film.
    Requested pictures wait only for one another. Pictures that no one has requested yet get a
    turn only while fewer than `most` jobs of all kinds run and no request waits. A whole film is
    made alongside, one at a time, and pauses while viewers use every converter's turn. A few light
    jobs run beside all others, whatever `most` is.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._running: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._film: RunningProgram | None = None
        self._is_closed = False
        self._changed = threading.Condition()

    def converting(self) -> AbstractContextManager[None]:
        """Return a converter's turn. Entering it raises Busy if none is free."""
        return self._turn("converter", lambda: self._running["converter"] < self.most, 0)

    def light(self) -> AbstractContextManager[None]:
        """Return a turn for work of seconds. Entering it raises Busy if none is free soon."""
        return self._turn("light", lambda: self._running["light"] < LIGHT_AT_ONCE, LIGHT_SECONDS)

    def picturing(self, wait_seconds: float) -> AbstractContextManager[None]:
        """Return a turn for a requested picture. Entering it raises Busy after `wait_seconds`."""
        return self._turn("picture", lambda: self._running["picture"] < self.most, wait_seconds)

    def picturing_ahead(self) -> AbstractContextManager[None]:
        """Return a turn that is waited for as long as it takes. Raises Busy after `close`."""
        return self._turn("picture ahead", self._is_idle, None)

    def _is_idle(self) -> bool:
        running = self._running.total() - self._running["light"]
        return not self._waiting["picture"] and running < self.most

    @contextmanager
    def _turn(
        self, kind: str, is_free: Callable[[], bool], wait_seconds: float | None
    ) -> Iterator[None]:
        with self._changed:
            self._waiting[kind] += 1
            try:
                is_in_time = self._changed.wait_for(
                    lambda: self._is_closed or is_free(), wait_seconds
                )
            finally:
                self._waiting[kind] -= 1
            if not is_in_time or self._is_closed:
                raise Busy
            self._running[kind] += 1
            self._share()
        try:
            yield
        finally:
            with self._changed:
                self._running[kind] -= 1
                self._share()
                self._changed.notify_all()

    @contextmanager
    def filming(self, film: RunningProgram) -> Iterator[None]:
        with self._changed:
            self._film = film
            self._share()
        try:
            yield
        finally:
            with self._changed:
                self._film = None

    def _share(self) -> None:
        if self._film and self._running["converter"] >= self.most:
            self._film.pause()
        elif self._film:
            self._film.resume()

    def close(self) -> None:
        """End all waiting for turns, with Busy."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
