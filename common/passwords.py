import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from django.contrib.auth.hashers import Argon2PasswordHasher


def digest_of(text: str) -> str:
    """Return the digest that a database keeps of a secret or a name."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


class Argon2(Argon2PasswordHasher):
    """An Argon2id hasher with 19 MiB and two passes, as OWASP advises for servers.

    Django's default takes 100 MiB for each attempt: a few dozen at once would exhaust a small
    machine before any limit applies.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1


class HashQueue:
    """A queue that limits how many passwords are hashed at once; the others wait, up to a timeout.

    Callers with the same key, such as a name, go one at a time. Each sees what the previous one
    counted or cached, so many clients with one password cost one hash, and simultaneous guesses
    are all counted.
    """

    def __init__(self, most_running: int, most_waiting: int, wait_seconds: float) -> None:
        self._most_running = most_running
        self._most_waiting = most_waiting
        self._wait_seconds = wait_seconds
        self._changed = Condition()
        self._running: set[str] = set()
        self._waiting: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def turn(self, key: str, password: str, *, is_known: bool = False) -> Iterator[None]:
        """Wait for a turn. Raise TimeoutError if too many passwords wait, or if it takes too long.

        A full queue refuses only callers that aren't known.
        """
        with self._changed:
            self._wait(key, (key, password), is_known=is_known)
            self._running.add(key)
        try:
            yield
        finally:
            with self._changed:
                self._running.remove(key)
                self._changed.notify_all()

    def _wait(self, key: str, pair: tuple[str, str], *, is_known: bool) -> None:
        is_full = len(self._waiting) >= self._most_waiting and pair not in self._waiting
        if is_full and not is_known:
            raise TimeoutError("Too many passwords wait to be checked")
        self._waiting[pair] += 1
        try:
            if not self._changed.wait_for(lambda: self._is_free(key), self._wait_seconds):
                raise TimeoutError("No turn to check this password came in time")
        finally:
            self._waiting[pair] -= 1
            if not self._waiting[pair]:
                del self._waiting[pair]

    def _is_free(self, key: str) -> bool:
        return key not in self._running and len(self._running) < self._most_running


# Each hash takes 19 MiB and a core for some 30 ms.
turn = HashQueue(most_running=4, most_waiting=64, wait_seconds=20).turn
