"""The times and rate limits of fetches."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from service.fetching.stoppable_wait import READ_BYTES, Clock, StoppableWait

LEAST_READ_BYTES = 2**12
# How much of a limit may be used later, so that reading and writing between waits cost nothing.
CREDIT_SECONDS = 0.5


@dataclass(frozen=True)
class Pace:
    clock: Clock = time.monotonic
    today: Clock = time.time
    pause: Callable[[StoppableWait, float], None] = StoppableWait.pause
    quiet_seconds: float = 60.0  # the timeout without new bytes
    safe_every_seconds: float = 5.0  # how much work a power cut may cost
    hold_seconds: float = 10.0  # how long an open response waits for `proceed`
    most_bytes: int = 0  # of one fetch; 0: no limit


class RateLimit:
    """A rate limit of one fetch or several, which may change at any time.

    Each fetch takes its bytes, and waits until all bytes taken so far are paid for.
    """

    def __init__(self, clock: Clock, limit_bytes: int = 0) -> None:
        """`limit_bytes`: per second; 0: no limit."""
        self._clock = clock
        self._limit_bytes = limit_bytes
        self._taken_bytes = 0
        self._paid_bytes = 0.0
        self._paid_at = clock()
        self._lock = Lock()

    @property
    def used_bytes(self) -> float:
        """Return how many bytes have been paid for and used."""
        with self._lock:
            self._pay()
            return min(self._paid_bytes, self._taken_bytes)

    @property
    def read_bytes(self) -> int:
        """Return how much to read at once, so that bytes arrive evenly."""
        return min(READ_BYTES, max(LEAST_READ_BYTES, self._limit_bytes // 8 or READ_BYTES))

    def change(self, limit_bytes: int) -> None:
        with self._lock:
            self._pay()
            self._limit_bytes = limit_bytes

    def take(self, size_bytes: int) -> int:
        """Take bytes, and return what must be paid before they may be used."""
        with self._lock:
            self._pay()
            self._taken_bytes += size_bytes
            return self._taken_bytes

    def seconds_until(self, paid_bytes: int) -> float:
        with self._lock:
            self._pay()
            left = paid_bytes - self._paid_bytes
            return left / self._limit_bytes if self._limit_bytes and left > 0 else 0.0

    def _pay(self) -> None:
        now = self._clock()
        passed_seconds, self._paid_at = now - self._paid_at, now
        if self._limit_bytes:
            paid_bytes = self._paid_bytes + passed_seconds * self._limit_bytes
            self._paid_bytes = min(
                paid_bytes, self._taken_bytes + self._limit_bytes * CREDIT_SECONDS
            )
        else:
            self._paid_bytes = self._taken_bytes
