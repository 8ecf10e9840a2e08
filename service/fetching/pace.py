"""The times, limits, and retries of fetches."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from msgspec.structs import replace

from service.fetching.errors import PermanentFailure, TemporaryFailure
from service.fetching.stoppable_wait import Clock, StoppableWait

# A fetch that has begun is worth a night of retries.
MOST_TRIES_ONCE_BEGUN = 100
LONGEST_WAIT_SECONDS = 300.0


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


class Retries:
    """The failed tries of one fetch. New bytes start the count again."""

    def __init__(self) -> None:
        self.tries = 0
        self._furthest_bytes = 0

    def wait_after(self, failure: TemporaryFailure, furthest_bytes: int) -> float:
        """Count a failure, and return how many seconds to wait before the next try.

        The wait doubles each time, from a second on, and is never shorter than the server asks
        for. Raises PermanentFailure if that was the last try.
        """
        is_further = furthest_bytes > self._furthest_bytes
        self.tries = 1 if is_further else self.tries + 1
        self._furthest_bytes = furthest_bytes
        if self.tries >= (MOST_TRIES_ONCE_BEGUN if furthest_bytes else failure.most_tries):
            raise PermanentFailure(replace(failure.details, tries=self.tries))
        doubled_seconds = 2.0 ** min(self.tries - 1, 30)
        return max(min(doubled_seconds, LONGEST_WAIT_SECONDS), failure.after_seconds)
