"""What the worker counts, with a fake engine and fake fetches."""

import pytest

from service.accounts import accounts
from service.models import Traffic
from service.transfers import transfers
from tests.service.builders import magnet, mallory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


def sums():
    rows = Traffic.objects.values_list("received_bytes", "sent_bytes")
    return tuple(map(sum, zip(*rows, strict=True))) if rows else (0, 0)


def test_each_byte_counts_once(shift, film):
    for received, sent in [(100, 0), (250, 30), (250, 30), (400, 31)]:
        shift.engine.status(film, received_bytes=received, sent_bytes=sent)
        shift.round()
    assert sums() == (400, 31)


def test_after_the_torrent_was_added_again_the_engine_counts_from_0(shift, film):
    shift.engine.status(film, received_bytes=400)
    shift.round()
    shift.engine.status(film, received_bytes=50)
    shift.rounds()
    assert sums() == (450, 0)


def test_a_kill_loses_at_most_one_batch_and_doubles_nothing(shift, film):
    shift.engine.status(film, received_bytes=400)
    shift.rounds()
    shift.worker.stop(0)
    shift.begin()
    shift.rounds()
    shift.engine.status(film, received_bytes=50, done_bytes=90)
    shift.rounds()
    assert sums() == (450, 0)


def test_what_is_on_the_disk_already_is_no_traffic(shift, film):
    shift.engine.status(film, done_bytes=90)
    shift.rounds()
    assert sums() == (0, 0)
    assert not Traffic.objects.exists()


def test_an_account_that_is_removed_meanwhile_stops_nothing(shift, film):
    shift.engine.status(film, received_bytes=100)
    shift.round()
    shift.engine.status(film, received_bytes=400)
    shift.round(seconds=0)
    assert sums() == (100, 0)
    accounts.remove(film.account, shift.now)
    other = transfers.add_magnet(mallory(), magnet("2"), 0, shift.now)
    shift.rounds()
    assert shift.worker.is_idle is False
    assert shift.state(other) == "metadata"
    assert sums() == (0, 0)
