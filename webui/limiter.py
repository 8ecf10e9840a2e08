"""Limit concurrency: callers beyond the limit wait, up to a timeout."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TimedOut(Exception):  # noqa: N818  Errors are nouns here.
    """The caller waited longer than the timeout."""


class Limiter:
    def __init__(self, most: int, wait_seconds: float) -> None:
        self._free = threading.BoundedSemaphore(most)
        self._wait_seconds = wait_seconds

    @contextmanager
    def one(self) -> Iterator[None]:
        if not self.take():
            raise TimedOut
        try:
            yield
        finally:
            self.give_back()

    def take(self) -> bool:
        return self._free.acquire(timeout=self._wait_seconds)

    def give_back(self) -> None:
        self._free.release()
