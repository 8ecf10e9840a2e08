import os
import signal

import pytest

from service.media.sandbox import ready_copiers
from service.media.sandbox.ready_copiers import MOST_WAITING, Copier, ReadyCopiers
from tests.service.media.waiting import wait_until


@pytest.fixture
def copiers(tmp_path):
    made = ReadyCopiers(tmp_path)
    yield made
    made.close()


@pytest.fixture
def waiting(copiers, child_processes):
    before = child_processes()
    copiers.refill()
    return child_processes() - before


def ask(copiers) -> int:
    """Ask about a file that doesn't exist, and return the id of the copier that tried."""
    running, output = copiers.ask({"path": "/nowhere"})
    with running, output:
        assert output.read() == b""
        assert running.wait() != 0
    return running.pid


def test_a_few_copiers_wait(copiers, waiting, child_processes):
    assert len(waiting) == MOST_WAITING
    before = child_processes()
    copiers.refill()
    assert child_processes() == before


def test_a_copier_reads_only_one_file(copiers, waiting):
    pids = [ask(copiers) for _ in range(MOST_WAITING + 1)]
    assert len(set(pids)) == len(pids)
    assert set(pids[:MOST_WAITING]) == waiting


def test_a_dead_copier_is_not_used(copiers, waiting, child_processes):
    for pid in waiting:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not waiting & child_processes())
    assert ask(copiers) not in waiting


def test_a_copier_that_dies_before_its_request_is_noticed_by_its_output(tmp_path):
    copier = Copier(tmp_path)
    os.kill(copier.running.pid, signal.SIGKILL)
    wait_until(lambda: copier.running.poll() is not None)
    running, output = copier.ask({"path": "/nowhere"})
    with running, output:
        assert output.read() == b""


def test_the_copier_that_waits_longest_comes_first(copiers, waiting, child_processes):
    """Otherwise one could wait until its limit of time ends it."""
    first = ask(copiers)
    copiers.refill()
    assert ask(copiers) in waiting - {first}


def test_copiers_wait_only_while_someone_watches(copiers, waiting, child_processes, monkeypatch):
    ask(copiers)
    copiers.refill()
    left = child_processes() & waiting
    copiers.rest()
    assert left
    assert left <= child_processes()
    # No setting shortens this, and a test would wait for minutes.
    monkeypatch.setattr(ready_copiers, "IDLE_SECONDS", 0.0)
    copiers.rest()
    assert not waiting & child_processes()


def test_no_request_waits_after_the_end(copiers, waiting, child_processes):
    copiers.close()
    before = child_processes()
    copiers.refill()
    assert not waiting & before
    assert child_processes() == before
