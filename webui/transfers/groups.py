"""The order in which transfers are shown: under way, failed, done."""

from collections.abc import Sequence
from typing import NamedTuple

from webui.transfers.states import DONE, UNDER_WAY, CachedTransfer


class Groups(NamedTuple):
    """The keys of all transfers, in display order."""

    under_way: Sequence[str] = ()
    failed: Sequence[str] = ()
    done: Sequence[str] = ()

    def without(self, keys: set[str]) -> "Groups":
        return Groups(*([key for key in group if key not in keys] for group in self))


def group_transfers(cached_transfers: list[CachedTransfer]) -> Groups:
    """Group transfers: those under way by state, moving ones first; all others newest first."""
    under_way = [each for each in cached_transfers if not each.is_ended]
    under_way.sort(key=lambda each: (UNDER_WAY.index(each.state), -each.since, each.key))
    ended = [each for each in cached_transfers if each.is_ended]
    ended.sort(key=lambda each: (-(each.ended_at or 0), each.key))
    return Groups(
        under_way=[each.key for each in under_way],
        failed=[each.key for each in ended if each.state != DONE],
        done=[each.key for each in ended if each.state == DONE],
    )
