"""Connections to a database server are fewer than Ferry's threads, and slow clients hold none."""

import os
import socket
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress

import httpx
import psycopg
import pytest

from tests.postgresql import cluster
from tests.running import PASSWORD, running

pytestmark = pytest.mark.slow

EMAIL = "alice@example.com"
CONTENT = os.urandom(20_000_000)
# Together with the uploads, fewer than the threads that one address may take.
SLOW_CLIENTS = 6
# 64 threads have four connections, and the worker as many.
MOST = 14
SETTINGS = {"WEB_PROCESSES": "1", "WEB_THREADS": "64"}


@pytest.fixture(scope="module")
def server():
    with cluster(max_connections=str(MOST)) as server:
        yield server


@pytest.fixture(scope="module")
def ferry(server, tmp_path_factory):
    data_dir = tmp_path_factory.mktemp("ferry")
    with running(data_dir, DATABASE_URL=server.url, **SETTINGS) as ferry:
        ferry.say("account", "add", EMAIL, words=f"{PASSWORD}\n")
        yield ferry


@pytest.fixture
def alice(ferry):
    options = {"auth": (EMAIL, PASSWORD), "timeout": 60, "trust_env": False}
    with httpx.Client(base_url=ferry.url, **options) as alice:
        yield alice


def sessions_of(server) -> int:
    """Return how many sessions Ferry has on the server."""
    with closing(psycopg.connect(server.url)) as own:
        count = own.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid != pg_backend_pid()"
        ).fetchone()
    return count[0]


def begin(ferry, head: bytes, body: bytes = b"") -> socket.socket:
    """Send a request, or the beginning of one, and receive no more than the kernel does."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", ferry.port))
    authorization = b64encode(f"{EMAIL}:{PASSWORD}".encode())
    headers = b"Host: localhost\r\nAuthorization: Basic " + authorization
    connection.sendall(head + b"\r\n" + headers + b"\r\n\r\n" + body)
    return connection


def test_slow_uploads_and_downloads_leave_the_connections_to_others(ferry, server, alice):
    assert alice.post("/rest/transfer/file", files={"file": ("film", CONTENT)}).status_code == 200
    (film,) = alice.get("/rest/folder").json()["files"]
    place = alice.get(f"/rest/file/{film['id']}").headers["Location"]
    path = place.removeprefix(ferry.url).encode()
    upload = b"POST /rest/transfer/file HTTP/1.1\r\nContent-Length: 1000000\r\n"
    upload += b"Content-Type: multipart/form-data; boundary=b"
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="new"\r\n\r\nfirst'
    with ExitStack() as stack:
        for _each in range(SLOW_CLIENTS):
            download = begin(ferry, b"GET " + path + b" HTTP/1.1")
            stack.enter_context(download)
            assert download.recv(12) == b"HTTP/1.1 200"
            stack.enter_context(begin(ferry, upload, part))
        for _again in range(3):
            assert alice.get("/rest/folder").status_code == 200
        assert sessions_of(server) <= 2 * 4


def test_a_crowd_shares_the_connections(ferry, server, alice):
    url = f"{ferry.url}/rest/folder/{alice.get('/rest/folder').json()['id']}"

    def ask(_number: int) -> httpx.Response:
        # Threads that share a client may close each other's connections.
        return httpx.get(url, auth=(EMAIL, PASSWORD), timeout=60, trust_env=False)

    with ThreadPoolExecutor(60) as crowd:
        answers = list(crowd.map(ask, range(160)))
    assert {answer.status_code for answer in answers} == {200}
    assert sessions_of(server) <= 2 * 4


def test_a_server_without_a_connection_left_is_one_line(ferry, server):
    """PostgreSQL says so in one of several ways, all before a session begins."""
    server.stop()
    server.start()
    with ExitStack() as stack, httpx.Client(base_url=ferry.url, timeout=60) as stranger:
        with suppress(psycopg.OperationalError):
            for _each in range(MOST):
                stack.enter_context(closing(psycopg.connect(server.url)))
        answer = stranger.get("/rest/folder", auth=(EMAIL, PASSWORD))
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        page = stranger.get("/signin/?next=/files/")
        assert (page.status_code, page.headers["Retry-After"]) == (503, "30")
        assert ferry.log.count("No connection to the database is free") == 1, ferry.log
        assert "Traceback" not in ferry.log
