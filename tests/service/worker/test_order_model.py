"""Random queues: the worker gives slots as a plain list says, whatever people do meanwhile."""

import random
from dataclasses import dataclass, field

import pytest

from service.models import Account, Transfer
from service.transfers import transfers
from service.transfers.under_way import Decision, decide_all
from service.worker.runs.run import LARGE_BYTES
from tests.service.builders import NOW, a_torrent, add_torrent, alice, an_account, mallory
from tests.service.fakes import Shift

pytestmark = pytest.mark.django_db

SMALL, LARGE, URL = "small", "large", "url"
ACTIONS = 8


@dataclass
class PlainQueue:
    """What should happen, without a database: the order, and who of it has a slot."""

    slots: int
    order: list[int] = field(default_factory=list)
    put_first: int = 0  # how many at the beginning of the order
    kinds: dict[int, str] = field(default_factory=dict)
    paused: set[int] = field(default_factory=set)
    running: set[int] = field(default_factory=set)
    replaced: int = 0  # how often one lost its slot to another

    def add(self, pk: int, kind: str) -> None:
        self.order.append(pk)
        self.kinds[pk] = kind

    def remove(self, pk: int) -> None:
        self.put_first -= self.order.index(pk) < self.put_first
        self.order.remove(pk)
        self.paused.discard(pk)
        self.running.discard(pk)

    def decide(self, chosen: set[int], decision: Decision) -> None:
        match decision:
            case Decision.PAUSE:
                self.paused |= chosen
                self.running -= chosen
            case Decision.RESUME:
                self.paused -= chosen
            case Decision.FIRST | Decision.LAST:
                self.to_end(chosen, is_first=decision is Decision.FIRST)
            case Decision.UP:
                self.order = shifted(self.order, chosen)
            case Decision.DOWN:
                self.order = shifted(self.order[::-1], chosen)[::-1]

    def to_end(self, chosen: set[int], *, is_first: bool) -> None:
        ours = [pk for pk in self.order if pk in chosen]
        others = [pk for pk in self.order if pk not in chosen]
        self.put_first -= len(chosen.intersection(self.order[: self.put_first]))
        self.put_first += len(ours) * is_first
        self.order = ours + others if is_first else others + ours

    def settle(self) -> None:
        for kinds in ((SMALL, LARGE), (URL,)):
            order = [pk for pk in self.order if self.kinds[pk] in kinds and pk not in self.paused]
            self.fill(order)
            for place, pk in enumerate(order):
                behind = [other for other in order[place + 1 :] if other in self.running]
                if pk not in self.running and self.is_put_first(pk) and behind:
                    self.running.remove(behind[-1])
                    self.running.add(pk)
                    self.replaced += 1

    def fill(self, order: list[int]) -> None:
        for pk in order:
            running = [each for each in order if each in self.running]
            large = sum(self.kinds[each] == LARGE for each in running)
            needs_large = self.kinds[pk] == LARGE and not self.is_put_first(pk)
            fits = not needs_large or large < max(1, self.slots - 1)
            if len(running) < self.slots and fits:
                self.running.add(pk)

    def is_put_first(self, pk: int) -> bool:
        return self.order.index(pk) < self.put_first


def shifted(order: list[int], chosen: set[int]) -> list[int]:
    """Return the order after each of the chosen has passed the one above it, from the top."""
    order = list(order)
    for pk in [pk for pk in order if pk in chosen]:
        place = order.index(pk)
        if place and order[place - 1] not in chosen:
            order.insert(place - 1, order.pop(place))
    return order


class Chance(random.Random):
    def some(self, ids: list[int]) -> set[int]:
        return set(self.sample(ids, min(len(ids), self.choice((1, 1, 1, 2, 4)))))


