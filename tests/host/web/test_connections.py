"""When a request has arrived: a thread must not have to wait for its client."""

import select
import socket
from types import SimpleNamespace

import pytest
from gunicorn.config import Config

from host.web.connections import AWAITED_BYTES, ClientConnection, is_upload
from tests.cases import each_case

POST = b"POST /signin/ HTTP/1.1\r\nHost: localhost\r\n"
LENGTH = POST + b"Content-Length: 10\r\n\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def client():
    """Return a client's socket, with the server's end as `connection`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ours, address = listener.accept()
        connection = ClientConnection(Config(), ours, address, listener.getsockname())
        with client, ours:
            yield SimpleNamespace(socket=client, connection=connection, send=client.sendall)


def wakes(connection) -> bool:
    """Return whether the poller would wake for this connection."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(100))


def arrives(connection) -> bool:
    return wakes(connection) and connection.receive()


@pytest.mark.parametrize(
    ("pieces", "outcomes"),
    [
        ([b"GET / HTTP/1.1\r\n", b"\r\n"], [False, True]),
        ([LENGTH + b"0123456789"], [True]),
        ([LENGTH, b"0123456789"], [False, True]),
        ([LENGTH + b"0123", b"45678", b"9"], [False, False, True]),
        ([CHUNKED + b"3\r\nabc\r\n", b"0\r\n", b"\r\n"], [False, False, True]),
        ([CHUNKED, b"0\r\nTrailer: x\r\n\r\n"], [False, True]),
        ([POST + b"Content-Length: 10\n\n"], [True]),
    ],
)
def test_a_request_is_here_once_its_body_is(client, pieces, outcomes):
    for piece, outcome in zip(pieces, outcomes, strict=True):
        client.send(piece)
        assert arrives(client.connection) is outcome, piece


def test_a_trickling_body_wakes_no_thread_and_stays_in_the_kernel(client):
    client.send(LENGTH)
    assert not arrives(client.connection)
    for _ in range(9):
        client.send(b"x")
        assert not wakes(client.connection)
    assert bytes(client.connection.head) == LENGTH
    client.send(b"x")
    assert arrives(client.connection)


def test_only_the_beginning_of_a_long_body_is_awaited(client):
    client.send(POST + b"Content-Length: 100000000\r\n\r\n")
    assert not arrives(client.connection)
    client.send(b"x" * AWAITED_BYTES)
    assert arrives(client.connection)


@pytest.mark.parametrize("head", [LENGTH, CHUNKED])
def test_a_client_that_leaves_within_a_body_is_noticed(client, head):
    client.send(head + b"1")
    assert not arrives(client.connection)
    client.socket.shutdown(socket.SHUT_WR)
    assert arrives(client.connection)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (
            POST + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n",
        ),
        (POST.replace(b"1.1", b"1.0") + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", b""),
    ],
)
def test_100_continue_is_sent_once(client, head, said):
    client.send(head)
    assert not arrives(client.connection)
    client.send(b"0123456789")
    assert arrives(client.connection)
    client.connection.sock.shutdown(socket.SHUT_WR)
    assert client.socket.recv(100) == said


def test_a_thread_reads_the_request_without_waiting(client):
    client.send(LENGTH + b"01234")
    assert not arrives(client.connection)
    client.send(b"56789")
    assert arrives(client.connection)
    client.connection.hand_over()
    assert client.connection.source.read() == LENGTH + b"01234"
    client.connection.source.begin_body(may_be_slow=False)
    assert client.connection.source.read() == b"56789"
    assert not client.connection.has_head


def test_a_late_body_is_read_as_far_as_it_is_here(client):
    client.send(LENGTH + b"0")
    assert not arrives(client.connection)
    client.send(b"1")
    client.connection.source.is_late = True
    client.connection.hand_over()
    client.connection.source.read()
    client.connection.source.begin_body(may_be_slow=False)
    assert client.connection.source.read() == b"1"
    with pytest.raises(TimeoutError):
        client.connection.source.read()


@each_case(
    ("path", "is_slow"),
    [
        ("/files/7/upload/", True),
        ("/files/uploads/0123abcd/", True),
        ("/rest/transfer/file", True),
        ("/s/0123abcd/send/", True),
        ("/s/0123abcd/7/send/", False),
        ("/files/7/uploads/", False),
        ("/files/7/move/", False),
    ],
)
def test_only_uploads_may_be_slow(path, is_slow):
    assert is_upload(path) is is_slow
