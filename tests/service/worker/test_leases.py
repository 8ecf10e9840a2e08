from datetime import timedelta

import pytest
from django.db import OperationalError, connections
from django.utils import timezone

from service.models import Transfer, Worker
from service.transfers import transfers
from service.worker import leases
from service.worker.leases import IDLE_LEASE, LEASE, Expelled, Lease
from tests.leftovers import in_use
from tests.service.builders import NOW, alice, magnet
from tests.service.fakes import end_process_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def make(tmp_path):
    def make():
        lease = Lease(tmp_path / "workers")
        lease.hold(NOW, is_engine_alive=True)
        return lease

    return make


@pytest.fixture
def transfer():
    return transfers.add_magnet(alice(), magnet(), 0, NOW)


def test_a_lease_that_the_database_refuses_leaves_no_file(tmp_path, monkeypatch):
    def refuse(**_columns):
        raise OperationalError

    lease = Lease(tmp_path / "workers")
    # A real lock on the database would roll back the transaction of the test.
    monkeypatch.setattr(Worker.objects, "create", refuse)
    before = in_use()
    with pytest.raises(OperationalError):
        lease.hold(NOW, is_engine_alive=True)
    assert in_use() <= before
    assert list((tmp_path / "workers").iterdir()) == []


def test_only_one_of_two_takes_a_transfer(make, transfer):
    one, two = make(), make()
    assert one.take([transfer.pk], NOW) == {transfer.pk}
    assert two.take([transfer.pk], NOW) == set()
    assert one.transfers().get() == transfer
    assert not two.transfers().exists()


def test_a_lease_that_is_renewed_does_not_end(make, transfer):
    one, two = make(), make()
    one.take([transfer.pk], NOW)
    later = NOW + LEASE - timedelta(seconds=1)
    one.hold(later, is_engine_alive=True)
    assert not two.expel_dead(NOW + LEASE + timedelta(seconds=1))
    assert one.transfers().exists()


def test_a_lease_that_ended_frees_what_was_held(make, transfer):
    one, two = make(), make()
    one.take([transfer.pk], NOW)
    assert not two.expel_dead(NOW + LEASE)
    assert two.expel_dead(NOW + LEASE + timedelta(seconds=1))
    assert two.take([transfer.pk], NOW) == {transfer.pk}
    assert not one.transfers().exists()


def test_a_lease_renewed_at_the_last_moment_does_not_end(make, transfer, monkeypatch):
    one, two = make(), make()
    one.take([transfer.pk], NOW)
    late = NOW + LEASE + timedelta(seconds=1)
    expel = leases._expel  # noqa: SLF001  See below.

    def renewed_first(row, name):
        one.hold(late, is_engine_alive=True)
        return expel(row, name)

    # Two real workers would meet at this moment once in a thousand times.
    monkeypatch.setattr(leases, "_expel", renewed_first)
    two.expel_dead(late)
    assert one.transfers().get() == transfer
    one.hold(late + LEASE, is_engine_alive=True)


def test_an_expelled_worker_neither_renews_nor_takes(make, transfer):
    one, two = make(), make()
    much_later = NOW + 2 * LEASE
    two.expel_dead(much_later)
    with pytest.raises(Expelled):
        one.take([transfer.pk], NOW)
    with pytest.raises(Expelled):
        one.hold(much_later, is_engine_alive=True)
    one.hold(much_later, is_engine_alive=True)
    assert one.take([transfer.pk], NOW) == {transfer.pk}


def test_an_ended_process_is_noticed_at_once(make, transfer):
    one, two = make(), make()
    one.take([transfer.pk], NOW)
    assert not two.expel_dead(NOW)
    end_process_of(one)
    assert two.expel_dead(NOW)
    assert Transfer.objects.get().leased_by == ""


def test_a_clock_that_is_set_back_renews(make):
    one = make()
    one.hold(NOW - timedelta(days=1), is_engine_alive=True)
    assert Worker.objects.get().alive_until == NOW - timedelta(days=1) + LEASE


def test_released_transfers_are_free_at_once(make, transfer):
    one, two = make(), make()
    one.take([transfer.pk], NOW)
    one.release()
    assert two.take([transfer.pk], NOW) == {transfer.pk}
    assert Worker.objects.get().name == two.name


