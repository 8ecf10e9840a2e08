"""What only the real server shows: sendfile, connections that stay, and those that are cut."""

import os
import socket
import time
from contextlib import closing

import httpx
import pytest
from django.utils import timezone

from service import links, pins
from service.store import library_store
from tests.service.builders import a_file, alice, put
from tests.serving import serving

pytestmark = pytest.mark.django_db(transaction=True)
STALLED_SECONDS = 1
CONTENT = os.urandom(12_000_000)


@pytest.fixture(scope="module")
def server(django_db_setup):
    with serving(STALLED_SECONDS=str(STALLED_SECONDS)) as running:
        yield running


@pytest.fixture
def file_link(library_folder):
    account = alice()
    file = a_file(account, blob=put(library_folder, CONTENT))
    return links.file_link(account, file, now=timezone.now())


@pytest.fixture
def zip_link(library_folder):
    account = alice()
    file = a_file(account, blob=put(library_folder, CONTENT))
    return pins.pin(account, [], [file.pk], "Films", now=timezone.now())


@pytest.fixture
def library_folder(settings):
    return library_store()


def ask(server, link, *, headers=""):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
    connection.sendall(f"GET {link} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
    return connection


def received(connection):
    """What comes until the other side ends it."""
    total = 0
    with closing(connection):
        try:
            while part := connection.recv(65536):
                total += len(part)
        except ConnectionResetError:
            pass
    return total


def until(condition, seconds=10):
    """Waits for another process, which no clock of ours moves."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_one_connection_serves_wholes_parts_and_heads_in_turn(server, file_link):
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        for _ in range(2):
            assert client.get(file_link).content == CONTENT
            part = client.get(file_link, headers={"Range": "bytes=1000-1999999"})
            assert (part.status_code, part.content) == (206, CONTENT[1000:2_000_000])
            last = client.get(file_link, headers={"Range": "bytes=-7"})
            assert last.content == CONTENT[-7:]
            head = client.head(file_link)
            assert (head.headers["Content-Length"], head.content) == (str(len(CONTENT)), b"")
            several = client.get(file_link, headers={"Range": "bytes=0-9,5000-5009"})
            assert int(several.headers["Content-Length"]) == len(several.content)
            assert client.get(file_link, headers={"Range": "bytes=99999999-"}).status_code == 416
            assert client.get("/healthz").text == "alive\n"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "zip"])
def test_a_reader_that_takes_nothing_is_cut(server, request, kind):
    link = request.getfixturevalue(f"{kind}_link")
    idle = server.descriptors()
    started = time.monotonic()
    with closing(ask(server, link)) as connection:
        connection.recv(1)
        assert server.descriptors() > idle
        assert until(lambda: server.descriptors() <= idle)
        assert time.monotonic() - started > STALLED_SECONDS * 0.9
        assert received(connection) < len(CONTENT)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "zip"])
def test_a_reader_that_is_slow_but_steady_is_not_cut(server, request, kind):
    """At 60 seconds this would be 10 KB/s. Without TCP_NOTSENT_LOWAT it is cut at 20 KB/s."""
    link = request.getfixturevalue(f"{kind}_link")
    connection = ask(server, link)
    total, part = 0, b"."
    with closing(connection):
        while part and total < 8_000_000:
            part = connection.recv(60_000)
            total += len(part)
            time.sleep(0.1)
    assert total >= 8_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "beginning",
    [
        b"GET /rest/folder HTTP/1.1\r\nHost: loc",
        b"POST /rest/folder HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\npath=",
    ],
)
def test_a_sender_that_sends_nothing_more_is_cut(server, beginning):
    idle = server.descriptors()
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=20)) as connection:
        connection.sendall(beginning)
        assert until(lambda: server.descriptors() > idle)
        assert until(lambda: server.descriptors() <= idle)


def test_a_file_that_shrinks_while_it_is_sent_ends_the_connection(server, library_folder):
    account = alice()
    file = a_file(account, blob=put(library_folder, CONTENT))
    connection = ask(server, links.file_link(account, file, now=timezone.now()))
    connection.recv(1)
    os.truncate(library_folder.path(file.blob), 8_000_000)
    assert received(connection) < len(CONTENT)


def test_an_archive_that_breaks_midway_is_visibly_incomplete(server, library_folder):
    account = alice()
    first = a_file(account, "a.mkv", blob=put(library_folder, CONTENT))
    second = a_file(account, "b.mkv", blob=put(library_folder, CONTENT))
    link = pins.pin(account, [], [first.pk, second.pk], "Films", now=timezone.now())
    library_folder.delete(second.blob)
    with (
        httpx.Client(base_url=server.url, trust_env=False) as client,
        pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"),
    ):
        client.get(link)


def test_content_and_rest_know_no_cookie_and_no_page(server, file_link):
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        for path in (file_link, "/content/nothing", "/rest/nothing"):
            answer = client.get(path, headers={"Cookie": "ferry_session_8000=x"})
            assert "Set-Cookie" not in answer.headers
            assert "html" not in answer.headers["Content-Type"]


def test_doubled_slashes_are_one(server):
    with httpx.Client(trust_env=False) as client:
        for path in ("/rest/folder", "//rest//folder", "/rest///folder"):
            assert client.get(server.url + path).status_code == 401


def test_a_foreign_name_is_refused_in_json(server, file_link):
    answer = httpx.get(server.url + file_link, headers={"Host": "evil.example"}, trust_env=False)
    assert answer.status_code == 400
    assert answer.json()["reason_phrase"] == "unknown_host"
