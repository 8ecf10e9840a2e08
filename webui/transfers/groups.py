"""The order in which transfers are shown: under way, failed, done; and what they add up to."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from webui.transfers.states import BANDS, DONE, DOWNLOADING, MOVING, CachedTransfer


class Groups(NamedTuple):
    """The keys of all transfers, in display order."""

    under_way: Sequence[str] = ()
    failed: Sequence[str] = ()
    done: Sequence[str] = ()

    def without(self, keys: set[str]) -> "Groups":
        return Groups(*([key for key in group if key not in keys] for group in self))


def group_transfers(cached_transfers: Iterable[CachedTransfer]) -> Groups:
    """Group transfers, given in the order of the queue: those that move first, then those that
    can't, then those that wait or are paused, each in that order; ended ones newest first."""
    under_way = [each for each in cached_transfers if not each.is_ended]
    under_way.sort(key=lambda each: BANDS[each.state])
    ended = [each for each in cached_transfers if each.is_ended]
    ended.sort(key=lambda each: (-(each.ended_at or 0), each.key))
    return split(under_way, ended)


def split(under_way: Sequence[CachedTransfer], ended: Sequence[CachedTransfer]) -> Groups:
    return Groups(
        under_way=[each.key for each in under_way],
        failed=[each.key for each in ended if each.state != DONE],
        done=[each.key for each in ended if each.state == DONE],
    )


def moved_keys(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return keys without which the others, of those in both, keep their order."""
    old, new = set(before), set(after)
    left, present = (key for key in before if key in new), (key for key in after if key in old)
    return [key for key, old_key in zip(present, left, strict=True) if key != old_key]


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
