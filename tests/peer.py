"""A hand-written BitTorrent peer: it sends what no library would, and records all it receives.

BEP 3 (the greeting), 9 (metadata), 10 (extensions), and 11 (peer exchange).
"""

import os
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import libtorrent as lt

from tests.swarm import bencode, in_order

PROTOCOL = b"\x13BitTorrent protocol"
KNOWS_EXTENSIONS = bytes((0, 0, 0, 0, 0, 0x10, 0, 0))
EXTENDED = 20
NUMBERS = {"ut_pex": 1, "ut_metadata": 2}
NAMES = {0: "greeting"} | {number: name for name, number in NUMBERS.items()}
BLOCK_BYTES = 16 * 1024
Told = dict[bytes, Any]


@dataclass
class Peer:
    """A peer that greets each client with the hash of whatever torrent the client wants."""

    metadata: bytes = b""
    claimed_bytes: int = 0  # length of its metadata that it claims
    knows: tuple[str, ...] = ()  # other peers, which it announces unasked
    address: str = ""
    heard: list[tuple[str, str, Told]] = field(default_factory=list)  # hash, kind, and content
    news: threading.Condition = field(default_factory=threading.Condition)

    @property
    def size_bytes(self) -> int:
        return self.claimed_bytes or len(self.metadata)

    def messages(self, info_hash: str, what: str) -> list[Told]:
        """Return the messages about a torrent: `greeting`, or the name of an extension."""
        return [content for of, name, content in self.heard if (of, name) == (info_hash, what)]

    def was_told(self, info_hash: str, what: str, seconds: float = 60) -> bool:
        with self.news:
            return self.news.wait_for(lambda: bool(self.messages(info_hash, what)), seconds)

    def meet(self, stream: BinaryIO) -> None:
        greeting = stream.read(68)
        if not greeting.startswith(PROTOCOL):
            return  # Encrypted. If we hang up, the client tries again without encryption.
        hash_bytes = greeting[28:48]
        stream.write(PROTOCOL + KNOWS_EXTENSIONS + hash_bytes + os.urandom(20))
        size = {"metadata_size": self.size_bytes} if self.size_bytes else {}
        send(stream, 0, {"m": NUMBERS, **size})
        theirs: Told = {}
        while head := stream.read(4):
            body = stream.read(int.from_bytes(head, "big"))
            if body[:1] != bytes((EXTENDED,)):
                continue
            what, content = NAMES[body[1]], lt.bdecode(body[2:])
            if what == "greeting":
                theirs = content[b"m"]
                self._gossip(stream, theirs)
            elif what == "ut_metadata":
                self._describe(stream, theirs, content[b"piece"])
            self._note(hash_bytes.hex(), what, content)

    def _gossip(self, stream: BinaryIO, theirs: Told) -> None:
        """Send other peers' addresses, even to clients that never offered to receive them."""
        if self.knows:
            added = b"".join(map(compact, self.knows))
            number = theirs.get(b"ut_pex", NUMBERS["ut_pex"])
            send(stream, number, {"added": added, "added.f": bytes(len(self.knows))})

    def _describe(self, stream: BinaryIO, theirs: Told, piece: int) -> None:
        start = piece * BLOCK_BYTES
        block = self.metadata[start : start + BLOCK_BYTES]
        head = {"msg_type": 1, "piece": piece, "total_size": self.size_bytes}
        send(stream, theirs[b"ut_metadata"], head, block)

    def _note(self, info_hash: str, what: str, content: Told) -> None:
        with self.news:
            self.heard.append((info_hash, what, content))
            self.news.notify_all()


def send(stream: BinaryIO, number: int, content: dict[str, Any], rest: bytes = b"") -> None:
    body = bytes((EXTENDED, number)) + bencode(in_order(content)) + rest
    stream.write(len(body).to_bytes(4, "big") + body)
    stream.flush()


def compact(address: str) -> bytes:
    host, _, port = address.rpartition(":")
    return bytes(map(int, host.split("."))) + int(port).to_bytes(2, "big")


@contextmanager
def listening(peer: Peer, host: str = "127.0.0.1") -> Iterator[Peer]:
    class Meeting(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with self.connection.makefile("rwb") as stream, suppress(OSError):
                peer.meet(stream)

    server = socketserver.ThreadingTCPServer((host, 0), Meeting)
    server.daemon_threads = True
    server.block_on_close = False
    peer.address = f"{host}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield peer
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
