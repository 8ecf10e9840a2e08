"""Who has left, while connections come and go."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

from webui.departures import Departures

TRIES = 150


def test_a_reader_who_leaves_is_told_once():
    departures, told = Departures(), threading.Semaphore(0)
    ours, theirs = socket.socketpair()
    with closing(ours):
        forget = departures.expect(ours, told.release)
        assert not told.acquire(timeout=0.05)
        theirs.close()
        assert told.acquire(timeout=60)
        assert not told.acquire(timeout=0.05)
        forget()


def test_a_new_reader_is_not_taken_for_the_last_one_who_left():
    """A closed connection's number goes to the next one, maybe before the news is read."""
    departures, wrong = Departures(), 0
    with busy_threads(2):
        for _try in range(TRIES):
            number = leave_unnoticed(departures)
            ours, theirs = socket.socketpair()
            with closing(ours), closing(theirs):
                assert ours.fileno() == number
                told = threading.Event()
                forget = departures.expect(ours, told.set)
                wrong += told.wait(0.001)
                forget()
    assert wrong == 0


def leave_unnoticed(departures: Departures) -> int:
    """The reader leaves, and the stream ends by itself at once."""
    ours, theirs = socket.socketpair()
    forget = departures.expect(ours, lambda: None)
    theirs.close()
    forget()
    number = ours.fileno()
    ours.close()
    return number


@contextmanager
def busy_threads(count: int) -> Iterator[None]:
    """Threads that leave others little time, so that news is read late."""
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
