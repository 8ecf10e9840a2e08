"""The engine reaches everything through its proxy: a real one here (RFC 1928 and 1929)."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import BinaryIO

import pytest

from service.torrents.events import Complete, Status
from tests.service.torrents.holding import holding
from tests.swarm import Tracker, serving_http, torrent

PAYLOAD = bytes(range(256)) * 700
HERE = "127.0.0.9"  # where the proxy's own connections come from
CONNECT, DOMAIN = 1, 3


@dataclass
class Proxy:
    names: dict[str, str]
    address: str = ""
    asked_for: list[str] = field(default_factory=list)
    credentials: set[bytes] = field(default_factory=set)

    def serve(self, client: socket.socket) -> None:
        with client.makefile("rwb") as stream:
            if not self._is_known(stream):
                return
            _version, command, _nothing, kind = stream.read(4)
            host = stream.read(stream.read(1)[0]).decode() if kind == DOMAIN else ""
            host = host or socket.inet_ntoa(stream.read(4))
            port = int.from_bytes(stream.read(2), "big")
            if command != CONNECT:
                reply(stream, b"\5\7\0\1" + bytes(6))
                return
            self.asked_for.append(f"{host}:{port}")
            there = (self.names.get(host, host), port)
            with socket.create_connection(there, 10, (HERE, 0)) as server:
                reply(stream, b"\5\0\0\1" + bytes(6))
                relay(client, server)

    def _is_known(self, stream: BinaryIO) -> bool:
        _version, count = stream.read(2)
        if 2 not in stream.read(count):
            return False
        reply(stream, b"\5\2")
        stream.read(1)
        self.credentials.add(stream.read(stream.read(1)[0]) + b":" + stream.read(stream.read(1)[0]))
        reply(stream, b"\1\0")
        return True


def reply(stream: BinaryIO, content: bytes) -> None:
    stream.write(content)
    stream.flush()


def relay(client: socket.socket, server: socket.socket) -> None:
    back = threading.Thread(target=pour, args=(server, client), daemon=True)
    back.start()
    pour(client, server)
    back.join(10)


def pour(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(2**16):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def proxying(**names: str) -> Iterator[Proxy]:
    proxy = Proxy({name.replace("_", "."): address for name, address in names.items()})

    class Serving(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                proxy.serve(self.request)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Serving)
    server.daemon_threads, server.block_on_close = True, False
    proxy.address = f"127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.mark.promise("a proxy carries all traffic")
@pytest.mark.slow
def test_peers_and_trackers_are_met_through_the_proxy_which_resolves_names(tmp_path, seeds):
    made = torrent("x", PAYLOAD)
    seeds.give(made, tmp_path / "given")
    seeds.limit_upload(30_000)
    with (
        serving_http(Tracker(peers=[seeds.address])) as tracker,
        proxying(tracker_example="127.0.0.1") as proxy,
    ):
        options = {"network": "internet", "fetch_private": True}
        with holding(tmp_path, proxy=f"socks5://me:a%40b@{proxy.address}", **options) as held:
            announce = f"http://tracker.example:{tracker.port}/announce"
            held.add("7", made.magnet(trackers=[announce]))
            held.wait(Status, "7", where=lambda each: each.done_bytes > 0)
            assert {peer.ip[0] for peer in seeds.peers(made)} == {HERE}
            seeds.limit_upload(0)
            held.wait(Complete, "7")
    assert set(proxy.asked_for) == {f"tracker.example:{tracker.port}", seeds.address}
    assert proxy.credentials == {b"me:a@b"}


def test_the_proxy_gets_no_requests_for_private_addresses(tmp_path):
    """Such names and addresses may lead to other people's secrets in the proxy's network."""
    made = torrent("x", PAYLOAD)
    hosts = ("localhost", "127.0.0.1", "127.1", "router", "nas.local", "tracker.example")
    with serving_http(Tracker()) as tracker, proxying(tracker_example="127.0.0.1") as proxy:
        options = {"network": "internet", "proxy": f"socks5://me:secret@{proxy.address}"}
        with holding(tmp_path, **options) as held:
            trackers = [f"http://{host}:{tracker.port}/announce" for host in hosts]
            held.add("7", made.magnet(trackers=trackers))
            assert tracker.was_asked(made.hash_v1)
    assert set(proxy.asked_for) == {f"tracker.example:{tracker.port}"}
