"""kill -9 of a worker at the steps of a transfer, from the queue to the library."""

import os
import random
import signal
from functools import partial

import pytest
from django.db.models import QuerySet

from service.library import library
from service.models import Account, File, Transfer
from service.transfers import choices, transfers
from service.transfers.download_folders import download_folder, ids_on_disk
from service.transfers.under_way import Decision, decide_all
from tests.service.builders import NOW, alice
from tests.service.fakes import Helper, Shift, end_process_of
from tests.service.test_kills import dying_at, whole

pytestmark = pytest.mark.django_db(transaction=True)
# A prime, so that the runs meet every kind of step without testing each of some 500.
STRIDE = 13


def live(transfer: Transfer) -> None:
    """Run a worker from its start until the transfer is done and its download folder gone."""
    shift = Shift()
    shift.rounds(2)
    for _ in range(4):
        if shift.state(transfer) != "done" and shift.engine.orders:
            shift.engine.metadata(transfer, files=[("film", 7)])
            shift.round()
            shift.engine.complete(transfer, b"content")
        shift.rounds(2)


@pytest.mark.slow
def test_a_kill_at_any_step_loses_and_doubles_nothing(library_folder):
    account, step, status = alice(), 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        uri = f"magnet:?xt=urn:btih:{step + 1:040x}&dn=film"
        transfer = transfers.add_magnet(account, uri, 0, NOW)
        status = dying_at(step, partial(live, transfer))
        live(transfer)
        transfer.refresh_from_db()
        assert (transfer.state, transfer.leased_by) == ("done", ""), step
        assert File.objects.get().pk == transfer.file_created_id
        assert list(ids_on_disk()) == []
        whole(account, library_folder)
        transfers.delete(account, transfer.pk, NOW)
        library.delete_file(account, transfer.file_created_id, NOW)
        step += STRIDE
    assert (status, step > 10 * STRIDE) == (0, True)


PAUSED_AT_ONCE = 3
MOST_STEPS = 1_500
DECISIONS = (Decision.PAUSE, Decision.RESUME, Decision.FIRST)


def content_of(transfer: Transfer) -> bytes:
    return f"content {transfer.pk}".encode()


class Crowd:
    """Two workers, and people who pause, resume, and reorder transfers meanwhile."""

    def __init__(self, account: Account, seed: int, tally: int) -> None:
        self.account = account
        self.chance = random.Random(seed)
        self.tally = tally  # gets a byte for each pause, and for each end of one
        self.shifts = [Shift(active_transfers=2), Shift(active_transfers=2)]
        stopped = Transfer.objects.filter(state="stopped")
        self.paused = set(stopped.values_list("pk", flat=True))

    def act(self) -> None:
        while True:
            self.decide()
            shift = self.chance.choice(self.shifts)
            self.work(shift, completes=self.chance.random() < 1 / 10)
            self.check(shift)
            if self.chance.random() < 1 / 20:
                end_process_of(shift.lease)
                shift.begin()

    def decide(self) -> None:
        ids = list(Transfer.running().values_list("pk", flat=True))
        chosen = self.chance.sample(ids, min(len(ids), self.chance.randint(1, PAUSED_AT_ONCE)))
        decision = self.chance.choice(DECISIONS)
        changed = decide_all(self.account, chosen, decision, NOW)
        if decision is not Decision.FIRST:
            os.write(self.tally, b"." * len(changed))
            self.paused ^= set(changed)

    def work(self, shift: Shift, *, completes: bool) -> None:
        """Run a worker that learns the files of all its transfers, and may complete them.

        What completes is news after the next decision.
        """
        shift.round()
        for tool in (shift.engine, shift.fetching):
            for transfer in self.ordered(tool):
                size_bytes = len(content_of(transfer))
                if tool is shift.engine:
                    tool.metadata(transfer, files=[("film", size_bytes)])
                else:
                    tool.head(transfer, f"{transfer.pk}", size_bytes, can_resume=True)
        shift.round()
        for tool in (shift.engine, shift.fetching):
            for transfer in self.ordered(tool):
                if completes and transfer.state in ("downloading", "moving"):
                    tool.complete(transfer, content_of(transfer))

    def check(self, shift: Shift) -> None:
        """Check that what was paused stays paused, unless it was just being imported."""
        states = Transfer.objects.filter(pk__in=self.paused).values_list("state", flat=True)
        assert set(states) <= {"stopped", "done"}
        for tool in (shift.engine, shift.fetching):
            assert not self.paused.intersection(map(int, tool.orders))

    @staticmethod
    def ordered(tool: Helper) -> QuerySet[Transfer]:
        return Transfer.objects.filter(pk__in=list(tool.orders))