class RandomQueue:
    """One account's queue in a worker, and the same as a plain list."""

    def __init__(self, account: Account, seed: int) -> None:
        self.account = account
        self.chance = Chance(seed)
        self.plain = PlainQueue(self.chance.randint(1, 4))
        self.shift = Shift(active_transfers=self.plain.slots)
        self.added = 0
        for _each in range(self.chance.randint(2, 9)):
            self.add()
        self.settle()

    def act(self) -> None:
        deeds = [self.add, self.finish, self.delete, self.restart, *[self.decide] * 6]
        if not self.plain.order:
            deeds = [self.add]
        self.chance.choice(deeds)()
        self.settle()
        self.learn()

    def settle(self) -> None:
        # No time passes, so that none of them stalls.
        for _round in range(3):
            self.shift.round(seconds=0)
        self.plain.settle()

    def learn(self) -> None:
        """Tell the worker which files some of those that run have."""
        for pk in sorted(self.plain.running):
            if self.chance.random() < 1 / 2:
                transfer = Transfer.objects.get(pk=pk)
                if self.plain.kinds[pk] == URL:
                    self.shift.fetching.head(transfer, f"{pk}", can_resume=True)
                else:
                    files = [("a", transfer.size_bytes - 1), ("b", 1)]
                    self.shift.engine.metadata(transfer, files=files)
        self.shift.round(seconds=0)

    def add(self) -> None:
        self.added += 1
        kind = self.chance.choice((SMALL, SMALL, LARGE, URL))
        if kind == URL:
            url = f"http://example.org/{self.added}"
            transfer = transfers.add_url(self.account, url, 0, NOW)
        else:
            files = {"a": LARGE_BYTES if kind == LARGE else 1, "b": 1}
            content = a_torrent(f"film {self.added}", files=files)
            transfer = add_torrent(self.account, content, 0, NOW)
        self.plain.add(transfer.pk, kind)

    def finish(self) -> None:
        """End one that runs, as a failure, which needs no content."""
        if self.plain.running:
            pk = self.chance.choice(sorted(self.plain.running))
            is_url = self.plain.kinds[pk] == URL
            tool = self.shift.fetching if is_url else self.shift.engine
            tool.broken(Transfer(pk=pk), "fetch_error" if is_url else "invalid_torrent", "Broken.")
            self.plain.remove(pk)

    def delete(self) -> None:
        pk = self.chance.choice(self.plain.order)
        transfers.delete(self.account, pk, NOW)
        self.plain.remove(pk)

    def restart(self) -> None:
        self.shift.worker.stop(1)
        self.shift.begin()

    def decide(self) -> None:
        chosen = self.chance.some(self.plain.order)
        decision = self.chance.choice(list(Decision))
        decide_all(self.account, chosen | {10**9}, decision, NOW)
        self.plain.decide(chosen, decision)

    def check(self) -> None:
        states = dict(Transfer.running().values_list("pk", "state"))
        listed = [row.id for row in transfers.list_rows(self.account) if row.id in states]
        assert listed == self.plain.order
        assert {pk for pk in states if states[pk] == "stopped"} == self.plain.paused
        waits = ("queued", "stopped")
        assert {pk for pk in states if states[pk] not in waits} == self.plain.running


FEW, MANY = range(4), pytest.param(range(4, 200), marks=pytest.mark.slow(seconds=90))


@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_slots_follow_the_order_that_people_made(seeds, library_folder):
    account, replaced = alice(space_max_bytes=10**15), 0
    for seed in seeds:
        queue = RandomQueue(account, seed)
        queue.check()
        for _action in range(ACTIONS):
            queue.act()
            queue.check()
        queue.shift.worker.stop(1)
        Transfer.objects.all().delete()
        replaced += queue.plain.replaced
    assert replaced > len(seeds) / 5


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_account_has_its_own_order(seed, library_folder):
    """Of the same account, no other transfer that waits is before one that gets a slot."""
    accounts = [alice(), mallory(), an_account()]
    chance, shift, had = Chance(seed), Shift(active_transfers=3), set()
    for number in range(40):
        account = chance.choice(accounts)
        mine = Transfer.running().filter(account=account).order_by("rank")
        ids = list(mine.values_list("pk", flat=True))
        if len(ids) < 4:
            transfers.add_url(account, f"http://example.org/{number}", 0, NOW)
        elif chance.random() < 1 / 3:
            transfers.delete(account, chance.choice(ids), NOW)
        else:
            decide_all(account, chance.some(ids), chance.choice(list(Decision)), NOW)
        for _round in range(3):
            shift.round(seconds=0)
        have = set(Transfer.objects.filter(state="metadata").values_list("pk", flat=True))
        for account in accounts:
            rows = Transfer.running().filter(account=account).order_by("rank")
            states = rows.exclude(state="stopped").values_list("pk", flat=True)
            in_order = [pk for pk in states if pk in have - had or pk not in have]
            assert in_order == sorted(in_order, key=lambda pk: pk not in have), number
        waits = Transfer.objects.filter(state="queued").exists()
        assert len(have) == 3 or not waits
        had = have
