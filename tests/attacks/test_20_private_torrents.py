"""Row 20: private torrents use only their trackers: no DHT, no peer exchange, no local discovery.

The engine runs as on the internet, except that loopback is its local network, the test's node its
bootstrap node of the DHT, and no router is asked for ports. Beside each private torrent runs a
public one, for which the engine announces all that it mustn't announce for the private one.
"""

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import libtorrent as lt
import pytest

from service.torrents.events import Metadata
from tests.peer import Peer, listening
from tests.service.torrents.holding import Held, holding
from tests.service.working import until
from tests.swarm import LOOPBACK, Made, Tracker, serving_http, torrent

pytestmark = pytest.mark.slow

PAYLOAD = bytes(range(256)) * 700
SEARCH = ("239.192.152.143", 6771)
OPEN = """
from service.torrents import __main__
from service.torrents.engine import session
session.finding = lambda _settings: {{
    "enable_dht": True, "enable_lsd": True, "enable_upnp": False, "enable_natpmp": False,
    "dht_bootstrap_nodes": "127.0.0.1:{port}",
}}
__main__.main()
"""


class Node:
    """A DHT node that records which hashes others request."""

    def __init__(self) -> None:
        settings = {"enable_dht": True, "dht_bootstrap_nodes": ""}
        mask = {"alert_mask": lt.alert_category.dht | lt.alert_category.status}
        self._session = lt.session(LOOPBACK | settings | mask)
        self._requested: set[str] = set()
        until(self._session.listen_port)

    @property
    def port(self) -> int:
        return self._session.listen_port()

    def requested_hashes(self) -> set[str]:
        kinds = (lt.dht_get_peers_alert, lt.dht_announce_alert)
        alerts = [each for each in self._session.pop_alerts() if isinstance(each, kinds)]
        self._requested |= {str(each.info_hash) for each in alerts}
        return self._requested

    def close(self) -> None:
        self._session.pause()
        del self._session


class Neighbourhood:
    """A listener that records all announcements of local discovery (BEP 14) on loopback."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("", SEARCH[1]))
        group = socket.inet_aton(SEARCH[0]) + socket.inet_aton("127.0.0.1")
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
        self._socket.setblocking(False)
        self._words = b""

    def heard(self) -> str:
        try:
            while words := self._socket.recv(2**16):
                self._words += words
        except BlockingIOError:
            return self._words.decode().lower()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def node() -> Iterator[Node]:
    node = Node()
    yield node
    node.close()


@pytest.fixture
def neighbourhood() -> Iterator[Neighbourhood]:
    neighbourhood = Neighbourhood()
    yield neighbourhood
    neighbourhood.close()


@pytest.fixture
def outside(tmp_path, node) -> Iterator[Held]:
    script = tmp_path / "open.py"
    script.write_text(OPEN.format(port=node.port))
    settings = {"network": "internet", "interface": "127.0.0.1", "fetch_private": True}
    with holding(tmp_path, (sys.executable, str(script)), **settings) as held:
        yield held


def both(announce: str = "") -> tuple[Made, Made]:
    more = {"announce": announce} if announce else {}
    private = torrent("private", PAYLOAD, info={"private": 1}, **more)
    return private, torrent("public", PAYLOAD, **more)


def test_a_private_torrent_is_announced_neither_to_the_dht_nor_to_the_local_network(
    outside, node, neighbourhood
):
    """The private torrent is added first, so the engine would announce it first."""
    private, public = both()
    for key, made in (("1", private), ("2", public)):
        outside.add(key, made)
        outside.wait(Metadata, key)
    until(
        lambda: (
            public.hash_v1 in node.requested_hashes() and public.hash_v1 in neighbourhood.heard()
        )
    )
    assert private.hash_v1 not in node.requested_hashes()
    assert private.hash_v1 not in neighbourhood.heard()


@pytest.mark.promise("a private torrent stays private")
def test_a_private_torrent_found_by_magnet_is_announced_no_further(outside):
    """Before its metadata arrives, nothing shows that it is private."""
    private, _public = both()
    with listening(Peer(private.info), "127.0.0.2") as peer:
        outside.add("1", private.magnet(peer=peer.address))
        assert outside.wait(Metadata, "1").is_private
        until(lambda: len(peer.messages(private.hash_v1, "greeting")) == 2)
        before, after = peer.messages(private.hash_v1, "greeting")
    assert b"ut_pex" in before[b"m"]
    assert b"ut_pex" not in after[b"m"]


def test_peers_of_a_private_torrent_exchange_no_peers(outside):
    with ExitStack() as stack:
        stranger = stack.enter_context(listening(Peer(), "127.0.0.4"))
        first = stack.enter_context(listening(Peer(knows=(stranger.address,)), "127.0.0.2"))
        second = stack.enter_context(listening(Peer(), "127.0.0.3"))
        tracker = stack.enter_context(serving_http(Tracker(peers=[first.address, second.address])))
        private, public = both(tracker.announce)
        outside.add("1", private)
        for peer in (first, second):
            assert peer.was_told(private.hash_v1, "greeting")
        outside.add("2", public)
        for peer in (first, second):
            assert peer.was_told(public.hash_v1, "ut_pex")
            assert b"ut_pex" in peer.messages(public.hash_v1, "greeting")[0][b"m"]
            assert b"ut_pex" not in peer.messages(private.hash_v1, "greeting")[0][b"m"]
            assert not peer.messages(private.hash_v1, "ut_pex")
        assert stranger.was_told(public.hash_v1, "greeting")
        assert not stranger.messages(private.hash_v1, "greeting")
