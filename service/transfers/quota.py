"""Decide which transfers fit, and which must wait for space.

An upload takes its space in `service.library.space`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db.models import F, QuerySet, Sum

from service.errors import DiskFull, NoRoom
from service.library import space
from service.models import Account, Transfer
from service.transfers import states
from service.transfers.ranks import in_rank_order


@dataclass(frozen=True)
class Claim:
    """The space that a transfer needs until it is in its folder."""

    transfer_id: int
    account_id: int
    rank: int
    size_bytes: int
    missing_bytes: int  # not on the disk yet; 1 if unknown
    is_waiting: bool


def find_obstacle(account: Account, size_bytes: int) -> str | None:
    """Return why a transfer can't be added, or None. Space that running transfers need is taken."""
    if Transfer.running().filter(account=account).count() >= settings.QUEUE_LIMIT:
        return "queue_full"
    if size_bytes and size_bytes > unpromised_bytes(account):
        return NoRoom.reason
    return None


def find_shortages(
    claims: Iterable[Claim], free_of: Mapping[int, int], disk_bytes: int
) -> dict[int, str]:
    """Return the reason for each claim that doesn't fit. Running ones come first.

    Of an account's claims, the first by rank come first, and between accounts, the older ones.
    `free_of`: what each account has left; `disk_bytes`: what the disk has left for content.
    """
    remaining = dict(free_of)
    reasons: dict[int, str] = {}
    by_age = sorted(claims, key=lambda each: each.transfer_id)
    running = in_rank_order(each for each in by_age if not each.is_waiting)
    waiting = in_rank_order(each for each in by_age if each.is_waiting)
    for claim in (*running, *waiting):
        if claim.size_bytes > remaining.get(claim.account_id, 0):
            reasons[claim.transfer_id] = NoRoom.reason
        elif claim.missing_bytes > disk_bytes:
            reasons[claim.transfer_id] = DiskFull.reason
        else:
            remaining[claim.account_id] -= claim.size_bytes
            disk_bytes -= claim.missing_bytes
    return reasons


def promised_transfers() -> QuerySet[Transfer]:
    """Return the transfers whose size counts as used.

    Those that wait for space don't count, nor do those whose files are still to be chosen.
    """
    return Transfer.running().exclude(reason__in=states.WITHOUT_SPACE).exclude(chooses=True)


def unpromised_bytes(account: Account) -> int:
    mine = promised_transfers().filter(account=account)
    coming_bytes: int = mine.aggregate(bytes=Sum("size_bytes", default=0))["bytes"]
    return space.free_bytes(account) - space.promised_bytes(account) - coming_bytes


def free_beside(account_ids: Iterable[int], worker: str) -> dict[int, int]:
    """Return what each account has left for the transfers of this worker."""
    free = Account.objects.filter(pk__in=set(account_ids))
    free_of = dict(free.values_list("pk", F("space_max_bytes") - F("space_used_bytes")))
    others = promised_transfers().filter(account__in=free_of).exclude(leased_by=worker)
    sums = dict(others.order_by().values_list("account").annotate(bytes=Sum("size_bytes")))
    return {pk: free_bytes - sums.get(pk, 0) for pk, free_bytes in free_of.items()}
