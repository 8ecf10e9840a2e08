"""The list of transfers that all processes cache together."""

from contextlib import ExitStack
from threading import Barrier, Thread

import pytest

from webui.transfers.states import CachedTransfer
from webui.transfers.transfer_cache import TransferCache
from webui.v1.errors import Unavailable

WHERE = "service"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(tmp_path, clock) -> TransferCache:
    return TransferCache(tmp_path / "transfers.sqlite3", clock=clock)


def row(key: str, **facts) -> CachedTransfer:
    return CachedTransfer(
        **{"key": key, "id": key[1:], "name": key, "state": "downloading"} | facts
    )


def keep(cache: TransferCache, *rows: CachedTransfer) -> int:
    cache.save(WHERE, rows, "etag", cache.begin_poll(WHERE))
    cached_list = cache.find_list(WHERE)
    assert cached_list
    return cached_list.number


def test_nothing_is_known_before_the_first_poll(cache):
    assert cache.find_list(WHERE) is None


def test_processes_share_observations(cache, tmp_path, clock):
    keep(cache, row("t1"), row("t2", state="done", ended_at=5))
    other = TransferCache(tmp_path / "transfers.sqlite3", clock=clock)
    assert other.find_list(WHERE).groups == (["t1"], [], ["t2"])
    assert other.of_keys(WHERE, ["t1", "t9"]) == {"t1": row("t1")}


def test_two_processes_that_poll_in_turn_see_what_the_other_saved(cache, tmp_path, clock):
    other = TransferCache(tmp_path / "transfers.sqlite3", clock=clock)
    for percent in range(3):
        keep(cache, row("t1", percent=percent), row("t2"))
        assert other.all(WHERE) == {"t1": row("t1", percent=percent), "t2": row("t2")}
        keep(other, row("t1", percent=percent + 0.5))
        assert cache.all(WHERE) == {"t1": row("t1", percent=percent + 0.5)}


def test_rows_removed_by_the_other_process_are_written_again_once_reported(cache, tmp_path, clock):
    other = TransferCache(tmp_path / "transfers.sqlite3", clock=clock)
    keep(cache, row("t1"))
    other.change(WHERE, ["t1"])
    keep(cache, row("t1"))
    assert other.of_keys(WHERE, ["t1"]) == {"t1": row("t1")}


def test_a_failed_save_is_not_remembered(cache, monkeypatch):
    keep(cache, row("t1"))
    with monkeypatch.context() as patch:
        patch.setattr("webui.transfers.transfer_cache.totals_of", None)
        with pytest.raises(TypeError):
            keep(cache, row("t1", percent=5))
    assert cache.all(WHERE) == {"t1": row("t1")}
    keep(cache, row("t1", percent=5))
    assert cache.of_keys(WHERE, ["t1"]) == {"t1": row("t1", percent=5)}


def test_the_next_poll_knows_cleared_and_restored_transfers(cache):
    keep(cache, row("t1"), row("t2", state="done", ended_at=5))
    before = cache.all(WHERE)
    cache.clear(WHERE, ["t2"], "now")
    assert list(cache.all(WHERE)) == ["t1"]
    cache.restore(WHERE, "now")
    assert cache.all(WHERE) == before


def test_the_same_again_has_the_same_number(cache):
    first = keep(cache, row("t1"), row("t2"))
    assert keep(cache, row("t1", asked_at=9), row("t2")) == first


def test_only_changed_rows_are_news(cache):
    first = keep(cache, row("t1"), row("t2"))
    second = keep(cache, row("t1", percent=5), row("t2"))
    assert list(cache.since(WHERE, first)) == ["t1"]
    assert cache.find_list(WHERE).ordered <= first
    assert cache.since(WHERE, second) == {}


def test_added_and_removed_transfers_change_the_order(cache):
    first = keep(cache, row("t1"), row("t2"))
    second = keep(cache, row("t1"))
    assert cache.find_list(WHERE).ordered == second > first
    assert list(cache.all(WHERE)) == ["t1"]


