"""How far a person got in a film, and when it counts as begun or as watched."""

from dataclasses import dataclass

# A few seconds don't count as begun, and a film counts as watched when its credits roll.
BEGUN_SECONDS = 10
END_SECONDS = 300
END_SHARE = 0.05
LONGEST_SECONDS = 1_000 * 3600


@dataclass(frozen=True)
class Position:
    position_seconds: float
    duration_seconds: float  # 0: unknown
    is_watched: bool

    @property
    def percent(self) -> int:
        """Return how much was played, from 1 to 99; 0 if nothing, or if the length is unknown."""
        if not self.position_seconds or not self.duration_seconds:
            return 0
        return min(max(round(100 * self.position_seconds / self.duration_seconds), 1), 99)


def is_begun(at_seconds: float) -> bool:
    return at_seconds >= BEGUN_SECONDS


def is_at_end(at_seconds: float, of_seconds: float) -> bool:
    return of_seconds > 0 and of_seconds - at_seconds <= min(of_seconds * END_SHARE, END_SECONDS)


def clamp(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_SECONDS)