def test_a_machine_that_stops_keeps_the_torrents_of_which_it_has_bytes(tmp_path):
    """Others wait for its lease to end; a new worker on this machine doesn't."""
    account = alice()
    begun = transfers.add_magnet(account, magnet(name="begun"), 0, NOW)
    new = transfers.add_magnet(account, magnet("e", name="new"), 0, NOW)
    fetch = transfers.add_url(account, "http://example.org/x", 0, NOW)
    Transfer.objects.filter(pk__in=[begun.pk, fetch.pk]).update(progress_percent=30)
    one, other = (Lease(tmp_path / name, by_database=True) for name in ("one", "other"))
    for each in (one, other):
        each.hold(timezone.now(), is_engine_alive=True)
    one.take([begun.pk, new.pk, fetch.pk], timezone.now())
    one.release()
    assert not other.expel_dead(timezone.now())
    keys = [begun.pk, new.pk, fetch.pk]
    assert other.take(keys, timezone.now()) == {new.pk, fetch.pk}
    again = Lease(tmp_path / "one", by_database=True)
    again.hold(timezone.now(), is_engine_alive=True)
    assert again.expel_dead(timezone.now())
    assert again.take(keys, timezone.now()) == {begun.pk}
    again.release()
    Worker.objects.exclude(name=other.name).update(alive_until=NOW)
    assert other.expel_dead(timezone.now())
    assert other.take(keys, timezone.now()) == {begun.pk}


def test_an_idle_worker_rarely_writes_and_a_change_is_written_at_once(make):
    lease = make()
    lease.hold(NOW, is_engine_alive=True, is_idle=True)
    (row,) = Worker.objects.all()
    assert (row.alive_until, row.is_engine_alive) == (NOW + IDLE_LEASE, True)
    lease.hold(NOW + timedelta(seconds=100), is_engine_alive=True, is_idle=True)
    row.refresh_from_db()
    assert row.alive_until == NOW + IDLE_LEASE
    lease.hold(NOW + timedelta(seconds=101), is_engine_alive=True)
    row.refresh_from_db()
    assert row.alive_until == NOW + timedelta(seconds=101) + LEASE
    lease.hold(NOW + timedelta(seconds=102), is_engine_alive=False)
    row.refresh_from_db()
    assert not row.is_engine_alive


def test_an_idle_worker_holds_what_it_takes_no_longer_than_a_busy_one(make, transfer):
    """It may die before its next round, on a machine where no other worker sees that."""
    lease = make()
    lease.hold(NOW, is_engine_alive=True, is_idle=True)
    lease.take([transfer.pk], NOW)
    (row,) = Worker.objects.all()
    assert (row.alive_until, row.is_engine_alive) == (NOW + LEASE, True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgresql
def test_a_worker_skips_transfers_that_another_is_taking(make):
    account, lease = alice(), make()
    first = transfers.add_magnet(account, magnet("1"), 0, NOW)
    second = transfers.add_magnet(account, magnet("2"), 0, NOW)
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT 1 FROM service_transfer WHERE id = %s FOR UPDATE", [first.pk])
            assert lease.take([first.pk, second.pk], NOW) == {second.pk}
            cursor.execute("ROLLBACK")
    finally:
        other.close()


# Machines whose clocks differ


def test_the_clock_of_the_database_decides(tmp_path):
    def join(now):
        lease = Lease(tmp_path / now.isoformat(), by_database=True)
        lease.hold(now, is_engine_alive=True)
        return lease

    of_the_past, of_the_future = join(NOW), join(NOW + timedelta(days=1))
    assert not of_the_past.expel_dead(NOW)
    assert not of_the_future.expel_dead(NOW + timedelta(days=1))
    over = timezone.now() - timedelta(seconds=1)
    Worker.objects.filter(name=of_the_future.name).update(alive_until=over)
    assert of_the_past.expel_dead(NOW)


def test_a_worker_that_was_cut_off_lets_others_come_back_first(make):
    one, two = make(), make()
    back = NOW + 2 * LEASE
    one.hold(back, is_engine_alive=True)
    assert not one.expel_dead(back)
    two.hold(back + timedelta(seconds=5), is_engine_alive=True)
    one.hold(back + LEASE, is_engine_alive=True)
    assert one.expel_dead(back + 2 * LEASE)
