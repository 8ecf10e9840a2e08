"""The order in which the transfers of an account get slots and space."""

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Protocol, TypeVar

from service.models import Transfer


class Ranked(Protocol):
    @property
    def account_id(self) -> int: ...

    @property
    def rank(self) -> int: ...


Item = TypeVar("Item", bound=Ranked)


def is_put_first(rank: int) -> bool:
    """Return whether a person put the transfer first: it waits only for others like it."""
    return rank < 0


def next_rank(account_id: int) -> int:
    """Return the rank behind all others. Call it under the account's lock."""
    undone = Transfer.objects.filter(account=account_id).exclude(state=Transfer.State.DONE)
    last: int = undone.order_by("-rank").values_list("rank", flat=True).first() or 0
    return max(last, 0) + 1


def in_rank_order(items: Iterable[Item]) -> list[Item]:
    """Keep which account has each turn, and give it to the first of its items that has none."""
    in_turn = list(items)
    own: dict[int, deque[Item]] = defaultdict(deque)
    for item in sorted(in_turn, key=lambda each: each.rank):
        own[item.account_id].append(item)
    return [own[item.account_id].popleft() for item in in_turn]
