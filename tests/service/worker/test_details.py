"""The log of a transfer, and its swarm while people look, with a fake engine and fake fetches."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from service.details import MOST_ENTRIES, Details, LogEntry, add_to_log, read_log
from service.fetching.events import Waiting
from service.models import Account, Transfer, TransferDetails
from service.torrents.events import SwarmPeer, SwarmPieces, SwarmTracker
from service.transfers import transfers, under_way
from service.transfers.torrents import swarms
from service.transfers.under_way import Decision
from tests.service.builders import NOW, alice, magnet

pytestmark = pytest.mark.django_db
PEER = SwarmPeer("192.0.2.7", "Client 1.0", "tcp", 12.5, 1_000, 0)
TRACKER = SwarmTracker("tracker.example", "failed", Details("timeout"))


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


def log(transfer):
    row = TransferDetails.objects.get(transfer=transfer)
    return [(each.kind, each.reason) for each in read_log(row.log)]


def look(shift, transfer):
    transfer.refresh_from_db()
    return swarms.look(transfer, shift.now)


def revision():
    return Account.objects.get().transfers_revision


# The log


def test_each_change_of_the_state_is_in_the_log_once(shift, film):
    shift.engine.status(film, done_bytes=10)
    shift.rounds(200)
    assert log(film)[:2] == [("metadata", ""), ("downloading", "")]
    assert log(film)[2:] == [("stalled", "no_peers")]
    times = [each.at for each in read_log(TransferDetails.objects.get().log)]
    assert times[2] - times[1] >= 120


def test_a_pause_and_what_follows_are_in_the_log(shift, film):
    under_way.decide(film.account, film.pk, Decision.PAUSE, shift.now)
    shift.rounds()
    assert log(film)[-1] == ("stopped", "")
    under_way.decide(film.account, film.pk, Decision.RESUME, shift.now)
    shift.rounds()
    assert log(film)[-2:] == [("stopped", ""), ("downloading", "")]


def test_the_end_is_in_the_log(shift, film):
    shift.engine.complete(film, b"x" * 100)
    shift.rounds(4)
    assert shift.state(film) == "done"
    assert log(film)[-2:] == [("moving", ""), ("done", "")]


def test_a_failure_is_in_the_log_with_its_details(shift, film):
    shift.engine.broken(film, "invalid_torrent", Details("torrent_empty"))
    shift.rounds()
    last = read_log(TransferDetails.objects.get().log)[-1]
    assert (last.kind, last.reason, last.details.kind) == (
        "failed",
        "invalid_torrent",
        "torrent_empty",
    )


def test_the_tries_of_a_url_are_one_entry(shift):
    film = transfers.add_url(alice(), "http://files.example/film.mkv", 0, NOW)
    shift.round()
    shift.fetching.head(film)
    shift.rounds()
    for tries in (1, 2, 3):
        details = Details("http_status", status=503, tries=tries)
        shift.fetching.news.append(Waiting(str(film.pk), details, 30))
        shift.rounds()
    assert log(film).count(("stalled", "retrying")) == 1
    assert read_log(TransferDetails.objects.get().log)[-1].details.tries == 3


def test_a_refusal_is_in_the_log_in_the_trackers_words(shift, film):
    shift.engine.tracker_refuses(film, "no")
    shift.engine.tracker_refuses(film, "never")
    shift.rounds()
    last = read_log(TransferDetails.objects.get().log)[-1]
    assert (last.kind, last.tracker) == ("tracker_refused", "tracker.example")
    assert last.details.message == "never"
    assert log(film).count(("tracker_refused", "")) == 1


def test_a_thousand_refusals_do_not_delay_a_round(shift, film):
    for number in range(1_000):
        shift.engine.tracker_refuses(film, "no", f"{number}.example")
    shift.engine.complete(film, b"x" * 100)
    shift.rounds(2)
    assert shift.state(film) == "done"


def test_a_log_is_bounded():
    log = []
    for number in range(200):
        kind = ("downloading", "stalled")[number % 2]
        log = add_to_log(log, [LogEntry(kind)], number)
    assert [each.at for each in log] == list(range(200 - MOST_ENTRIES, 200))


def test_entries_of_a_newer_version_are_left_out():
    newer = {"kind": "x", "details": {"kind": "something_new"}}
    assert [each.kind for each in read_log([newer, {"kind": "done"}, 7])] == ["done"]


def test_the_log_goes_with_its_transfer(shift, film):
    shift.engine.tracker_refuses(film, "no")
    transfers.delete(film.account, film.pk, shift.now)
    shift.rounds()
    assert not TransferDetails.objects.exists()
    assert not Transfer.objects.exists()


# The swarm


def test_the_engine_is_asked_only_while_someone_looks(shift, film):
    shift.rounds(5)
    assert shift.engine.calls("look") == []
    look(shift, film)
    shift.rounds(6)
    assert shift.engine.calls("look") == [str(film.pk)] * 3
    shift.rounds(60)
    assert len(shift.engine.calls("look")) <= 7
    assert TransferDetails.objects.get().looked_at is None


def test_a_swarm_is_shown_while_it_is_fresh_and_changes_no_list(shift, film):
    look(shift, film)
    pieces, before = SwarmPieces(3, (100, 40, 0), (1, 2, 0)), revision()
    shift.engine.swarm(film, peer_count=1, peers=(PEER,), trackers=(TRACKER,), pieces=pieces)
    shift.round()
    shown = look(shift, film).swarm
    assert shown["peers"][0]["client"] == "Client 1.0"
    assert shown["trackers"][0]["details"] == {"kind": "timeout"}
    assert shown["pieces"] == {"count": 3, "arrived": [100, 40, 0], "copies": [1, 2, 0]}
    assert revision() == before
    assert log(film)[-1] == ("downloading", "")
    assert swarms.look(film, shift.now + timedelta(seconds=13)).swarm is None


def test_looking_again_and_again_writes_every_few_seconds(shift, film, django_assert_num_queries):
    look(shift, film)
    with django_assert_num_queries(1):
        swarms.look(film, shift.now + timedelta(seconds=3))
    swarms.look(film, shift.now + timedelta(seconds=5))
    assert TransferDetails.objects.get().looked_at == shift.now + timedelta(seconds=5)


def test_what_has_no_swarm_is_not_asked_about(shift):
    film = transfers.add_url(alice(), "http://files.example/film.mkv", 0, NOW)
    shift.rounds()
    assert look(shift, film).swarm is None
    shift.rounds(5)
    assert shift.engine.calls("look") == []
    paused = transfers.add_magnet(film.account, magnet(), 0, NOW)
    under_way.decide(film.account, paused.pk, Decision.PAUSE, NOW)
    look(shift, paused)
    assert not TransferDetails.objects.filter(looked_at__isnull=False).exists()


def test_after_the_clock_was_set_back_the_engine_is_still_asked(shift, film):
    look(shift, film)
    shift.rounds()
    shift.now -= timedelta(hours=1)
    look(shift, film)
    before = len(shift.engine.calls("look"))
    shift.rounds()
    assert len(shift.engine.calls("look")) > before


def test_two_writes_leave_one_row(shift, film):
    look(shift, film)
    for _ in range(2):
        shift.engine.swarm(film, peers=(replace(PEER, client="x"),))
        shift.rounds()
    assert TransferDetails.objects.count() == 1
