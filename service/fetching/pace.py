"""The times and limits that fetches keep to."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from service.fetching.stoppable_wait import Clock, StoppableWait


@dataclass(frozen=True)
class Pace:
    clock: Clock = time.monotonic
    today: Clock = time.time
    pause: Callable[[StoppableWait, float], None] = StoppableWait.pause
    quiet_seconds: float = 60.0  # the timeout without new bytes
    safe_every_seconds: float = 5.0  # how much work a power cut may cost
    hold_seconds: float = 10.0  # how long an open response waits for `proceed`
    limit_bytes: int = 0  # per second, of all fetches together; 0: no limit
    most_bytes: int = 0  # of one fetch; 0: no limit


class RateLimit:
    """The rate limit of all fetches: each waits until all bytes taken so far are paid for."""

    def __init__(self, clock: Clock, limit_bytes: int) -> None:
        self._clock = clock
        self._limit_bytes = limit_bytes
        self._paid_at = 0.0
        self._lock = Lock()

    def seconds_for(self, size_bytes: int) -> float:
        with self._lock:
            if not self._limit_bytes:
                return 0.0
            now = self._clock()
            self._paid_at = max(self._paid_at, now) + size_bytes / self._limit_bytes
            return self._paid_at - now
