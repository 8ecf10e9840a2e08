"""Limits that change while the engine runs."""

import time
from dataclasses import replace
from functools import partial

import pytest

from service.torrents.engine import session_watch
from service.torrents.events import Seeded, SessionStatus, Status
from service.torrents.orders import TransferLimits
from tests.running import free_port
from tests.service.torrents.holding import LIMITS, LOOPBACK, holding
from tests.swarm import seeder, torrent

pytestmark = pytest.mark.slow

FILM = torrent("film.mkv", b"film" * 10_000_000, piece_bytes=2**16)
SEED_RATE = 1_000_000
COUNTERS = [
    "net.recv_bytes",
    "net.recv_ip_overhead_bytes",
    "net.has_incoming_connections",
    "peer.num_peers_connected",
    "peer.incoming_connections",
]


@pytest.fixture
def seeds(tmp_path):
    with seeder(upload_rate_limit=SEED_RATE) as peer:
        peer.give(FILM, tmp_path / "given")
        yield peer


def rate(held, count, seconds=10):
    """Return what is counted in a second, two seconds after a change."""
    run(held, 2)
    before, began_at = count(), time.monotonic()
    run(held, seconds)
    return (count() - before) / (time.monotonic() - began_at)


def run(held, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        held.engine.wait(0.1)
        held.events += held.engine.poll()


def bytes_on_disk(held):
    return (held.folder("7") / "0").stat().st_blocks * 512


def about(bytes_per_second):
    return pytest.approx(bytes_per_second, rel=0.15)


@pytest.mark.promise("a new limit applies to peers of the local network that are connected")
def test_a_limit_applies_to_peers_that_are_connected_already(tmp_path, seeds):
    with holding(tmp_path) as held:
        held.add("7", FILM.magnet(peer=seeds.address))
        # At first, libtorrent requests more and more, and later two seconds' worth.
        held.wait(Status, "7", where=lambda each: each.download_rate > SEED_RATE * 0.85)
        held.engine.limit(replace(LIMITS, download_bytes_per_second=300_000))
        # The disk gets half a megabyte at once, which would be too much of ten seconds.
        assert rate(held, partial(bytes_on_disk, held), seconds=20) == about(300_000)


def test_a_torrents_own_limit_applies_and_ends_at_once(tmp_path, seeds):
    with holding(tmp_path) as held:
        held.add(
            "7",
            FILM.magnet(peer=seeds.address),
            limits=TransferLimits(download_bytes_per_second=200_000),
        )
        held.wait(Status, "7", where=lambda each: each.download_rate > 0)
        assert rate(held, partial(bytes_on_disk, held)) == about(200_000)
        held.engine.limit_one("7", TransferLimits())
        assert rate(held, partial(bytes_on_disk, held)) > 400_000


def test_an_upload_limit_that_changes(tmp_path):
    port = free_port()
    with holding(tmp_path, port=port) as held, seeder(min_reconnect_time=1) as taker:
        held.engine.limit(replace(LIMITS, upload_bytes_per_second=400_000))
        (held.folder("7") / "0").write_bytes(b"film" * 10_000_000)
        held.add("7", FILM, seeding=True)
        taker.want(FILM, tmp_path / "wanted", f"127.0.0.1:{port}")
        held.wait(Status, "7", where=lambda each: each.upload_rate > 0)
        for limit in (400_000, 200_000):
            held.engine.limit(replace(LIMITS, upload_bytes_per_second=limit))
            assert rate(held, partial(taker.downloaded_bytes, FILM)) == about(limit)


@pytest.mark.parametrize("change", [{"seed_minutes": 0}, {"seed_ratio": 0.0}])
def test_seeding_ends_at_once_when_its_limit_is_lowered(tmp_path, change):
    with holding(tmp_path) as held:
        (held.folder("7") / "0").write_bytes(b"film" * 10_000_000)
        held.add("7", FILM, seeding=True)
        held.wait(Status, "7", where=lambda each: each.phase == "seeding")
        # libtorrent reports a torrent as long as something changes.
        run(held, 4)
        held.engine.limit(replace(LIMITS, **change))
        held.wait(Seeded, "7", seconds=8)


def test_a_torrents_own_ratio_and_minutes_count_instead(tmp_path):
    with holding(tmp_path, limits=replace(LIMITS, seed_minutes=0)) as held:
        (held.folder("7") / "0").write_bytes(b"film" * 10_000_000)
        held.add("7", FILM, seeding=True, limits=TransferLimits(seed_minutes=9))
        held.wait(Status, "7", where=lambda each: each.phase == "seeding")
        held.engine.limit_one("7", TransferLimits(seed_minutes=9, seed_ratio=0.0))
        held.wait(Seeded, "7", seconds=10)


def test_limits_outlive_the_engines_process(tmp_path, seeds):
    with holding(tmp_path) as held:
        held.engine.limit(replace(LIMITS, seed_minutes=0))
        held.engine.stop(5)
        held.engine.start()
        (held.folder("7") / "0").write_bytes(b"film" * 10_000_000)
        held.add("7", FILM, seeding=True)
        held.wait(Seeded, "7", seconds=20)


def session_when(held, is_so, seconds=30):
    """Return the first status of the session for which `is_so` is true."""
    until = time.monotonic() + seconds
    while not is_so(held.engine.session):
        assert time.monotonic() < until, held.engine.session
        held.engine.wait(0.1)
        held.engine.poll()
    return held.engine.session


def test_what_arrives_is_counted_and_nothing_without_torrents(tmp_path, seeds):
    with holding(tmp_path, limits=replace(LIMITS, download_bytes_per_second=400_000)) as held:
        held.add("7", FILM.magnet(peer=seeds.address))
        session_when(held, lambda status: 300_000 < status.received_rate < 500_000)
        held.engine.remove("7")
        session_when(held, lambda status: not status.received_rate)


@pytest.mark.promise("a peer that connects shows that the port can be reached")
def test_a_peer_that_connects_shows_that_the_port_can_be_reached(tmp_path):
    port = free_port()
    with holding(tmp_path, port=port) as held, seeder(min_reconnect_time=1) as taker:
        (held.folder("7") / "0").write_bytes(b"film" * 10_000_000)
        held.add("7", FILM, seeding=True)
        before = session_when(held, lambda status: status.port)
        assert before == SessionStatus(port=port)
        taker.want(FILM, tmp_path / "wanted", f"127.0.0.1:{port}")
        after = session_when(held, lambda status: status.is_reachable)
        assert 0 <= time.time() - after.incoming_at < 120


def test_a_peer_that_the_engine_found_shows_nothing(tmp_path, seeds):
    with holding(tmp_path) as held:
        held.add("7", FILM.magnet(peer=seeds.address))
        held.wait(Status, "7", where=lambda each: each.done_bytes > 0)
        run(held, 2)
        assert held.engine.session.is_reachable is None
        assert held.engine.session.mapping == "off"


def test_behind_a_proxy_no_peer_can_connect(tmp_path):
    with holding(tmp_path, network="internet", proxy="socks5://127.0.0.1:1") as held:
        assert session_when(held, lambda status: status.is_reachable is False).port == 0


def test_a_port_to_which_no_peer_ever_connects_counts_as_closed(monkeypatch):
    # No setting shortens the ten minutes.
    monkeypatch.setattr(session_watch, "PATIENCE_SECONDS", 0.0)
    seen = []
    watch = session_watch.SessionWatch(replace(LOOPBACK, network="internet"), seen.append)
    counters = dict.fromkeys(COUNTERS, 0)
    watch.count(counters | {"peer.num_peers_connected": 1})
    assert seen[-1].is_reachable is False
    from_the_network = counters | {"peer.incoming_connections": 1}
    watch.count(from_the_network)
    assert seen[-1].is_reachable is False
    from_beyond = {"peer.incoming_connections": 2, "net.has_incoming_connections": 1}
    watch.count(counters | from_beyond)
    assert seen[-1].is_reachable is True
