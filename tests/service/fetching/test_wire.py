"""Removing a fetch wherever it waits, and resuming after a process was killed."""

import socket
import ssl
import subprocess
import sys
from contextlib import suppress
from threading import Event

import pytest

from common.addresses.reachable import Reach
from service.fetching.http.wire import Road
from service.fetching.pace import Pace
from service.fetching.pool import Fetching
from service.torrents.events import Complete, TorrentGone
from tests.certificates import self_signed
from tests.misbehaving import head, serving
from tests.running import BASE
from tests.service.fetching.servers import CONTENT, Side, file, in_turn, url_of

SECONDS = 10
FETCH_UNTIL_KILLED = """
import sys
from pathlib import Path
from common.addresses.reachable import Reach
from service.fetching.events import Head
from service.fetching.fetch import Fetch
from service.fetching.http.wire import Road
from service.fetching.pace import Pace
from service.fetching.pool import Fetching
fetching = Fetching(Road(Reach("loopback")), pace=Pace(safe_every_seconds=0))
fetching.add(Fetch("7", sys.argv[1], Path(sys.argv[2])))
reported = 0
while True:
    for event in fetching.poll():
        if isinstance(event, Head):
            fetching.proceed("7")
        elif event.done_bytes > reported:
            reported = event.done_bytes
            print(reported, flush=True)
"""


@pytest.fixture
def side(tmp_path):
    side = Side(tmp_path, pace=Pace())
    yield side
    side.fetching.stop(5)


def test_a_fetch_that_resolves_a_name_ends_at_once(side):
    requested, answered = Event(), Event()

    def resolve(host, port):
        requested.set()
        answered.wait(SECONDS)
        return ["127.0.0.1"]

    side.fetching = Fetching(Road(Reach("loopback"), resolve=resolve), Pace())
    side.add("http://slow.example/")
    assert requested.wait(SECONDS)
    side.fetching.remove("7")
    assert side.end() == TorrentGone("7")
    answered.set()


def test_a_fetch_that_connects_ends_at_once(side):
    """The accept queue of this server is full, so a new connection gets no answer."""
    with socket.socket() as listening, socket.socket() as first, socket.socket() as second:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for each in (first, second):
            each.setblocking(False)
            each.connect_ex(listening.getsockname())
        port = listening.getsockname()[1]
        before = knocking_at(port)
        side.add(f"http://127.0.0.1:{port}/")
        side.until_true(lambda: knocking_at(port) > before)
        side.fetching.remove("7")
        assert side.end() == TorrentGone("7")


def knocking_at(port):
    """Return the number of sockets that are connecting to a port (SYN_SENT)."""
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table]
    return sum(row[2].endswith(f":{port:04X}") and row[3] == "02" for row in rows)


def test_a_fetch_in_a_handshake_ends_at_once(side):
    with serving(lambda wire: wire.wait()) as server:
        side.add(url_of(server).replace("http:", "https:"))
        side.until_true(lambda: server.heads)
        side.fetching.remove("7")
        assert side.end() == TorrentGone("7")


def test_removing_closes_the_connection(side):
    closed = Event()

    def noticing(wire):
        # The connection is reset if the fetch closes it before it has read all of these bytes.
        with suppress(ConnectionError):
            wire.send(head(Content_Length="512000"), CONTENT[:100])
            wire.wait_for_end()
        closed.set()

    with serving(noticing) as server:
        side.add(url_of(server))
        side.until_true(lambda: server.heads)
        side.fetching.remove("7")
        assert side.end() == TorrentGone("7")
        assert closed.wait(SECONDS)


def test_a_stopped_fetch_can_be_resumed(side):
    def half(wire):
        wire.send(head(Content_Length="512000", ETag='"a"'), CONTENT[:300_000])
        wire.wait()

    with serving(in_turn(half, file())) as server:
        side.add(url_of(server))
        side.until_true(lambda: (side.folder / "0").exists() and len(side.content) == 300_000)
        side.fetching.stop(SECONDS)
        other = Side(side.folder)
        assert other.fetch(url_of(server)) == Complete("7")
        assert b"Range: bytes=300000-\r\n" in server.heads[1]
    assert other.content == CONTENT


@pytest.mark.promise("a killed fetch continues")
@pytest.mark.slow
def test_another_process_continues_for_a_killed_one(side):
    """The process is killed twice while it writes, at arbitrary moments."""
    content = CONTENT * 40
    with serving(dribbled(content)) as server:
        for _ in range(2):
            command = [sys.executable, "-c", FETCH_UNTIL_KILLED, url_of(server), str(side.folder)]
            with subprocess.Popen(command, cwd=BASE, stdout=subprocess.PIPE) as process:
                assert int(process.stdout.readline()) > 0
                process.kill()
        side.add(url_of(server))
        assert side.end() == Complete("7")
        starts = [int(raw.partition(b"bytes=")[2].partition(b"-")[0] or 0) for raw in server.heads]
    assert side.content == content
    assert starts == sorted(starts)
    assert starts[0] == 0 < starts[1]


def dribbled(content):
    """Send slowly enough that a test can kill the fetch meanwhile."""
    serve = file(content)

    class Slow:
        def __init__(self, wire):
            self.head = wire.head
            self._wire = wire

        def send(self, start, body):
            self._wire.send(start)
            for at in range(0, len(body), 500_000):
                self._wire.send(body[at : at + 500_000])
                self._wire.rest(0.05)

    return lambda wire: serve(Slow(wire))


def test_an_address_that_refuses_connections_is_skipped(side):
    with serving(file()) as server:
        road = Road(Reach(may_use_private=True), resolve=lambda _host, _port: ["::1", "127.0.0.1"])
        side.fetching = Fetching(road, Pace())
        url = f"http://two.example:{server.port}/"
        assert side.fetch(url) == Complete("7")


@pytest.mark.promise("a fetch over TLS")
@pytest.mark.slow
def test_fetches_from_a_trusted_server_use_tls(side, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("tls")
    context = self_signed(folder)
    trusting = ssl.create_default_context(cafile=folder / "both.pem")
    # Ferry trusts only well-known authorities; no setting adds one.
    monkeypatch.setattr("service.fetching.http.wire.tls_context", lambda: trusting)
    with serving(in_turn(file(cut_after=100_000), file()), context) as server:
        assert side.fetch(url_of(server).replace("http:", "https:")) == Complete("7")
        assert len(server.heads) == 2
    assert side.content == CONTENT
