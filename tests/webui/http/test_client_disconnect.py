"""Clients that disconnect while other connections open and close."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from webui.http.client_disconnect import DisconnectWatcher

TRIES = 60


@pytest.mark.slow
def test_a_client_that_disconnects_is_reported_once():
    departures, reports = DisconnectWatcher(), threading.Semaphore(0)
    ours, theirs = socket.socketpair()
    with closing(ours):
        forget = departures.expect(ours, reports.release)
        assert not reports.acquire(timeout=0.05)
        theirs.close()
        assert reports.acquire(timeout=60)
        assert not reports.acquire(timeout=0.05)
        forget()


@pytest.mark.slow
def test_a_new_client_is_not_taken_for_the_last_one_that_disconnected():
    """A new connection may reuse a closed one's number before the last event of that is read."""
    departures, wrong = DisconnectWatcher(), 0
    with busy_threads(2):
        for _try in range(TRIES):
            number = leave_unnoticed(departures)
            ours, theirs = socket.socketpair()
            with closing(ours), closing(theirs):
                assert ours.fileno() == number
                reports = threading.Event()
                forget = departures.expect(ours, reports.set)
                wrong += reports.wait(0.001)
                forget()
    assert wrong == 0


def leave_unnoticed(departures: DisconnectWatcher) -> int:
    """Disconnect a client just as its stream ends, and return the number of its connection."""
    ours, theirs = socket.socketpair()
    forget = departures.expect(ours, lambda: None)
    theirs.close()
    forget()
    number = ours.fileno()
    ours.close()
    return number


@contextmanager
def busy_threads(count: int) -> Iterator[None]:
    """Run threads that leave others little time, so that events are read late."""
    is_over = threading.Event()

    def keep_busy() -> None:
        while not is_over.is_set():
            sum(range(1000))

    threads = [threading.Thread(target=keep_busy) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
