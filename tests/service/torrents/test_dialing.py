"""How the engine reaches peers: repeatedly while it has no other, over TCP and uTP."""

import socket
import struct
from contextlib import closing

import pytest

from service.torrents.engine.torrent import IS_UTP
from service.torrents.events import Metadata, Status
from tests.service.torrents.holding import holding, listening_port
from tests.swarm import seeder, torrent

pytestmark = pytest.mark.slow

RESET_AT_CLOSE = struct.pack("ii", 1, 0)
BOTH = {"enable_incoming_utp": True, "enable_outgoing_utp": True}
ONLY_UTP = {**BOTH, "enable_incoming_tcp": False, "enable_outgoing_tcp": False}


def test_a_lone_peer_that_was_starting_is_retried_within_seconds(tmp_path):
    """The peer hangs up at first, so that the test knows when the engine tried."""
    made = torrent("x", b"x" * 100_000)
    with holding(tmp_path) as held:
        with closing(socket.create_server(("127.0.0.1", 0))) as starting:
            starting.settimeout(40)
            port = starting.getsockname()[1]
            held.add("7", made.magnet(peer=f"127.0.0.1:{port}"))
            for _attempt in range(4):
                caller, _address = starting.accept()
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
                caller.close()
        with seeder(listen_interfaces=f"127.0.0.1:{port}") as seeds:
            seeds.give(made, tmp_path / "given")
            held.wait(Metadata, "7", seconds=40)


def test_a_peer_that_speaks_only_utp_is_reached(tmp_path):
    made = torrent("x", b"x" * 1_000_000)
    with seeder(**ONLY_UTP) as seeds, holding(tmp_path, utp=True) as held:
        seeds.give(made, tmp_path / "given")
        held.add("7", made.magnet(peer=seeds.address))
        held.events.append(held.wait(Metadata, "7"))
        held.complete("7", made)


def test_a_peer_that_speaks_only_utp_is_let_in(tmp_path):
    """The engine knows no peers."""
    made = torrent("x", b"x" * 1_000_000)
    with seeder(**ONLY_UTP) as seeds, holding(tmp_path, utp=True) as held:
        seeds.give(made, tmp_path / "given")
        held.add("7", made)
        held.events.append(held.wait(Metadata, "7"))
        seeds.meet(made, f"127.0.0.1:{listening_port(held.engine.pid)}")
        held.complete("7", made)


def test_a_peer_that_speaks_both_is_met_over_tcp(tmp_path):
    made = torrent("x", b"x" * 1_000_000)
    with seeder(**BOTH, upload_rate_limit=100_000) as seeds, holding(tmp_path, utp=True) as held:
        seeds.give(made, tmp_path / "given")
        held.add("7", made.magnet(peer=seeds.address))
        held.wait(Status, "7", where=lambda each: each.done_bytes > 0)
        (peer,) = seeds.peers(made)
        assert not peer.flags & IS_UTP