def add_to(account: Account, count: int) -> None:
    """Add transfers until so many are under way, half of them URLs."""
    number = Transfer.objects.count()
    for each in range(number, number + count - Transfer.running().count()):
        if each % 2:
            transfers.add_url(account, f"http://example.org/{each}", 0, NOW)
        else:
            transfers.add_magnet(account, f"magnet:?xt=urn:btih:{each + 1:040x}", 0, NOW)


def finish_all(account: Account) -> None:
    every = list(Transfer.running().values_list("pk", flat=True))
    decide_all(account, every, Decision.RESUME, NOW)
    crowd = Crowd(account, 0, 0)
    for _turn in range(20 * len(every)):
        crowd.work(crowd.shifts[0], completes=True)
        if not Transfer.running().exists():
            break
    crowd.shifts[0].rounds(3)


@pytest.mark.parametrize("changes", [20, pytest.param(1_000, marks=pytest.mark.slow)])
def test_kills_lose_no_transfer_that_people_pause_and_resume(changes, library_folder):
    account, chance = alice(), random.Random(1)
    kills = changed = 0
    reading, tally = os.pipe()
    while changed < changes:
        add_to(account, 8)
        crowd = partial(act_as_crowd, account, kills, tally)
        assert dying_at(chance.randrange(MOST_STEPS), crowd) == -signal.SIGKILL
        kills += 1
        os.write(tally, b"!")
        changed += len(os.read(reading, 2**16)) - 1
        assert File.objects.count() == Transfer.objects.filter(state="done").count()
    finish_all(account)
    done = Transfer.objects.filter(state="done", leased_by="")
    assert File.objects.count() == done.count() == Transfer.objects.count() > 8
    for transfer in done:
        with library_folder.open(File.objects.get(pk=transfer.file_created_id).blob) as content:
            assert content.read() == content_of(transfer)
    assert list(ids_on_disk()) == []
    whole(account, library_folder)


def act_as_crowd(account: Account, seed: int, tally: int) -> None:
    Crowd(account, seed, tally).act()


def choose_and_live(transfer: Transfer) -> None:
    """Do the same for a torrent of two files, of which a person chooses the second."""
    shift = Shift()
    shift.rounds(2)
    for _ in range(4):
        if shift.state(transfer) != "done" and shift.engine.orders:
            shift.engine.metadata(transfer, "Films", [("a", 3), ("b", 4)])
            shift.round()
        if shift.state(transfer) != "done" and choices.read(transfer.pk).is_known:
            choices.choose(transfer.account, transfer.pk, {1}, NOW)
        shift.rounds(2)
        if str(transfer.pk) in shift.engine.orders:
            download_folder(transfer.pk).file(1).write_bytes(b"bbbb")
            shift.engine.complete(transfer)
        shift.rounds(2)


@pytest.mark.slow
def test_a_kill_at_any_step_leaves_a_choice_as_it_is(library_folder):
    account, step, status = alice(), 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        uri = f"magnet:?xt=urn:btih:{step + 1:040x}&dn=Films"
        transfer = transfers.add_magnet(account, uri, 0, NOW, chooses=bool(step % 2))
        status = dying_at(step, partial(choose_and_live, transfer))
        choose_and_live(transfer)
        transfer.refresh_from_db()
        assert (transfer.state, transfer.leased_by) == ("done", ""), step
        assert [each.name for each in File.objects.all()] == ["b"]
        assert list(ids_on_disk()) == []
        transfers.delete(account, transfer.pk, NOW)
        library.delete_folder(account, transfer.folder_created_id, NOW)
        step += 2 * STRIDE + 1
    assert (status, step > 10 * STRIDE) == (0, True)
