"""Choose which waiting transfers come next, fairly between accounts."""

from collections.abc import Collection
from itertools import chain, zip_longest

from django.db.models import Exists, OuterRef, Q, QuerySet

from service.models import Transfer
from service.worker.leases import Lease
from service.worker.run import LARGE_BYTES

Waiting = tuple[int, int]
"""A transfer's id and size."""


class Queue:
    """The transfers that no worker has begun, and that wait for a slot.

    A torrent that another worker runs is left to that worker, which needs no second slot for it.
    """

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._lines = (Line(lease, Q()), Line(lease, Q(size_bytes__lt=LARGE_BYTES)))

    def same_torrents(self, hashes: Collection[str]) -> set[int]:
        """Return the ids of transfers with the same torrents, if other workers leave them to us."""
        if not hashes or not self._lease.has_others():
            return set()
        is_same = Q(info_hash_v1__in=hashes) | Q(info_hash_v2__in=hashes)
        return set(free_queued().filter(is_same).values_list("pk", flat=True))

    def next(self, count: int) -> list[Waiting]:
        """Return up to `count` transfers, and as many small ones: these may overtake large ones."""
        return list(dict.fromkeys(chain.from_iterable(line.next(count) for line in self._lines)))

    def note_begun(self, transfer_ids: list[int]) -> None:
        for line in self._lines:
            line.note_begun(transfer_ids)


class Line:
    """The oldest transfer of each account in turn, then the second of each, and so on.

    How much it reads depends on how many transfers are requested, not on how many wait, nor on
    how many accounts there are. It begins after the account that came last, so every account has
    its turn.
    """

    def __init__(self, lease: Lease, which: Q) -> None:
        self._lease = lease
        self._which = which
        self._last_account_id = 0
        self._account_of: dict[int, int] = {}  # of each transfer in the order of `next`

    def next(self, count: int) -> list[Waiting]:
        waiting = free_queued().filter(self._which)
        if self._lease.has_others():
            waiting = without_torrents_elsewhere(waiting, self._lease.name)
        after = waiting.filter(account__gt=self._last_account_id)
        before = waiting.filter(account__lte=self._last_account_id)
        by_account: dict[int, list[Waiting]] = {}
        for half in (after, before):
            gather(by_account, half, count)
        accounts = {pk: account_id for account_id in by_account for pk, _ in by_account[account_id]}
        turns = chain.from_iterable(zip_longest(*by_account.values()))
        chosen = [each for each in turns if each][:count]
        self._account_of = {pk: accounts[pk] for pk, _size in chosen}
        return chosen

    def note_begun(self, transfer_ids: list[int]) -> None:
        for pk, account_id in self._account_of.items():
            if pk in transfer_ids:
                self._last_account_id = account_id


def free_queued() -> QuerySet[Transfer]:
    return Transfer.running().filter(state=Transfer.State.QUEUED, leased_by="")


def without_torrents_elsewhere(waiting: QuerySet[Transfer], name: str) -> QuerySet[Transfer]:
    theirs = Transfer.objects.exclude(leased_by="").exclude(leased_by=name)
    for column in ("info_hash_v1", "info_hash_v2"):
        same = theirs.exclude(**{column: ""}).filter(**{column: OuterRef(column)})
        waiting = waiting.exclude(Exists(same))
    return waiting


def gather(by_account: dict[int, list[Waiting]], waiting: QuerySet[Transfer], count: int) -> None:
    """Add the oldest transfers of the next accounts, until there are `count` accounts."""
    account_id = 0
    while len(by_account) < count:
        rows = waiting.filter(account__gt=account_id).order_by("account", "pk")
        batch = list(rows.values_list("account", "pk", "size_bytes")[:count])
        for account_id, pk, size_bytes in batch:
            by_account.setdefault(account_id, []).append((pk, size_bytes))
        if len(batch) < count:
            return
