"""A clock that jumps forward or is set back, by hours and by days.

Tested elsewhere: a worker's own lease (tests/service/worker/test_leases.py), how long a link, a
code, or a wish lasts (tests/webui/people/test_pairing.py, tests/webui/server/test_plan.py), and
transfers of a service with another clock (tests/webui/transfers/test_states.py).
"""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from service.content import signed_links
from service.media import probing
from service.media.work import LEASE
from service.models import File, Media
from service.transfers import transfers
from service.transfers.download_folders import download_folder, ids_on_disk
from tests.faults.tally import Reckoning
from tests.service.builders import NOW, a_file, magnet
from tests.service.builders import alice as an_account
from tests.service.fakes import Shift
from tests.webui.signin.test_views import sign_in
from webui.models import Throttle
from webui.signin import throttle

DAY = timedelta(days=1)
JUMPS = [DAY, -DAY, timedelta(hours=1), -timedelta(hours=1)]

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give each test its own library folder."""


@pytest.fixture
def shift():
    return Shift()


def learn_files(shift, transfer):
    shift.round()
    shift.engine.metadata(transfer, files=[("film", 7)])
    shift.round()


def jump(shift, by, tally):
    shift.now += by
    tally.faults["clock set forward" if by > timedelta(0) else "clock set back"] += 1


@pytest.mark.promise("a clock that jumps loses no transfer", cases=["1 day, 0:00:00"])
@pytest.mark.slow
@pytest.mark.parametrize("by", JUMPS, ids=str)
def test_a_transfer_arrives_once_despite_clock_changes(shift, tally, by):
    transfer = transfers.add_magnet(an_account(), magnet(name="film"), 0, NOW)
    learn_files(shift, transfer)
    jump(shift, by, tally)
    shift.round()
    shift.engine.status(transfer, done_bytes=3, wanted_bytes=7, peers_connected=1)
    shift.rounds(2)
    assert shift.state(transfer) == "downloading"
    assert transfer.progress_percent > 0
    jump(shift, -by, tally)
    shift.engine.complete(transfer, b"content")
    shift.rounds(3)
    assert shift.state(transfer) == "done"
    names = [file.name for file in File.objects.all()]
    found = Reckoning(1, lost=[] if names else ["film"], doubled=names[1:])
    tally.add(found)
    assert found.is_even


@pytest.mark.parametrize("by", [DAY, -DAY], ids=str)
def test_setting_the_clock_does_not_prolong_a_wait_for_the_disk(shift, tally, by):
    transfer = transfers.add_magnet(an_account(), magnet(name="film"), 0, NOW)
    learn_files(shift, transfer)
    shift.engine.broken(transfer, "disk_full")
    shift.round()
    assert shift.state(transfer) == "no_room"
    jump(shift, by, tally)
    shift.rounds(10)
    assert shift.state(transfer) == "downloading"


def test_a_clock_that_was_set_back_does_not_end_the_tidying(shift, tally):
    shift.round()
    download_folder(4711).path.mkdir(parents=True)
    jump(shift, -DAY, tally)
    shift.rounds(2)
    assert list(ids_on_disk()) == []


@pytest.mark.slow
@pytest.mark.parametrize("by", [DAY, -DAY], ids=str)
def test_workers_with_clocks_a_day_apart_fetch_everything_once(tally, by):
    one, two = Shift(active_transfers=1), Shift(active_transfers=1)
    jump(two, by, tally)
    account = an_account()
    both = [transfers.add_magnet(account, magnet(each, name=each), 0, NOW) for each in "ab"]
    for _ in range(12):
        for shift in (one, two):
            shift.round()
            for transfer in both:
                if str(transfer.pk) in shift.engine.orders:
                    shift.engine.metadata(transfer, files=[("film", 7)])
                    shift.round()
                    if str(transfer.pk) in shift.engine.orders:
                        shift.engine.complete(transfer, b"content")
    names = sorted(file.name for file in File.objects.all())
    found = Reckoning(2, lost=[each for each in "ab" if each not in names], doubled=names[2:])
    tally.add(found)
    assert found.is_even


def test_media_that_a_worker_had_when_the_clock_was_set_back_are_looked_at(tally):
    now = timezone.now()
    Media.objects.create(sha1="a" * 40, size_bytes=1)
    assert len(probing.lease(1, now, now + LEASE)) == 1
    tally.faults["clock set back"] += 1
    assert len(probing.lease(1, now - DAY, now - DAY + LEASE)) == 1
    assert probing.lease(1, now - DAY, now - DAY + LEASE) == []


@pytest.fixture
def at(monkeypatch, tally):
    """Return a function that shifts this process's clock. All programs share the machine's clock,
    and only root may set it."""
    real = timezone.now

    def set_clock(by):
        monkeypatch.setattr(timezone, "now", lambda: real() + by)
        tally.faults["clock set forward" if by > timedelta(0) else "clock set back"] += 1

    return set_clock


def test_a_session_outlives_a_clock_that_is_set_back_and_none_that_is_a_year_ahead(alice, at):
    assert alice.client.get("/account/").status_code == 200
    at(-365 * DAY)
    assert alice.client.get("/account/").status_code == 200
    at(365 * DAY)
    assert alice.client.get("/account/").status_code == 302
    assert sign_in(alice.client).status_code == 302
    assert alice.client.get("/account/").status_code == 200


def wait_at_sign_in(stranger):
    """Guess until the next guess has to wait; return the answer that says so."""
    for _try in range(2 * throttle.FREE_BY_NAME):
        answer = sign_in(stranger, password="wrong")
        if answer.status_code == 429:
            return answer
    raise AssertionError("No guess had to wait")


def test_setting_the_clock_back_does_not_prolong_a_sign_in_wait(alice, mallory, at):
    wait_at_sign_in(mallory)
    at(-DAY)
    assert sign_in(mallory).status_code == 302
    assert Throttle.objects.exists()
    stranger = Client(headers={"host": "localhost"})
    assert int(wait_at_sign_in(stranger)["Retry-After"]) <= 2


@pytest.mark.parametrize(("by", "status"), [(-DAY, 200), (2 * DAY, 403)], ids=str)
def test_a_link_ends_by_the_clock_and_by_no_other(reader, library_folder, at, by, status):
    account = an_account()
    with library_folder.writer() as writer:
        writer.write(b"content")
        file = a_file(account, blob=writer.commit())
    link = signed_links.file_link(account, file, now=timezone.now())
    at(by)
    assert reader.get(link).status_code == status
