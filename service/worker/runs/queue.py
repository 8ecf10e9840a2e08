"""Choose which waiting transfers come next: by rank in an account, fairly between accounts."""

from collections.abc import Collection, Iterator
from itertools import chain, zip_longest

from django.db.models import Exists, OuterRef, Q, QuerySet

from service.models import Transfer
from service.transfers.ranks import in_rank_order, is_put_first
from service.worker.leases import Lease
from service.worker.runs.run import LARGE_BYTES
from service.worker.runs.slots import Candidate, Slots


class Queue:
    """The transfers of some kinds that no worker has begun, and that wait for a slot.

    A torrent that another worker runs is left to that worker, which needs no second slot for it.
    """

    def __init__(self, lease: Lease, slots: Slots) -> None:
        self.slots = slots
        self.left: list[int] = []  # what other workers left, and what needs a slot
        self._waiting: list[Candidate] = []
        self._waiting_for = 0  # for how many slots they were looked up
        self._account_ids: set[int] = set()  # whose first ones were looked up, too
        is_kind, is_small = Q(kind__in=slots.kinds), Q(size_bytes__lt=LARGE_BYTES)
        self._lines = (Line(lease, is_kind), Line(lease, is_kind & is_small))

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting or self.left)

    def take_left(self) -> list[int]:
        free = max(0, self.slots.free())
        taken, self.left = self.left[:free], self.left[free:]
        return taken

    def choose(self) -> list[int]:
        """Choose who gets the free slots: the turns of runs that are ready come first."""
        is_known = self.slots.free() <= self._waiting_for
        if self._waiting and not (is_known and self.slots.account_ids() <= self._account_ids):
            self.look()
        return self.slots.choose(in_rank_order([*self.slots.ready(), *self._waiting]))

    def put_first(self) -> list[Candidate]:
        """Return those that people put first, by rank, although no slot is free for them."""
        waiting = dict.fromkeys([*self.slots.ready(), *self._waiting])
        put_first = [each for each in waiting if is_put_first(each.rank)]
        return sorted(put_first, key=lambda each: each.rank)

    def look(self) -> None:
        """Look up the next transfers for the free slots; at least one, so runs know if any wait."""
        self._waiting_for = max(1, self.slots.free())
        self._account_ids = self.slots.account_ids()
        self._waiting = self.next(self._waiting_for)

    def next(self, count: int) -> list[Candidate]:
        """Return up to `count` transfers, and as many small ones: these may overtake large ones.

        Add as many of each account that has runs here, which those it put first may replace.
        """
        line, small = self._lines
        first = line.next(count)
        if len(first) < count:  # These are all that wait.
            return first
        more = [line.first_of(pk, count) for pk in self._account_ids]
        return list(dict.fromkeys(chain(first, small.next(count), *more)))

    def note_begun(self, transfer_ids: list[int]) -> None:
        for line in self._lines:
            line.note_begun(transfer_ids)


class Line:
    """The first transfer of each account in turn, then the second of each, and so on.

    How much it reads depends on how many transfers are requested, not on how many wait, nor on
    how many accounts there are; it passes over other kinds and sizes within the index. It begins
    after the account that came last, so every account has its turn.
    """

    def __init__(self, lease: Lease, which: Q) -> None:
        self._lease = lease
        self._which = which
        self._last_account_id = 0
        self._account_of: dict[int, int] = {}  # of each transfer in the order of `next`

    def next(self, count: int) -> list[Candidate]:
        waiting = self._free()
        by_account: dict[int, list[Candidate]] = {}
        first = list(in_order(waiting, count + 1))
        if len(first) <= count:  # These are all that wait.
            for each in sorted(first, key=lambda each: each.account_id <= self._last_account_id):
                by_account.setdefault(each.account_id, []).append(each)
        else:
            after = waiting.filter(account__gt=self._last_account_id)
            before = waiting.filter(account__lte=self._last_account_id)
            for half in (after, before):
                gather(by_account, half, count)
        turns = chain.from_iterable(zip_longest(*by_account.values()))
        chosen = [each for each in turns if each][:count]
        self._account_of = {each.id: each.account_id for each in chosen}
        return chosen

    def first_of(self, account_id: int, count: int) -> list[Candidate]:
        return list(in_order(self._free().filter(account=account_id), count))

    def _free(self) -> QuerySet[Transfer]:
        waiting = free_queued().filter(self._which)
        if self._lease.has_others():
            waiting = without_torrents_elsewhere(waiting, self._lease.name)
        return waiting

    def note_begun(self, transfer_ids: list[int]) -> None:
        for pk, account_id in self._account_of.items():
            if pk in transfer_ids:
                self._last_account_id = account_id


def free_queued() -> QuerySet[Transfer]:
    return Transfer.running().filter(state=Transfer.State.QUEUED, leased_by="")


def same_torrents(lease: Lease, hashes: Collection[str]) -> set[int]:
    """Return the ids of transfers with the same torrents, if other workers leave them to us."""
    if not hashes or not lease.has_others():
        return set()
    is_same = Q(info_hash_v1__in=hashes) | Q(info_hash_v2__in=hashes)
    return set(free_queued().filter(is_same).values_list("pk", flat=True))


def without_torrents_elsewhere(waiting: QuerySet[Transfer], name: str) -> QuerySet[Transfer]:
    theirs = Transfer.objects.exclude(leased_by="").exclude(leased_by=name)
    for column in ("info_hash_v1", "info_hash_v2"):
        same = theirs.exclude(**{column: ""}).filter(**{column: OuterRef(column)})
        waiting = waiting.exclude(Exists(same))
    return waiting


def gather(by_account: dict[int, list[Candidate]], waiting: QuerySet[Transfer], count: int) -> None:
    """Add the first transfers of the next accounts, until there are `count` accounts."""
    account_id = 0
    while len(by_account) < count:
        batch = list(in_order(waiting.filter(account__gt=account_id), count))
        for each in batch:
            account_id = each.account_id
            by_account.setdefault(account_id, []).append(each)
        if len(batch) < count:
            return


def in_order(waiting: QuerySet[Transfer], count: int) -> Iterator[Candidate]:
    rows = waiting.order_by("account", "rank", "pk")
    return map(Candidate._make, rows.values_list(*Candidate._fields)[:count])
