"""A worker whose limits change, with a fake engine and fake fetches."""

import pytest

from service.models import Transfer, Worker
from service.torrents.events import SessionStatus
from service.torrents.orders import TransferLimits
from service.transfers import limits, transfers
from tests.service.builders import NOW, alice, magnet
from tests.service.fakes import Shift, limits_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


@pytest.fixture
def shift():
    return Shift(seeds=True)


def downloading(shift, account, count):
    """Return transfers that download, each of them quickly."""
    made = [transfers.add_magnet(account, magnet(each), 0, NOW) for each in "1234"[:count]]
    shift.round()
    for transfer in made:
        shift.engine.metadata(transfer)
    shift.rounds()
    return made


def states(shift, made):
    return [shift.state(each) for each in made]


def test_new_limits_reach_the_engine_and_the_fetches_in_the_next_round(shift):
    shift.round()
    assert shift.engine.limits == TransferLimits(0, None, 1.0, 60)
    shift.limits = limits_of(
        download_bytes_per_second=1_000, upload_bytes_per_second=70, seed_ratio=2.0, seed_minutes=5
    )
    shift.round()
    assert shift.engine.limits == TransferLimits(500, 70, 2.0, 5)
    throttle = shift.fetching.throttle
    assert throttle.seconds_until(throttle.take(500)) == 1


def test_torrents_alone_have_almost_all(shift):
    shift.limits = limits_of(download_bytes_per_second=1_000)
    shift.round()
    shift.engine.session = SessionStatus(received_rate=490)
    shift.round()
    assert shift.engine.limits.download_bytes_per_second == 980


def test_more_slots_are_filled_at_once(shift):
    shift.limits = limits_of(active_transfers=2)
    made = downloading(shift, alice(), 4)
    assert states(shift, made).count("downloading") == 2
    shift.limits = limits_of(active_transfers=3)
    shift.rounds()
    assert [shift.state(each) == "queued" for each in made] == [False, False, False, True]


def test_with_fewer_slots_the_newest_wait(shift):
    made = downloading(shift, alice(), 4)
    assert states(shift, made) == ["downloading"] * 4
    shift.limits = limits_of(active_transfers=2)
    shift.rounds()
    assert states(shift, made) == ["downloading", "downloading", "queued", "queued"]
    assert shift.engine.calls("pause") == [str(each.pk) for each in made[2:]]
    shift.limits = limits_of(active_transfers=4)
    shift.rounds()
    assert states(shift, made) == ["downloading"] * 4
    assert shift.engine.calls("resume") == [str(each.pk) for each in made[2:]]


def test_with_fewer_slots_fetches_wait_too(shift):
    account = alice()
    made = [
        transfers.add_url(account, f"http://example.org/{number}", 0, NOW) for number in range(3)
    ]
    shift.round()
    for transfer in made:
        shift.fetching.head(transfer, size_bytes=1_000)
    shift.rounds()
    assert states(shift, made) == ["downloading"] * 3
    shift.limits = limits_of(active_transfers=1)
    shift.rounds()
    assert states(shift, made) == ["downloading", "queued", "queued"]
    assert set(shift.fetching.orders) == {str(made[0].pk)}


def test_a_torrents_own_limits_are_in_its_order_and_change_at_once(shift):
    account = alice()
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    limits.change_own(account, transfer.pk, {"upload_bytes_per_second": 9}, NOW)
    shift.round()
    key = str(transfer.pk)
    assert shift.engine.orders[key].limits == TransferLimits(upload_bytes_per_second=9)
    limits.change_own(account, transfer.pk, {"upload_bytes_per_second": None}, NOW)
    shift.round()
    assert shift.engine.own_limits[key] == TransferLimits()


def test_a_fetchs_own_limit(shift):
    account = alice()
    transfer = transfers.add_url(account, "http://example.org/a", 0, NOW)
    shift.round()
    limits.change_own(account, transfer.pk, {"download_bytes_per_second": 9}, NOW)
    shift.round()
    key = str(transfer.pk)
    assert shift.fetching.own_limits[key] == TransferLimits(download_bytes_per_second=9)


@pytest.mark.parametrize(("own", "seeds"), [({}, True), ({"seed_ratio": 0.0}, False)])
def test_a_torrent_seeds_by_its_own_limits(shift, own, seeds):
    account = alice()
    (transfer,) = downloading(shift, account, 1)
    limits.change_own(account, transfer.pk, own, NOW)
    shift.engine.complete(transfer, b"x" * 100)
    shift.rounds()
    assert shift.state(transfer) == "done"
    assert Transfer.objects.get().is_seeding is seeds


def test_what_the_engine_sees_of_peers_is_in_the_workers_row_at_once(shift):
    shift.round()
    assert Worker.objects.get().session["is_reachable"] is None
    shift.engine.session = SessionStatus(port=6_881, is_reachable=True, incoming_at=NOW.timestamp())
    shift.round()
    recorded = Worker.objects.get().session
    assert (recorded["port"], recorded["is_reachable"]) == (6_881, True)
    assert recorded["incoming_at"] == NOW.timestamp()


def test_what_arrives_does_not_renew_the_lease(shift, django_assert_num_queries):
    shift.round()
    before = Worker.objects.get()
    shift.engine.session = SessionStatus(received_rate=9)
    shift.round()
    assert Worker.objects.get().alive_until == before.alive_until
