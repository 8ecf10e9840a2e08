"""The queue in front of argon2."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from common.passwords import HashQueue

GENEROUS = 60


def test_callers_with_one_key_go_one_at_a_time():
    queue = HashQueue(most_running=4, most_waiting=1, wait_seconds=GENEROUS)
    start = Barrier(8)
    running, most = set(), []

    def one(number):
        start.wait(GENEROUS)
        # With the same password, all of them count as one in the queue.
        with queue.turn("alice", "password"):
            running.add(number)
            most.append(len(running))
            running.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(8)))
    assert most == [1] * 8


def test_only_so_many_run_at_once():
    queue = HashQueue(most_running=2, most_waiting=4, wait_seconds=0)
    others = queue.turn("alice", "1"), queue.turn("bob", "2")
    with others[0], others[1], pytest.raises(TimeoutError), queue.turn("carol", "3"):
        pass
    with queue.turn("carol", "3"):
        pass


def test_a_turn_that_ends_in_an_error_is_free_again():
    queue = HashQueue(most_running=1, most_waiting=1, wait_seconds=0)
    with pytest.raises(ValueError, match="broken"), queue.turn("alice", "1"):
        raise ValueError("broken")
    with queue.turn("alice", "1"):
        pass


def test_a_full_queue_turns_away_only_strangers():
    queue = HashQueue(most_running=1, most_waiting=0, wait_seconds=GENEROUS)
    with pytest.raises(TimeoutError), queue.turn("alice", "1"):
        pass
    with queue.turn("alice", "1", is_known=True):
        pass
