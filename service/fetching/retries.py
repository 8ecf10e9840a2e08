"""When a failed fetch tries again, and when it gives up."""

from msgspec.structs import replace

from service.fetching.errors import PermanentFailure, TemporaryFailure

# A fetch that has begun is worth a night of retries.
MOST_TRIES_ONCE_BEGUN = 100
LONGEST_WAIT_SECONDS = 300.0


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
