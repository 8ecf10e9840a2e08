"""A web server and a BitTorrent peer on a worker's host, since workers here use only loopback.

`python -m tests.cluster.sources FOLDER` serves any `/NAME-BYTES.bin`, slowly, and seeds the
torrents of `TORRENTS`. It writes a line to the log for each request.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache, lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Event

from tests.swarm import Made, Seeder, torrent

HTTP_PORT, PEER_PORT = 8900, 8901
BYTES_PER_SECOND = 6_000_000
PIECE_SECONDS = 0.05
PEER = f"127.0.0.1:{PEER_PORT}"
TORRENTS = [f"torrent {number}" for number in range(8)]
TORRENT_BYTES = 24_000_000
MOST_CONTENTS = 3


def url_of(name: str, size_bytes: int) -> str:
    return f"http://127.0.0.1:{HTTP_PORT}/{name}-{size_bytes}.bin"


@lru_cache(MOST_CONTENTS)
def content_of(name: str, size_bytes: int) -> bytes:
    return Random(name).randbytes(size_bytes)


@cache
def made(name: str) -> Made:
    return torrent(f"{name}.bin", content_of(name, TORRENT_BYTES), piece_bytes=2**18)


class Handler(BaseHTTPRequestHandler):
    log: Path
    host: str

    def do_GET(self) -> None:
        name, _, size = self.path.removeprefix("/").removesuffix(".bin").rpartition("-")
        content = content_of(name, int(size))
        begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
        with self.log.open("a") as log:
            log.write(f"{time.time()} {self.host} {name} {begin}\n")
        self.send_response(206 if begin else 200)
        self.send_header("ETag", f'"{name}"')
        self.send_header("Content-Length", str(len(content) - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        for piece in slowly(content[begin:]):
            self.wfile.write(piece)

    def log_message(self, *_words: object) -> None:
        """Log nothing else."""


def slowly(content: bytes) -> Iterator[bytes]:
    piece_bytes = int(BYTES_PER_SECOND * PIECE_SECONDS)
    pause = Event()
    for begin in range(0, len(content), piece_bytes):
        yield content[begin : begin + piece_bytes]
        pause.wait(PIECE_SECONDS)


def main() -> None:
    Handler.log, Handler.host = Path(sys.argv[1]), sys.argv[2]
    seeds = Seeder(listen_interfaces=PEER, upload_rate_limit=BYTES_PER_SECOND)
    with tempfile.TemporaryDirectory() as folder:
        for name in TORRENTS:
            seeds.give(made(name), Path(folder))
        server = ThreadingHTTPServer(("127.0.0.1", HTTP_PORT), Handler)
        print("sources are served", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
