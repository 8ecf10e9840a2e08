"""What people decide about transfers, and how the order changes."""

import random
from operator import itemgetter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.errors import NotFound
from service.models import Account, Transfer
from service.transfers import ranks, transfers, wake_ups
from service.transfers.under_way import Decision, decide, decide_all, new_ranks
from tests.cases import each_case
from tests.service.builders import NOW, alice, mallory

pytestmark = pytest.mark.django_db
FIRST, UP, DOWN, LAST = Decision.FIRST, Decision.UP, Decision.DOWN, Decision.LAST


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


def queue(account: Account, count: int) -> list[int]:
    uris = (f"magnet:?xt=urn:btih:{number:040x}" for number in range(1, count + 1))
    return [transfers.add_magnet(account, uri, 0, NOW).pk for uri in uris]


def listed(account: Account) -> list[int]:
    return [row.id for row in transfers.list_rows(account)]


def state_of(transfer_id: int) -> tuple[str, str]:
    row = Transfer.objects.get(pk=transfer_id)
    return row.state, row.reason


@each_case(
    ("chosen", "decision", "order"),
    [
        ("d", FIRST, "dabce"),
        ("bd", FIRST, "bdace"),
        ("abcde", FIRST, "abcde"),
        ("b", LAST, "acdeb"),
        ("bd", LAST, "acebd"),
        ("c", UP, "acbde"),
        ("a", UP, "abcde"),
        ("ab", UP, "abcde"),
        ("ac", UP, "acbde"),
        ("cd", UP, "acdbe"),
        ("be", UP, "baced"),
        ("c", DOWN, "abdce"),
        ("e", DOWN, "abcde"),
        ("de", DOWN, "abcde"),
        ("bc", DOWN, "adbce"),
        ("", FIRST, "abcde"),
    ],
)
def test_the_chosen_keep_their_order(chosen, decision, order):
    account = alice()
    named = dict(zip("abcde", queue(account, 5), strict=True))
    changed = decide_all(account, [named[each] for each in reversed(chosen)], decision, NOW)
    assert listed(account) == [named[each] for each in order]
    moved = {each for each, other in zip("abcde", order, strict=True) if each != other}
    assert {named[each] for each in chosen} & {named[each] for each in moved} <= set(changed)


@each_case(
    ("chosen", "before", "order"),
    [
        ("d", "b", "adbce"),
        ("a", "d", "bcade"),
        ("d", "a", "dabce"),
        ("c", "d", "abcde"),
        ("ae", "c", "baecd"),
        ("bd", "a", "bdace"),
        ("d", "d", "abcde"),
        ("d", "", "abcde"),
    ],
)
def test_the_chosen_come_before_another(chosen, before, order):
    account = alice()
    named = dict(zip("abcde", queue(account, 5), strict=True))
    ids = [named[each] for each in reversed(chosen)]
    before_id = named.get(before, 10**9)
    changed = decide_all(account, ids, Decision.BEFORE, NOW, before_id=before_id)
    assert listed(account) == [named[each] for each in order]
    assert bool(changed) == (order != "abcde")


def test_new_transfers_come_last_and_others_keep_their_place():
    account = alice()
    first, second = queue(account, 2)
    decide(account, second, FIRST, NOW)
    (third,) = [transfers.add_url(account, "http://example.org/", 0, NOW).pk]
    assert listed(account) == [second, first, third]
    decide(account, second, Decision.PAUSE, NOW)
    assert listed(account) == [second, first, third]


def test_only_those_that_are_put_first_come_before_everything():
    account = alice()
    ids = queue(account, 4)
    decide_all(account, ids[1:3], FIRST, NOW)
    decide_all(account, ids[1:2], LAST, NOW)
    decide_all(account, ids[:1], UP, NOW)
    put_first = [pk for pk, rank in places(account) if ranks.is_put_first(rank)]
    assert (listed(account), put_first) == ([ids[0], ids[2], ids[3], ids[1]], [ids[0]])
    for pk in ids:
        decide(account, pk, LAST, NOW)
    transfers.add_url(account, "http://example.org/", 0, NOW)
    assert not any(ranks.is_put_first(rank) for _pk, rank in places(account))


