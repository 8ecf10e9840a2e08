"""Limit concurrency: callers beyond the limit wait, up to a timeout."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Slot:
    """A slot that one caller has taken. Giving it back again does nothing."""

    def __init__(self, free: threading.BoundedSemaphore) -> None:
        self._held = [free]

    def give_back(self) -> None:
        # Popping is atomic, so two threads can't both find the semaphore.
        with suppress(IndexError):
            self._held.pop().release()


class Limiter:
    def __init__(self, most: int, wait_seconds: float) -> None:
        self._free = threading.BoundedSemaphore(most)
        self._wait_seconds = wait_seconds

    @contextmanager
    def one(self) -> Iterator[None]:
        slot = self.take()
        if slot is None:
            raise TimeoutError
        try:
            yield
        finally:
            slot.give_back()

    def take(self) -> Slot | None:
        return Slot(self._free) if self._free.acquire(timeout=self._wait_seconds) else None
