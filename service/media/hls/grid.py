"""Where segments begin: at key frames if copied, on a grid if encoded."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil

# When the first frame is shown: it is decoded earlier, and no time may be negative.
BEGIN_SECONDS = 1
# A start or a seek encodes one segment before anything plays. Shorter ones take more key frames:
# at two seconds, a film is 2 % larger than at four.
ENCODED_SECONDS = 2
COPIED_SECONDS = 6.0
LONGEST_COPIED_SECONDS = 12.0
# A shorter remainder doesn't become a segment.
SHORTEST_SECONDS = 0.5


@dataclass(frozen=True)
class Grid:
    """Segments of `units` units each. `rate` units last a second: frames, AAC frames, or ms."""

    units: int
    rate: Fraction
    count: int
    units_of_last: int

    def start_of(self, number: int) -> int:
        return number * self.units

    def units_in(self, number: int) -> int:
        return self.units_of_last if number == self.count - 1 else self.units

    def seconds_at(self, unit: int) -> Fraction:
        return unit / self.rate

    @property
    def durations(self) -> list[float]:
        return [float(self.units_in(number) / self.rate) for number in range(self.count)]


def grid(rate: Fraction, seconds: float, units: int = 0) -> Grid:
    """Return a grid of `units` per segment; 0 means as many as last ENCODED_SECONDS."""
    units = units or max(1, round(ENCODED_SECONDS * rate))
    total = max(1, ceil(Fraction(seconds).limit_denominator(10**6) * rate))
    count, rest = divmod(total, units)
    if count and rest < SHORTEST_SECONDS * rate:
        # The last segment includes the remainder.
        return Grid(units, rate, count, units + rest)
    return Grid(units, rate, count + 1, rest)


def cuts(times: Sequence[float], end: float) -> list[int] | None:
    """Return which key frames begin a segment, or None if they lie too far apart."""
    if not times or any(after <= before for before, after in pairwise(times)):
        return None
    bounds = [*times, max(end, times[-1])]
    if max(after - before for before, after in pairwise(bounds)) > LONGEST_COPIED_SECONDS:
        return None
    indexes = [0]
    while (after := _next_cut(times, indexes[-1])) is not None:
        indexes.append(after)
    if len(indexes) > 1 and end - times[indexes[-1]] < SHORTEST_SECONDS:
        indexes.pop()
    return indexes


def _next_cut(times: Sequence[float], current: int) -> int | None:
    """Return the first cut that is far enough, or the one before if that is too far."""
    after = bisect_left(times, times[current] + COPIED_SECONDS - 0.01)
    is_too_long = after < len(times) and times[after] - times[current] > LONGEST_COPIED_SECONDS
    if is_too_long and after - 1 > current:
        after -= 1
    return after if after < len(times) else None