def test_the_order_of_the_queue_is_kept_for_other_processes(cache, tmp_path, clock):
    keep(cache, row("t2"), row("t3", state="queued"), row("t1"))
    other = TransferCache(tmp_path / "transfers.sqlite3", clock=clock)
    assert list(other.all(WHERE)) == ["t2", "t3", "t1"]
    assert other.find_list(WHERE).groups.under_way == ["t2", "t1", "t3"]


def test_a_transfer_that_moved_in_the_queue_is_news(cache):
    """A page may have to show it now, and lack it."""
    first = keep(cache, row("t1"), row("t2"), row("t3"))
    second = keep(cache, row("t1"), row("t3"), row("t2"))
    assert second == cache.find_list(WHERE).ordered == first + 1
    assert {"t2", "t3"} >= cache.since(WHERE, first).keys() > set()
    assert keep(cache, row("t1"), row("t3"), row("t2")) == second


def test_arrivals_are_announced_to_people_who_saw_them_running(cache):
    first = keep(cache, row("t1"))
    second = keep(cache, row("t1", state="done"))
    third = keep(cache, row("t1", state="done", place="Films"))
    assert list(cache.arrived_since(WHERE, first)) == ["t1"]
    assert third > second
    assert cache.arrived_since(WHERE, second) == {}


def test_a_transfer_first_seen_when_done_is_not_an_arrival(cache):
    keep(cache, row("t1", state="done"))
    assert cache.arrived_since(WHERE, 0) == {}


def test_a_poll_from_before_our_own_action_changes_nothing(cache):
    keep(cache, row("t1"))
    before = cache.begin_poll(WHERE)
    cache.change(WHERE, ["t1"])
    cache.save(WHERE, [row("t1")], "etag", before)
    assert cache.find_list(WHERE).groups.under_way == []
    assert cache.find_list(WHERE).is_changed


def test_a_failure_keeps_the_known_data_and_is_reported_once(cache):
    first = keep(cache, row("t1"))
    cache.fail(WHERE, Unavailable("too_slow"))
    cache.fail(WHERE, Unavailable("too_slow"))
    cached_list = cache.find_list(WHERE)
    assert (cached_list.failure, cached_list.failures) == ("Unavailable too_slow", 2)
    assert cached_list.number == first + 1
    assert keep(cache, row("t1")) == first + 2


def test_only_one_caller_has_the_lock(cache):
    with cache.refresh_lock(WHERE) as first, cache.refresh_lock(WHERE) as second:
        assert first
        assert not second
    with cache.refresh_lock(WHERE) as third:
        assert third


def test_the_turn_of_a_process_that_died_ends(cache, clock):
    with cache.refresh_lock(WHERE) as first:
        clock.now += 61
        with cache.refresh_lock(WHERE) as second:
            assert first
            assert second


def test_a_lock_released_too_late_stays_with_the_process_that_took_it_over(cache, clock):
    with ExitStack() as late:
        late.enter_context(cache.refresh_lock(WHERE))
        clock.now += 61
        with cache.refresh_lock(WHERE):
            late.close()
            with cache.refresh_lock(WHERE) as third:
                assert not third


def test_only_one_of_many_threads_gets_the_lock(cache):
    together, winners = Barrier(8), []

    def run() -> None:
        together.wait()
        with cache.refresh_lock(WHERE) as has_turn:
            winners.append(has_turn)
            together.wait()

    threads = [Thread(target=run) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert sorted(winners) == [False] * 7 + [True]


def test_unused_services_are_forgotten(cache, clock):
    cache.begin_poll(WHERE)
    keep(cache, row("t1"))
    cache.begin_poll(WHERE)
    clock.now += 31 * 24 * 3600
    cache.prune()
    assert cache.find_list(WHERE) is None
    assert cache.all(WHERE) == {}
