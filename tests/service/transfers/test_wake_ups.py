"""Pipes that wake one machine's workers; tests/service/test_notifications.py has the others."""

import os
from contextlib import contextmanager, suppress

import pytest

from service.transfers import transfers, wake_ups
from tests.leftovers import in_use
from tests.service.builders import NOW, alice, magnet

pytestmark = pytest.mark.sqlite
SECONDS = 10


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return tmp_path / "bells"


@contextmanager
def worker():
    woken = wake_ups.WakeUp()
    with wake_ups.listen(woken):
        yield woken


def test_all_workers_hear_each_wake_up():
    with worker() as one, worker() as two:
        for _ in range(3):
            wake_ups.wake_workers()
            assert one.wait(SECONDS)
            assert two.wait(SECONDS)
            one.clear()
            two.clear()


def test_a_worker_that_ends_leaves_nothing(folder):
    before = in_use()
    with worker():
        assert [pipe.suffix for pipe in folder.iterdir()] == [".pipe"]
    assert not list(folder.iterdir())
    assert in_use() <= before


def test_without_a_worker_nothing_happens(folder):
    wake_ups.wake_workers()
    assert not folder.exists()


def test_the_pipe_of_a_killed_worker_is_removed_and_the_others_wake(folder):
    with worker() as woken:
        for name in ("0.pipe", "zzz.pipe"):
            os.mkfifo(folder / name)
        wake_ups.wake_workers()
        assert woken.wait(SECONDS)
        assert len(list(folder.iterdir())) == 1


def test_a_stuck_worker_delays_no_one(folder):
    """The pipe of the stuck worker is full of wake-ups."""
    folder.mkdir()
    os.mkfifo(folder / "stuck.pipe")
    stuck = os.open(folder / "stuck.pipe", os.O_RDWR | os.O_NONBLOCK)
    try:
        with suppress(BlockingIOError):
            while True:
                os.write(stuck, bytes(4096))
        with worker() as woken:
            wake_ups.wake_workers()
            assert woken.wait(SECONDS)
    finally:
        os.close(stuck)


def test_a_disk_that_has_no_pipes_leaves_the_poll(monkeypatch, caplog):
    def refuse(*_wanted):
        raise PermissionError(1, "Operation not permitted")

    # Only root can mount a file system without pipes.
    monkeypatch.setattr(os, "mkfifo", refuse)
    with worker() as woken:
        wake_ups.wake_workers()
        assert not woken.is_set()
    assert "waits for the next poll" in caplog.text


@pytest.mark.django_db
def test_adding_and_deleting_wake_the_worker():
    account = alice()
    with worker() as woken:
        transfer = transfers.add_magnet(account, magnet(), 0, NOW)
        assert woken.wait(SECONDS)
        woken.clear()
        transfers.delete(account, transfer.pk, NOW)
        assert woken.wait(SECONDS)
