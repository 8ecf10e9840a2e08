"""Encrypted sockets, as the web server uses them: like plain ones."""

import os
import select
import selectors
import socket
import ssl
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from types import SimpleNamespace

import pytest
from gunicorn.config import Config

from host.tls.context import ServerContext
from host.web.connections import AWAITED_BYTES, ClientConnection
from host.web.transmission import Outbox, send_file
from tests import certificates

CONTENT = os.urandom(3_000_000)
POST = b"POST /signin/ HTTP/1.1\r\nHost: localhost\r\n"
LENGTH = POST + b"Content-Length: 10\r\n\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.fixture
def trust(settings, tmp_path) -> ssl.SSLContext:
    trust = certificates.trusted(tmp_path, "localhost")
    settings.TLS_CERT, settings.TLS_KEY = tmp_path / "front.crt", tmp_path / "front.key"
    return trust


@pytest.fixture
def ends(trust):
    """Return a server's socket without a handshake yet, and its client's, which is plain."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as stack:
        theirs = stack.enter_context(socket.create_connection(listener.getsockname(), timeout=60))
        accepted, address = listener.accept()
        ours = stack.enter_context(ServerContext().wrap(accepted))
        ours.setblocking(False)
        yield SimpleNamespace(ours=ours, theirs=theirs, address=address)


@pytest.fixture
def client(ends, trust):
    """Return a client that trusts the server, with the server's end as `connection`."""
    connection = ClientConnection(Config(), ends.ours, ends.address, ends.ours.getsockname())
    with ThreadPoolExecutor(1) as pool:
        encrypted = pool.submit(trust.wrap_socket, ends.theirs, server_hostname="localhost")
        while not encrypted.done():
            assert not arrives(connection)
        with encrypted.result() as secure:
            secure.settimeout(60)
            drain(connection)
            yield SimpleNamespace(socket=secure, connection=connection, send=secure.sendall)


def arrives(connection: ClientConnection) -> bool:
    """Return whether a request is here, once what was sent has been read."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    is_here = False
    while not is_here and poll.poll(100):
        is_here = connection.receive()
    return is_here


def drain(connection: ClientConnection) -> None:
    """Read the end of the handshake, if the server hasn't seen it yet."""
    assert not arrives(connection)


def test_before_the_handshake_it_waits_as_a_plain_socket_does(ends):
    with pytest.raises(BlockingIOError):
        ends.ours.recv(100)


@pytest.mark.parametrize("said", [b"\x17" * 300, b"GET / HTTP/1.1\r\n\r\n"])
def test_what_is_no_handshake_ends_the_connection(ends, said):
    ends.theirs.sendall(said)
    assert select.select([ends.ours], [], [], 60)[0]
    with pytest.raises(ConnectionResetError):
        ends.ours.recv(100)


def test_without_a_certificate_or_a_client_there_is_no_socket(settings, tmp_path):
    settings.TLS_CERT = settings.TLS_KEY = tmp_path / "none.pem"
    ours, theirs = socket.socketpair()
    with theirs:
        assert ServerContext().wrap(ours) is None
    assert ours.fileno() == -1


@pytest.mark.parametrize(
    ("pieces", "outcomes"),
    [
        ([b"GET / HTTP/1.1\r\n", b"\r\n"], [False, True]),
        ([LENGTH + b"0123456789"], [True]),
        ([LENGTH + b"0123", b"45678", b"9"], [False, False, True]),
        ([CHUNKED + b"3\r\nabc\r\n", b"0\r\n", b"\r\n"], [False, False, True]),
        ([POST + b"Content-Length: 100000000\r\n\r\n", b"x" * AWAITED_BYTES], [False, True]),
        ([CHUNKED, b"x" * AWAITED_BYTES], [False, True]),
    ],
)
def test_a_request_is_here_once_its_body_is(client, pieces, outcomes):
    for piece, outcome in zip(pieces, outcomes, strict=True):
        client.send(piece)
        assert arrives(client.connection) is outcome, piece[:100]


@pytest.mark.parametrize("head", [LENGTH, CHUNKED])
def test_a_client_that_leaves_within_a_body_is_noticed(client, head):
    client.send(head + b"1")
    assert not arrives(client.connection)
    client.socket.close()
    with pytest.raises(ConnectionError):
        arrives(client.connection)


def test_100_continue_is_sent_once(client):
    client.send(POST + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n")
    assert not arrives(client.connection)
    client.send(b"01234")
    assert not arrives(client.connection)
    client.send(b"56789")
    assert arrives(client.connection)
    client.connection.sock.shutdown(socket.SHUT_WR)
    assert read_all(client.socket) == b"HTTP/1.1 100 Continue\r\n\r\n"


def test_the_next_request_in_the_same_record_is_not_forgotten(client):
    """No poller tells of bytes that are decrypted already."""
    client.send(POST + b"Content-Length: %d\r\n\r\n" % (AWAITED_BYTES + 9000))
    client.send(b"x" * AWAITED_BYTES)
    assert arrives(client.connection)
    client.connection.hand_over()
    client.connection.source.begin_body(may_be_slow=False)
    client.connection.source.read()
    client.send(b"y" * 9000 + LENGTH + b"0123456789")
    assert client.connection.source.read(9000) == b"y" * 9000
    client.connection.take_back()
    assert client.connection.has_request()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_arrives_whole_with_an_end(ends, trust, tmp_path, version):
    trust.minimum_version = trust.maximum_version = version
    (tmp_path / "film").write_bytes(CONTENT)
    with ThreadPoolExecutor(1) as pool, (tmp_path / "film").open("rb", buffering=0) as film:
        received = pool.submit(read_securely, trust, ends.theirs)
        shake_hands(ends.ours, received)
        outbox = Outbox()
        for piece in (b"", b"head", b"", CONTENT[:7]):
            outbox.sendall(piece)
        film.seek(1000)
        for steps in (outbox.empty_into(ends.ours), send_file(film, 2_000_000, ends.ours)):
            for wait in filter(None, steps):
                assert wait == (ends.ours, selectors.EVENT_WRITE)
                select.select([], [ends.ours], [], 60)
        ends.ours.shutdown(socket.SHUT_WR)
        assert received.result(60) == b"head" + CONTENT[:7] + CONTENT[1000:2_001_000]


def test_a_file_that_lost_its_end_is_an_error(client, tmp_path):
    (tmp_path / "film").write_bytes(b"short")
    with (tmp_path / "film").open("rb") as film, pytest.raises(EOFError):
        list(send_file(film, 6, client.connection.sock))


def shake_hands(ours: socket.socket, received: "Future[bytes]") -> None:
    while not received.done():
        select.select([ours], [], [], 60)
        with suppress(BlockingIOError):
            assert ours.recv(1) == b"!"
            return
    received.result()


def read_securely(trust: ssl.SSLContext, theirs: socket.socket) -> bytes:
    with trust.wrap_socket(theirs, server_hostname="localhost") as secure:
        secure.sendall(b"!")
        return read_all(secure)


def read_all(secure: ssl.SSLSocket) -> bytes:
    """Read to the end. An end without a notice would raise SSLEOFError."""
    secure.suppress_ragged_eofs = False
    return b"".join(iter(lambda: secure.recv(65536), b""))
