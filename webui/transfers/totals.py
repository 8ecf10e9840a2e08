"""What the running transfers add up to: their number, rate, and time left."""

from typing import NamedTuple

from webui.transfers.states import DOWNLOADING, MOVING, CachedTransfer


class Totals(NamedTuple):
    running: int = 0
    rate: int = 0
    left_seconds: int | None = None
    percent: int | None = None
    is_lively: bool = False


def totals_of(cached_transfers: list[CachedTransfer], now: float) -> Totals:
    """Sum up the running transfers. The time left is that of the longest."""
    running = [each for each in cached_transfers if each.state in (DOWNLOADING, MOVING)]
    whole = sum(each.size_bytes for each in running)
    lefts = [each.left_seconds for each in running if each.state == DOWNLOADING]
    estimates = [each for each in lefts if each is not None]
    return Totals(
        running=len(running),
        rate=sum(each.rate for each in running),
        left_seconds=max(estimates) if estimates and len(estimates) == len(lefts) else None,
        percent=sum(each.done_bytes for each in running) * 100 // whole if whole else None,
        is_lively=any(each.is_lively(now) for each in cached_transfers),
    )
