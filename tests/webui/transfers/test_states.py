"""States of transfers, derived from what services of both generations report."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cases import each_case
from webui.transfers import states, transfer_cache
from webui.transfers.groups import group_transfers, moved_keys, totals_of
from webui.transfers.states import CachedTransfer, SentRecord, combine
from webui.v1 import records
from webui.v1.records import Transfer

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
NOW = 1_800_000_000.0
SIZE = 1_000_000_000


def transfer_with(**facts) -> Transfer:
    found = records.transfer({"id": 7, "name": "Sintel", "size": SIZE, **facts})
    assert found
    return found


def look(before: CachedTransfer | None = None, at: float = 0, **facts) -> CachedTransfer:
    return combine(transfer_with(**facts), before, None, NOW + at)


def sample(name: str) -> CachedTransfer:
    row = records.transfer(json.loads((SAMPLES / name).read_text()))
    assert row
    return combine(row, None, None, NOW)


def test_a_service_that_tells_no_state_is_understood_by_its_numbers():
    assert look(progress=0, size=0).state == "metadata"
    assert look(progress=0).state == "queued"
    assert look(progress=42.5, download_rate=5000).state == "downloading"
    assert look(progress=42.5, stopped=1).state == "stopped"
    assert look(progress=100).state == "moving"
    assert look(progress=101, folder_created=9).state == "done"


@each_case(
    ("name", "state", "folder"),
    [
        ("torrent_get.legacy-running.json", "downloading", ""),
        ("torrent_get.legacy-done.json", "done", "269164005"),
        ("transfer_get.2026.json", "done", "1432582823"),
        ("ours/transfer_get.json", "done", "1432582823"),
    ],
)
def test_both_generations_are_read(name, state, folder):
    found = sample(name)
    assert (found.state, found.folder) == (state, folder)


def test_our_own_service_reports_state_and_reason():
    found = look(progress=10, state="no_room", reason="not_enough_space")
    assert (found.state, found.reason) == ("no_room", "not_enough_space")


def test_two_minutes_without_progress_are_a_stall():
    first = look(progress=34)
    assert first.state == "downloading"
    assert look(first, at=119, progress=34).state == "downloading"
    later = look(first, at=12 * 60, progress=34)
    assert (later.state, later.quiet_minutes) == ("stalled", 12)
    assert look(later, at=13 * 60, progress=35).state == "downloading"


def test_a_magnet_without_responding_peers_stalls_too():
    first = look(progress=0, size=0)
    assert look(first, at=300, progress=0, size=0).state == "stalled"


def test_long_stalls_are_reported_in_hours():
    first = look(progress=34)
    assert look(first, at=61 * 60, progress=34).quiet_minutes == 60
    assert look(first, at=110 * 60, progress=34).quiet_minutes == 60


def watched(*steps: tuple[float, float]) -> CachedTransfer:
    found = None
    for at, progress in steps:
        found = look(found, at=at, progress=progress, download_rate=1)
    assert found
    return found


def test_time_in_the_queue_is_no_time_without_peers():
    found = None
    for minute in range(23):
        found = look(found, at=minute * 60, state="queued", progress=0)
    began = look(found, at=22 * 60 + 10, state="stalled", progress=0)
    assert (began.state, began.quiet_minutes) == ("stalled", 0)
    assert look(began, at=27 * 60, state="stalled", progress=0).quiet_minutes == 5


def test_the_time_left_comes_from_the_last_minute():
    assert watched((0, 10), (5, 11)).left_seconds is None
    assert watched((0, 10), (10, 11), (20, 12)).left_seconds == 880
    slower = watched((0, 10), (10, 50), (100, 51), (120, 52))
    assert slower.left_seconds == 960


def test_the_time_left_counts_down_though_the_pace_varies():
    found, progress, estimates = None, 10.0, []
    for turn in range(60):
        progress += (0.2, 0.6, 0.1, 0.9, 0.3)[turn % 5]
        found = look(found, at=turn * 5, progress=progress)
        estimates.append(found.left_seconds)
    after_a_minute = estimates[13:]
    assert None not in after_a_minute
    assert after_a_minute == sorted(after_a_minute, reverse=True)


def test_the_time_left_follows_a_pace_that_stays_lower():
    fast = [(at, 10 + at * 0.1) for at in range(0, 300, 5)]
    slow = [(at, 40 + (at - 300) * 0.02) for at in range(300, 400, 5)]
    assert watched(*fast).left_seconds == pytest.approx(605, rel=0.1)
    assert watched(*fast, *slow).left_seconds == pytest.approx(2900, rel=0.25)


def test_the_services_reported_rate_yields_no_time_left():
    assert look(progress=10, download_rate=5_000_000).left_seconds is None


def test_an_absurdly_long_time_left_is_not_shown():
    assert watched((0, 10), (30, 10.0001)).left_seconds is None


def test_progress_that_goes_backward_restarts_the_estimate():
    back = watched((0, 60), (20, 62), (40, 5))
    assert back.left_seconds is None
    assert int(back.percent) == 5
    assert back.state == "downloading"


@each_case(
    ("progress", "percent"),
    [("42.5", 42.5), ("NaN", 0), (250, 101), (-5, 0), (None, 0), ("1e400", 0), ([], 0)],
)
def test_any_progress_becomes_a_percentage(progress, percent):
    assert look(progress=progress).percent == percent


@each_case("at", [-86_400, -1, 10**9])
def test_a_clock_jump_yields_no_absurd_times(at):
    first = watched((0, 10), (20, 20))
    found = look(first, at=at, progress=21, download_rate=1)
    assert found.left_seconds is None or found.left_seconds >= 0
    assert found.rate >= 0
    assert found.quiet_minutes >= 0


def test_the_clock_of_the_service_is_not_believed():
    found = look(progress=10, last_update="2126-01-01 00:00:00")
    assert found.since == NOW


def test_saved_states_read_back_the_same():
    found = watched((0, 10), (10, 11), (20, 12))
    assert transfer_cache.TRANSFERS.decode(json.dumps([found])) == [found]


def test_an_observation_alone_is_not_news():
    first = look(progress=34, connected_to=1)
    again = look(first, at=60, progress=34, connected_to=1)
    assert again.shown == first.shown


def sent(**facts) -> SentRecord:
    added_at = datetime.fromtimestamp(NOW, UTC)
    return SentRecord(3, added_at, **{"transfer_id": "7", "title": "Sintel"} | facts)


def test_a_transfer_missing_at_the_service_is_gone():
    first = states.derive_unlisted(sent(), None, NOW)
    assert states.update_by_id(first, None, {}, NOW + 5).state == "queued"
    assert states.update_by_id(first, None, {}, NOW + 61).state == "gone"


def test_a_transfer_that_left_the_list_is_found_by_its_title():
    first = states.derive_unlisted(sent(), None, NOW)
    found = states.update_by_id(first, None, {"Sintel": ("folder", "9")}, NOW + 5)
    assert (found.state, found.folder) == ("done", "9")


def test_a_transfer_that_reports_its_end_is_not_looked_up_by_title():
    done = look(progress=101, folder_created=5)
    assert states.locate_by_name(done, {"Sintel": ("folder", "9")}, NOW).folder == "5"


def test_a_folder_of_the_same_name_ends_nothing_that_still_runs():
    running = look(progress=50)
    assert states.locate_by_name(running, {"Sintel": ("folder", "9")}, NOW) == running


def test_a_url_transfer_shows_its_host():
    url = sent(source_kind="url", beginning="https://user:secret@downloads.example.org/a/b.iso")
    assert states.host_of(url) == "downloads.example.org"


def test_what_moves_comes_first_then_the_queue_then_the_latest_to_end():
    rows = [
        look(progress=0)._replace(key="queued"),
        look(progress=3)._replace(key="paused", state="stopped"),
        look(progress=50)._replace(key="running"),
        look(progress=0)._replace(key="behind"),
        look(progress=5)._replace(key="stalled", state="stalled"),
        look(progress=100)._replace(key="moving"),
        look(progress=101)._replace(key="early", ended_at=1),
        look(progress=3)._replace(key="broken", state="failed", ended_at=3),
        look(progress=3)._replace(key="lost", state="gone", ended_at=2),
        look(progress=101)._replace(key="late", ended_at=2),
    ]
    assert group_transfers(rows) == (
        ["running", "moving", "stalled", "queued", "paused", "behind"],
        ["broken", "lost"],
        ["late", "early"],
    )


@each_case(
    ("before", "after"),
    [
        *(("abcd", "abcd"), ("abcd", "dabc"), ("abcd", "bcda"), ("abcdef", "efabcd")),
        *(("abcd", "xdaby"), ("abcdef", "abdcef"), ("", "ab"), ("ab", ""), ("abc", "acx")),
    ],
)
def test_keys_that_did_not_move_keep_their_order(before, after):
    moved = moved_keys(before, after)
    kept = [key for key in before if key in after and key not in moved]
    assert kept == [key for key in after if key in before and key not in moved]
    assert bool(moved) == (kept != [key for key in after if key in before])


def test_totals_add_up_what_runs():
    fast = watched((0, 10), (10, 20), (20, 30))._replace(rate=100)
    slow = watched((0, 10), (10, 11), (20, 12))._replace(rate=20)
    found = totals_of([fast, slow, look(progress=0)], NOW + 20)
    assert (found.running, found.rate, found.left_seconds, found.percent) == (2, 120, 880, 21)
    assert found.is_lively


def test_thousands_that_wait_are_not_lively():
    waiting = look(progress=0, state="queued")
    assert totals_of([waiting], NOW + 1).is_lively
    assert not totals_of([waiting], NOW + 3600).is_lively
