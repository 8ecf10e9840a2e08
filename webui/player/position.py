"""How far a person got in a film."""

from dataclasses import dataclass


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