def places(account: Account) -> list[tuple[int, int]]:
    rows = Transfer.objects.filter(account=account).order_by("rank")
    return list(rows.values_list("pk", "rank"))


def test_neighbors_that_are_over_are_passed():
    account = alice()
    ids = queue(account, 4)
    Transfer.objects.filter(pk=ids[1]).update(state="failed")
    Transfer.objects.filter(pk=ids[2]).update(state="done")
    decide(account, ids[3], UP, NOW)
    running = Transfer.running().order_by("rank").values_list("pk", flat=True)
    assert list(running) == [ids[3], ids[0]]


def test_transfers_with_the_same_rank_can_be_moved():
    """A worker of the version before ranks adds transfers during an upgrade."""
    account = alice()
    ids = queue(account, 3)
    Transfer.objects.update(rank=0)
    decide(account, ids[2], UP, NOW)
    assert listed(account) == [ids[0], ids[2], ids[1]]


def test_ranks_stay_small_however_often_people_move_transfers():
    """Ranks that grew with each move would overflow one day."""
    chance = random.Random(1)
    rank_of = {pk: pk for pk in range(1, 21)}
    for _move in range(2_000):
        chosen = chance.sample(range(1, 21), 2)
        rank_of |= new_ranks(rank_of, chosen, chance.choice((FIRST, LAST)))
        rank_of = dict(sorted(rank_of.items(), key=itemgetter(1)))
    assert max(map(abs, rank_of.values())) <= 20 + 2 * 2_000


def test_pausing_and_resuming_skip_what_they_cannot_change():
    account = alice()
    ids = queue(account, 5)
    for pk, state in zip(ids, ("queued", "moving", "done", "failed", "stopped"), strict=True):
        Transfer.objects.filter(pk=pk).update(state=state)
    foreign = queue(mallory(), 1)
    assert decide_all(account, [*ids, *foreign, 10**12], Decision.PAUSE, NOW) == ids[:1]
    assert sorted(decide_all(account, [*ids, *foreign], Decision.RESUME, NOW)) == [ids[0], ids[4]]
    assert state_of(foreign[0]) == ("queued", "")


@each_case("decision", list(Decision))
def test_one_unknown_transfer_is_not_found(decision):
    (foreign,) = queue(mallory(), 1)
    with pytest.raises(NotFound):
        decide(alice(), foreign, decision, NOW)


def test_only_what_waits_for_space_keeps_its_reason():
    account = alice()
    waiting, stalled = queue(account, 2)
    Transfer.objects.filter(pk=waiting).update(state="no_room", reason="not_enough_space")
    Transfer.objects.filter(pk=stalled).update(state="stalled", reason="no_peers")
    for decision, state in ((Decision.PAUSE, "stopped"), (Decision.RESUME, "queued")):
        decide_all(account, [waiting, stalled], decision, NOW)
        assert state_of(waiting) == (state, "not_enough_space")
        assert state_of(stalled) == (state, "")


@pytest.mark.slow
def test_many_are_changed_by_few_queries_and_one_wake_up(monkeypatch):
    account, woken = alice(), []
    # No worker runs here, whose pipe could tell.
    monkeypatch.setattr(wake_ups, "wake_workers", lambda: woken.append(1))
    ids = queue(account, 60)
    woken.clear()
    for decision in Decision:
        with CaptureQueriesContext(connection) as queries:
            decide_all(account, ids[::2], decision, NOW)
        assert len(queries) < 12
    assert len(woken) == len(Decision)


def test_the_last_rank_and_the_list_are_read_from_an_index():
    """Adding thousands must not read thousands for each."""
    account = alice()
    explain = "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        if connection.vendor == "postgresql":
            explain = "EXPLAIN"
            # PostgreSQL prefers to read and sort so few rows.
            for way in ("seqscan", "bitmapscan", "sort"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
        ranks.next_rank(account.pk)
        transfers.list_rows(account)
        plans = []
        for query in [each["sql"] for each in queries if each["sql"].startswith("SELECT")]:
            cursor.execute(f"{explain} {query}")
            plans.append(str(cursor.fetchall()))
    assert len(plans) == 2
    assert all("undone_by_account" in plan for plan in plans), plans
    assert not any("TEMP B-TREE" in plan for plan in plans), plans
