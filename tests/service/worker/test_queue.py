"""Which waiting transfers come next, when several accounts have some."""

from copy import copy
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.models import Account, Transfer
from service.transfers import transfers
from service.transfers.under_way import Decision, decide
from service.worker.leases import Lease
from service.worker.runs.queue import Queue, same_torrents
from service.worker.runs.run import LARGE_BYTES, Runs
from service.worker.runs.slots import Slots
from tests.service.builders import NOW, an_account

pytestmark = pytest.mark.django_db


def a_queue(lease: Lease | None = None, kinds: tuple[str, ...] = Transfer.TORRENTS) -> Queue:
    return Queue(lease or Lease(None), Slots(5, Runs(), kinds))


def waiting(*counts: int) -> list[list[int]]:
    """Return the ids of new transfers of new accounts: this many for each."""
    accounts = [an_account() for _count in counts]
    number = iter(range(1, sum(counts) + 1))
    return [
        [add(account, next(number)) for _each in range(count)]
        for account, count in zip(accounts, counts, strict=True)
    ]


def add(account: Account, number: int) -> int:
    magnet = f"magnet:?xt=urn:btih:{number:040x}"
    return transfers.add_magnet(account, magnet, 0, NOW).pk


def ids(queue: Queue, count: int) -> list[int]:
    return [each.id for each in queue.next(count)]


def begin(transfer_ids: list[int]) -> None:
    Transfer.objects.filter(pk__in=transfer_ids).update(state="downloading", leased_by="other")


def test_transfers_of_one_account_run_in_order():
    (mine,) = waiting(5)
    assert ids(a_queue(), 3) == mine[:3]
    assert ids(a_queue(), 9) == mine


def test_transfers_run_in_the_order_that_people_made():
    mine, others = waiting(4, 2)
    account, other = (Transfer.objects.get(pk=each[0]).account for each in (mine, others))
    decide(account, mine[3], Decision.UP, NOW)
    decide(account, mine[0], Decision.LAST, NOW)
    decide(other, others[1], Decision.FIRST, NOW)
    order = [mine[1], others[1], mine[3], others[0], mine[2], mine[0]]
    assert ids(a_queue(), 6) == order
    assert ids(a_queue(), 2) == order[:2]


def test_each_account_has_one_before_any_has_a_second():
    one, two, three = waiting(3, 1, 2)
    assert ids(a_queue(), 6) == [one[0], two[0], three[0], one[1], three[1], one[2]]


def test_accounts_take_turns_for_any_number_of_transfers():
    many, few = waiting(6, 2)
    queue, begun = a_queue(), []
    for _turn in range(4):
        (pk,) = ids(queue, 1)
        queue.note_begun([pk])
        begin([pk])
        begun.append(pk)
    assert begun == [many[0], few[0], many[1], few[1]]


def test_a_transfer_taken_by_another_worker_is_not_offered_again():
    (one,), (two,) = waiting(1, 1)
    queue = a_queue()
    assert ids(queue, 1) == [one]
    begin([one])
    assert ids(queue, 1) == [two]


def test_small_transfers_behind_large_ones_have_their_own_slot():
    one, two = waiting(3, 3)
    Transfer.objects.filter(pk__in=[*one[:2], *two[:2]]).update(size_bytes=LARGE_BYTES)
    queue = a_queue()
    assert ids(queue, 2) == [one[0], two[0], one[2], two[2]]
    queue.note_begun([one[2]])
    begin([one[2]])
    assert ids(queue, 1) == [one[0], two[2]]


def test_each_kind_has_its_own_queue():
    (mine,) = waiting(3)
    Transfer.objects.filter(pk=mine[1]).update(kind=Transfer.Kind.URL)
    assert ids(a_queue(), 9) == [mine[0], mine[2]]
    assert ids(a_queue(kinds=Transfer.FETCHES), 9) == [mine[1]]


@pytest.mark.slow
def test_the_rows_read_do_not_grow_with_accounts_or_transfers():
    numbers = []
    for counts in ((1, 1, 1, 1), (30,), (5,) * 20):
        waiting(*counts)
        with CaptureQueriesContext(connection) as queries:
            assert len(a_queue().next(3)) == 3
        numbers.append(len(queries))
    assert numbers[1:] == numbers[:-1]


def a_worker(folder: Path) -> Lease:
    lease = Lease(folder)
    lease.hold(NOW, is_engine_alive=True)
    return lease


def test_a_torrent_of_another_worker_is_left_to_it_and_blocks_no_one(tmp_path):
    (first, _next), (second, third) = waiting(2, 2)
    one, other = a_worker(tmp_path), a_worker(tmp_path)
    Transfer.objects.filter(pk=second).update(info_hash_v1=f"{1:040x}")
    one.take([first], NOW)
    assert ids(a_queue(other), 1) == [_next]
    assert third in ids(a_queue(other), 2)
    assert second not in ids(a_queue(other), 9)
    assert second in ids(a_queue(one), 9)
    assert same_torrents(one, {f"{1:040x}"}) == {second}
    assert same_torrents(one, set()) == set()


def test_a_single_worker_takes_the_same_torrent_in_turn(tmp_path):
    (first,), (second,) = waiting(1, 1)
    Transfer.objects.filter(pk=second).update(info_hash_v1=f"{1:040x}")
    one = a_worker(tmp_path)
    one.take([first], NOW)
    assert ids(a_queue(one), 2) == [second]
    assert same_torrents(one, {f"{1:040x}"}) == set()


@pytest.fixture
def many(db) -> None:
    """Add so many transfers that PostgreSQL prefers indexes: it would read and sort a few."""
    rows = []
    for (pk,) in waiting(*[1] * 20):
        row = Transfer.objects.get(pk=pk)
        for number in range(500):
            row.pk, row.state = None, ("queued", "done")[number % 2]
            row.info_hash_v1 = f"{1000 * pk + number:040x}"
            rows.append(copy(row))
    Transfer.objects.bulk_create(rows)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE service_transfer")


def plans_of(queries: CaptureQueriesContext) -> list[str]:
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        plans = []
        for each in [each for each in queries if "service_transfer" in each["sql"]]:
            cursor.execute(f"{explain} {each['sql']}")
            plans.append(str(cursor.fetchall()))
    return plans


@pytest.mark.sqlite
def test_the_next_free_ones_are_read_in_the_order_of_an_index():
    waiting(2, 2)
    with CaptureQueriesContext(connection) as queries:
        a_queue().next(2)
    plans = plans_of(queries)
    assert len(plans) > 2
    assert all("free_undone" in plan for plan in plans), plans
    assert not any("TEMP B-TREE" in plan for plan in plans), plans


@pytest.mark.postgresql
def test_torrents_of_other_workers_are_found_by_an_index(many, tmp_path):
    a_worker(tmp_path)
    with CaptureQueriesContext(connection) as queries:
        a_queue().next(2)
    plan = next(each for each in plans_of(queries) if "leased_v1" in each)
    assert "leased_v2" in plan
    assert "Seq Scan" not in plan


@pytest.mark.postgresql
def test_workers_find_theirs_and_the_next_free_ones_by_indexes(many, tmp_path):
    with CaptureQueriesContext(connection) as queries:
        a_queue().next(2)
        list(a_worker(tmp_path).transfers())
    plans = plans_of(queries)
    assert len(plans) > 2
    assert all("free_undone" in plan and "Sort" not in plan for plan in plans[:-1]), plans
    assert "leased" in plans[-1]
