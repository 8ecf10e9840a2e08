"""What people decide about transfers that are under way: pause, resume, and reorder them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import accumulate, count, pairwise

from common.batches import ROWS_AT_ONCE, batches
from service.accounts.accounts import changing_transfers
from service.models import Account, Transfer
from service.transfers import states, transfers, wake_ups

State = Transfer.State


class Decision(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    FIRST = "first"
    UP = "up"
    DOWN = "down"
    LAST = "last"
    BEFORE = "before"


def decide(account: Account, transfer_id: int, decision: Decision, now: datetime) -> None:
    """Change one transfer, unless it is over. Raises NotFound."""
    transfers.get(account, transfer_id)
    decide_all(account, [transfer_id], decision, now)


def decide_all(
    account: Account,
    transfer_ids: Collection[int],
    decision: Decision,
    now: datetime,
    *,
    before_id: int = 0,
) -> list[int]:
    """Change transfers in one transaction, and return the ids of those that have changed.

    Skip those that are over or unknown. A paused transfer frees its slot, and keeps its rank, what
    has arrived, and the space that it needs. One whose bytes are all there can't be paused.
    """
    with changing_transfers(account, now) as locked:
        match decision:
            case Decision.PAUSE:
                changed_ids = _restate(locked, transfer_ids, states.PAUSABLE, State.STOPPED, now)
            case Decision.RESUME:
                changed_ids = _restate(locked, transfer_ids, {State.STOPPED}, State.QUEUED, now)
            case _:
                changed_ids = _reorder(locked, set(transfer_ids), decision, before_id)
    wake_ups.wake_workers()
    return changed_ids


def _restate(
    locked: Account, ids: Collection[int], before: Collection[str], after: State, now: datetime
) -> list[int]:
    changed_ids: list[int] = []
    for batch in batches(ids):
        own = Transfer.objects.filter(account=locked, pk__in=batch, state__in=before)
        batch_ids = list(own.values_list("pk", flat=True))
        rows = Transfer.objects.filter(pk__in=batch_ids)
        # A person who resumes it wants every file, or those of the magnet link.
        rows.filter(reason=states.CHOOSE_FILES).update(chooses=False)
        # If it waited for space, no space is reserved for it, even while it is paused.
        rows.exclude(reason__in=states.WITHOUT_SPACE).update(reason="", details=None)
        rows.update(state=after, download_bytes_per_second=0, peers_sending=0, updated_at=now)
        changed_ids += batch_ids
    return changed_ids


def _reorder(
    locked: Account, ids: Collection[int], decision: Decision, before_id: int
) -> list[int]:
    rows = Transfer.running().filter(account=locked).order_by("rank", "pk")
    rank_of = dict(rows.values_list("pk", "rank"))
    new = new_ranks(rank_of, ids, decision, before_id)
    changed = [Transfer(pk=pk, rank=rank) for pk, rank in new.items() if rank_of[pk] != rank]
    Transfer.objects.bulk_update(changed, ["rank"], ROWS_AT_ONCE)
    return [each.pk for each in changed if each.pk in ids]


def new_ranks(
    rank_of: Mapping[int, int], ids: Collection[int], decision: Decision, before_id: int = 0
) -> dict[int, int]:
    """Return new ranks, of which some may be the old ones. Those in `ids` keep their order.

    `rank_of` has all ids in order. Those that come first get ranks below 0, see `is_put_first`.
    """
    taken = list(rank_of.values())
    chosen = [pk for pk in rank_of if pk in ids]
    if decision is Decision.FIRST:
        return dict(zip(chosen, count(min([0, *taken]) - len(chosen)), strict=False))
    if decision is Decision.LAST:
        return dict(zip(chosen, count(max([0, *taken]) + 1), strict=False))
    order = list(rank_of)
    match decision:
        case Decision.UP:
            order = move_up(order, ids)
        case Decision.DOWN:
            order = move_up(order[::-1], ids)[::-1]
        case _:
            order = move_before(order, ids, before_id)
    # An older version gives all new transfers the same rank.
    distinct = accumulate(taken, lambda last, rank: max(last + 1, rank))
    return dict(zip(order, distinct, strict=True))


def move_before(order: Sequence[int], ids: Collection[int], before_id: int) -> list[int]:
    """Return the order with `ids` before another transfer, or the same if that isn't there."""
    others = [pk for pk in order if pk not in ids]
    if before_id not in others:
        return list(order)
    at = others.index(before_id)
    return [*others[:at], *(pk for pk in order if pk in ids), *others[at:]]


def move_up(order: Sequence[int], ids: Collection[int]) -> list[int]:
    """Return the order after each of `ids` has changed places with the one before it."""
    order = list(order)
    for upper, lower in pairwise(range(len(order))):
        if order[lower] in ids and order[upper] not in ids:
            order[upper], order[lower] = order[lower], order[upper]
    return order
