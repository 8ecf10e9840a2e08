"""Sending without blocking: each byte arrives, whenever the client takes it."""

import os
import resource
import selectors
import socket
import threading
from pathlib import Path

import pytest

from host.web.transmission import Outbox, send_file, splice

CONTENT = os.urandom(3_000_000)


@pytest.fixture
def ends():
    """Return a server's end of a connection, which is never blocked, and its client's."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def received(steps, ours, theirs):
    """Read all that the steps send, each time when they wait for the client."""
    pieces = []
    for wait in filter(None, steps):
        assert wait == (ours, selectors.EVENT_WRITE)
        pieces.append(theirs.recv(100_000))
    ours.close()
    while piece := theirs.recv(100_000):
        pieces.append(piece)
    return b"".join(pieces)


def test_gunicorns_writes_arrive_in_order(ends):
    outbox = Outbox()
    for piece in (b"head", b"", CONTENT[:7], CONTENT[7:]):
        outbox.sendall(piece)
    assert received(outbox.empty_into(ends[0]), *ends) == b"head" + CONTENT


def test_a_file_is_sent_from_its_position(ends, tmp_path):
    (tmp_path / "film").write_bytes(CONTENT)
    with (tmp_path / "film").open("rb", buffering=0) as film:
        film.seek(1000)
        steps = send_file(film, 2_000_000, ends[0])
        assert received(steps, *ends) == CONTENT[1000:2_001_000]


def test_a_file_that_lost_its_end_is_an_error(ends, tmp_path):
    (tmp_path / "film").write_bytes(b"short")
    with (tmp_path / "film").open("rb") as film, pytest.raises(EOFError):
        list(send_file(film, 6, ends[0]))


def spliced(ends, sent, count):
    """Return what arrived of the bytes that a service sent, and whether those were all."""
    source, service = socket.socketpair()
    feed = threading.Thread(target=lambda: (service.sendall(sent), service.close()))
    outcome = []

    def steps():
        outcome.append((yield from splice(source, count, ends[0])))

    with source:
        feed.start()
        content = received((wait for wait in steps() if wait is None or wait[0] is ends[0]), *ends)
        feed.join()
    return content, *outcome


def test_bytes_between_sockets_are_exact(ends):
    assert spliced(ends, CONTENT, len(CONTENT)) == (CONTENT, True)


def test_a_service_that_breaks_off_is_noticed(ends):
    assert spliced(ends, CONTENT, len(CONTENT) + 1) == (CONTENT, False)


def test_a_silent_service_is_waited_for_and_nothing_stays_open(ends):
    source, service = socket.socketpair()
    before = descriptors()
    with source, service:
        steps = splice(source, 10, ends[0])
        assert next(steps)[1] == selectors.EVENT_READ
        service.sendall(b"0123456789")
        assert list(steps) == [None]
        steps = splice(source, 10, ends[0])
        next(steps)
        steps.close()
        assert descriptors() == before
    assert ends[1].recv(20) == b"0123456789"


def test_splice_leaves_the_bytes_to_the_caller_without_free_descriptors(ends):
    source, service = socket.socketpair()
    with source, service:
        before, limits = descriptors(), resource.getrlimit(resource.RLIMIT_NOFILE)
        # There is one left, for the copy of the socket, and none for the pipe.
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_descriptor() + 1, limits[1]))
        try:
            with pytest.raises(StopIteration) as end:
                next(splice(source, 10, ends[0]))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert end.value.value is False
        assert descriptors() == before


def next_descriptor():
    descriptor = os.dup(0)
    os.close(descriptor)
    return descriptor


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))
