"""Find the torrent that crashed the engine, with as little harm to the others as possible."""

PROOF_SECONDS = 10.0
MOST_STRIKES = 3
GROUPS = 16


class CrashSearch:
    """The search for a culprit: suspects return to the engine in groups, one after the other.

    The orders without suspicion return first, since one of them may have crashed the engine while
    another was in hand. A group that runs for ten seconds is cleared; a group that crashes the
    engine again is split further. If a single order was in hand or under test, and all others in
    the engine were cleared, that order is the culprit and gets a strike.
    """

    def __init__(self) -> None:
        self._strikes: dict[str, int] = {}
        self._waiting: list[tuple[str, ...]] = []
        self._current: tuple[str, ...] = ()
        self._began_at: float | None = None

    def blame(self, in_hand: set[str], active: set[str], lived_seconds: float) -> tuple[str, ...]:
        """Give the culprit of a crash a strike and return it, or return nothing if it's unknown."""
        in_progress = in_hand | set(self._current)
        suspects = in_progress or active
        others_are_free = in_progress == active or lived_seconds >= PROOF_SECONDS
        others = [each for each in (*self._waiting, self._current) if not suspects & set(each)]
        self._current, self._began_at = (), None
        if len(in_progress) != 1 or not others_are_free:
            self._waiting = [*split(sorted(suspects)), *filter(None, others)]
            return ()
        (culprit,) = in_progress
        self._strikes[culprit] = self._strikes.get(culprit, 0) + 1
        self._waiting = [*filter(None, others), (culprit,)]
        return (culprit,)

    def is_struck_out(self, key: str) -> bool:
        return self._strikes.get(key, 0) >= MOST_STRIKES

    def is_held(self, key: str) -> bool:
        return any(key in group for group in self._waiting)

    @property
    def is_going_on(self) -> bool:
        return bool(self._current)

    def forget(self, key: str) -> None:
        self._strikes.pop(key, None)
        self._waiting = [tuple(each for each in group if each != key) for group in self._waiting]

    def release(self, now: float, on_hold: set[str], *, has_others: bool) -> tuple[str, ...]:
        """Return the group to release now, from the held orders that were added again."""
        if self._began_at is None and has_others:
            self._began_at = now
        if self._began_at is not None and now - self._began_at < PROOF_SECONDS:
            return ()
        self._current, self._began_at = (), None
        while self._waiting:
            group = tuple(each for each in self._waiting.pop(0) if each in on_hold)
            if group:
                self._current, self._began_at = group, now
                return group
        return ()


def split(keys: list[str]) -> list[tuple[str, ...]]:
    size = max(1, -(-len(keys) // GROUPS))
    return [tuple(keys[at : at + size]) for at in range(0, len(keys), size)]
