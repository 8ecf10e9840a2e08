"""The board that all processes share."""

from threading import Barrier, Thread

import pytest

from webui.transfers.states import Sighting
from webui.transfers.transfer_cache import Boards
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
def boards(tmp_path, clock) -> Boards:
    return Boards(tmp_path / "transfers.sqlite3", clock=clock)


def row(key: str, **facts) -> Sighting:
    return Sighting(**{"key": key, "id": key[1:], "name": key, "state": "downloading"} | facts)


def keep(boards: Boards, *rows: Sighting) -> int:
    boards.keep(WHERE, rows, "etag", boards.changes(WHERE))
    board = boards.board(WHERE)
    assert board
    return board.number


def test_nothing_is_known_before_the_first_look(boards):
    assert boards.board(WHERE) is None


def test_another_process_sees_what_one_saw(boards, tmp_path, clock):
    keep(boards, row("t1"), row("t2", state="done", ended_at=5))
    other = Boards(tmp_path / "transfers.sqlite3", clock=clock)
    assert other.board(WHERE).groups == (["t1"], [], ["t2"])
    assert other.of_keys(WHERE, ["t1", "t9"]) == {"t1": row("t1")}


def test_the_same_again_has_the_same_number(boards):
    first = keep(boards, row("t1"), row("t2"))
    assert keep(boards, row("t1", asked_at=9), row("t2")) == first


def test_only_what_changed_is_new(boards):
    first = keep(boards, row("t1"), row("t2"))
    second = keep(boards, row("t1", percent=5), row("t2"))
    assert list(boards.since(WHERE, first)) == ["t1"]
    assert boards.board(WHERE).ordered <= first
    assert boards.since(WHERE, second) == {}


def test_one_that_comes_or_goes_changes_the_order(boards):
    first = keep(boards, row("t1"), row("t2"))
    second = keep(boards, row("t1"))
    assert boards.board(WHERE).ordered == second > first
    assert list(boards.all(WHERE)) == ["t1"]


def test_arrivals_are_told_to_whoever_saw_them_running(boards):
    first = keep(boards, row("t1"))
    second = keep(boards, row("t1", state="done"))
    third = keep(boards, row("t1", state="done", place="Films"))
    assert list(boards.arrived_since(WHERE, first)) == ["t1"]
    assert third > second
    assert boards.arrived_since(WHERE, second) == {}


def test_what_was_done_when_it_was_seen_first_is_no_arrival(boards):
    keep(boards, row("t1", state="done"))
    assert boards.arrived_since(WHERE, 0) == {}


def test_a_look_from_before_our_own_act_changes_nothing(boards):
    keep(boards, row("t1"))
    before = boards.changes(WHERE)
    boards.change(WHERE, ["t1"])
    boards.keep(WHERE, [row("t1")], "etag", before)
    assert boards.board(WHERE).groups.under_way == []
    assert boards.board(WHERE).is_changed


def test_a_failure_keeps_what_is_known_and_says_so_once(boards):
    first = keep(boards, row("t1"))
    boards.fail(WHERE, Unavailable("too_slow"))
    boards.fail(WHERE, Unavailable("too_slow"))
    board = boards.board(WHERE)
    assert (board.failure, board.failures) == ("Unavailable too_slow", 2)
    assert board.number == first + 1
    assert keep(boards, row("t1")) == first + 2


def test_one_at_a_time_has_the_turn(boards):
    with boards.turn(WHERE) as first, boards.turn(WHERE) as second:
        assert first
        assert not second
    with boards.turn(WHERE) as third:
        assert third


def test_the_turn_of_a_process_that_died_ends(boards, clock):
    with boards.turn(WHERE) as first:
        clock.now += 61
        with boards.turn(WHERE) as second:
            assert first
            assert second


def test_of_many_threads_one_gets_the_turn(boards):
    together, winners = Barrier(8), []

    def run() -> None:
        together.wait()
        with boards.turn(WHERE) as has_turn:
            winners.append(has_turn)
            together.wait()

    threads = [Thread(target=run) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert sorted(winners) == [False] * 7 + [True]


def test_services_that_nobody_looks_at_are_forgotten(boards, clock):
    boards.asking(WHERE)
    keep(boards, row("t1"))
    boards.asking(WHERE)
    clock.now += 31 * 24 * 3600
    boards.prune()
    assert boards.board(WHERE) is None
    assert boards.all(WHERE) == {}
