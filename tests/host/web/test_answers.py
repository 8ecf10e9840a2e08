"""How responses are sent."""

import selectors
import socket
from contextvars import copy_context
from functools import partial
from itertools import repeat
from types import SimpleNamespace

import pytest
from gunicorn.config import Config
from gunicorn.http import wsgi

from common.http import request_ids
from host.web import answers
from host.web.answers import PARKED, AnsweringWorker, go_on, send
from host.web.transmission import Outbox


@pytest.mark.parametrize(
    ("method", "status"), [("HEAD", "200 OK"), ("GET", "304 Not Modified"), ("GET", "200 OK")]
)
def test_a_file_is_sent_only_where_a_response_may_have_a_body(tmp_path, method, status):
    (tmp_path / "film").write_bytes(b"bytes of a film")
    request = SimpleNamespace(method=method, version=(1, 1), should_close=lambda: False)
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "film").open("rb", buffering=0) as film:
        ours.setblocking(False)
        outbox = Outbox()
        response = wsgi.Response(request, outbox, Config())
        response.start_response(status, [("Content-Length", "15")])
        conn = SimpleNamespace(sock=ours)
        assert not any(send(response, wsgi.FileWrapper(film), outbox, conn))
        head, _, body = theirs.recv(10_000).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status}".encode())
    assert body == (b"bytes of a film" if (method, status) == ("GET", "200 OK") else b"")


def test_a_response_to_a_fast_client_shares_its_thread(monkeypatch):
    # No setting shortens this, and the test would take a second.
    monkeypatch.setattr(answers, "TURN_SECONDS", 0.05)
    conn = SimpleNamespace(sock=object(), answer=None)
    endless = repeat(None)
    assert go_on(conn, endless) is PARKED
    assert conn.answer is endless
    assert conn.wait == (conn.sock, selectors.EVENT_WRITE)


def test_a_response_that_is_over_says_whether_its_connection_may_be_reused():
    def short():
        yield None
        return True

    conn = SimpleNamespace(sock=object(), answer=None)
    assert go_on(conn, short()) is True
    assert conn.answer is None


def test_a_response_breaks_off_once_it_may_not_go_on(monkeypatch):
    # No setting shortens this, and the test would take a second.
    monkeypatch.setattr(answers, "ASK_SECONDS", 0)
    replies = iter([True, True, False])
    steps = answers.while_allowed(repeat(None), partial(next, replies))
    assert [next(steps), next(steps)] == [None, None]
    with pytest.raises(ConnectionResetError):
        next(steps)


def test_a_response_logs_with_the_id_of_its_own_request():
    seen = []

    def slow():
        while True:
            seen.append(request_ids.current())
            yield object(), selectors.EVENT_WRITE

    def answer_two():
        # A whole one needs a configuration of gunicorn, of which this uses nothing.
        worker = object.__new__(AnsweringWorker)
        conns = [SimpleNamespace(sock=object(), answer=None) for _each in range(2)]
        for number, conn in enumerate(conns):
            request_ids.begin(f"request-{number}")
            go_on(conn, slow())
        for conn in conns:
            assert worker.handle(conn) is PARKED

    copy_context().run(answer_two)
    assert seen == ["request-0", "request-1"] * 2
