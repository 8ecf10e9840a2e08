"""Bytes of a foreign service, relayed by the site: their speed, and slow readers."""

import json
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from getpass import getuser
from pathlib import Path
from statistics import median, quantiles

from config import preparation
from tests.bench.browser import AGENT, Browser, make_owner, signed_in
from tests.bench.harness import Row, fetch, in_turns, peer, peer_port, running_peer
from tests.serving import Server, serving

SIZE_BYTES = 512 * 2**20
READERS = 8
SLOW_READERS, SERVED = 500, 400
ALONE_SECONDS, ARRIVING_SECONDS, READING_SECONDS = 4.0, 6.0, 8.0
STEP_SECONDS = 0.5
STEP_BYTES = 2048
DOWNLOAD = "/files/file/7/download/"
LISTING = json.dumps({"id": 1, "parent_id": -1, "folders": [], "files": [], "result": True})
NGINX = """
user {user}; daemon off; worker_processes 2; worker_rlimit_nofile 8192; pid {home}/pid;
error_log {home}/error;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; default_type application/octet-stream;
  client_body_temp_path {home}/t; proxy_temp_path {home}/t; fastcgi_temp_path {home}/t;
  uwsgi_temp_path {home}/t; scgi_temp_path {home}/t;
  server {{ listen 127.0.0.1:{port}; root {home}; {locations} }}
}}
"""
# As much of v1 as a page and a download need. The kernel sends the file, so that the service isn't
# the bottleneck.
SERVICE = """
location /rest/file/ {{ try_files /film =404; }}
location /rest/folder {{ default_type application/json; return 200 '{listing}'; }}
"""
# The defaults, but without the file that nginx writes if readers are slower than the service.
PROXY = "location / {{ proxy_pass {upstream}; proxy_max_temp_file_size 0; }}"


def rows(home: Path) -> Iterator[Row]:
    preparation.prepare()
    make_owner()
    program = peer("nginx")
    if program is None:
        yield Row("stream of a foreign service, of nginx proxy_pass", None, missing="nginx")
        return
    with ExitStack() as stack:
        film = home / "service" / "film"
        upstream = stack.enter_context(nginx(program, film.parent, SERVICE, listing=LISTING))
        with film.open("wb") as file:
            file.truncate(SIZE_BYTES)
        proxy = stack.enter_context(nginx(program, home / "proxy", PROXY, upstream=upstream))
        # The site's address policy accepts any address for the service itself.
        url = upstream.replace("://", "://me%40example.org:bench@")
        with serving(SERVICE_URL=url) as server:
            yield from beside_nginx(server, f"{proxy}/rest/file/7")
        # Empty settings count as unset, so this measures the defaults.
        with serving(SERVICE_URL=url, WEB_PROCESSES="", WEB_THREADS="") as server:
            yield from slow_readers(server)


@contextmanager
def nginx(program: str, home: Path, locations: str, **words: str) -> Iterator[str]:
    home.mkdir()
    port, config = peer_port(), home / "nginx.conf"
    inside = locations.format(**words)
    config.write_text(NGINX.format(user=getuser(), home=home, port=port, locations=inside))
    with running_peer([program, "-c", str(config), "-e", str(home / "error")], port) as url:
        yield url


# Speed


def beside_nginx(server: Server, proxied: str) -> Iterator[Row]:
    """Use the default of `serving`, two processes: all programs share the machine's two cores."""
    cookie = f"Cookie: {signed_in(server.url).cookie}"
    ours = server.url + DOWNLOAD
    fetch(ours, READERS, cookie)
    memory = server.resident_bytes()
    for readers in (READERS, 1):
        taken = in_turns(
            ferry=lambda readers=readers: fetch(ours, readers, cookie),
            nginx=lambda readers=readers: fetch(proxied, readers),
        )
        ratio = median(taken["nginx"]) / median(taken["ferry"])
        number = "1 reader" if readers == 1 else f"{readers} readers"
        yield Row(
            f"foreign stream with {number}, of nginx proxy_pass",
            ratio,
            at_least=0.4,
            relative="speed",
            raw=taken,
        )
    grown = (server.resident_bytes() - memory) / 2**20
    yield Row("memory of the server meanwhile, grown by", grown, " MiB", under=32)


# Slow readers


@dataclass
class Reader:
    """A client that requests the film over its own socket, and reads a few KB a second."""

    wire: socket.socket
    asked_at: float
    head: bytes = b""
    answered_after: float | None = None
    is_over: bool = False

    @property
    def status(self) -> int:
        return int(self.head.split(b" ", 2)[1]) if b" " in self.head else 0

    def read(self, size: int) -> None:
        try:
            piece = self.wire.recv(size)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if self.answered_after is None and piece:
            self.answered_after = time.perf_counter() - self.asked_at
            self.head = piece
        self.is_over = self.is_over or not piece


@dataclass
class Crowd:
    """Readers that arrive one after another over some seconds: all at once, they would measure the
    queue of sign-ins, not what happens when there are too many."""

    address: tuple[str, int]
    request: bytes
    readers: list[Reader] = field(default_factory=list)

    def come_and_read(self, stop: threading.Event) -> None:
        with selectors.DefaultSelector() as waiting:
            began = time.perf_counter()
            for number in range(SLOW_READERS):
                due = began + ARRIVING_SECONDS * number / SLOW_READERS
                self._first_words(waiting, due)
                waiting.register(self._reader().wire, selectors.EVENT_READ, self.readers[-1])
            self._first_words(waiting, time.perf_counter() + 2)
        until = time.perf_counter() + READING_SECONDS
        while time.perf_counter() < until:
            stop.wait(STEP_SECONDS)
            for reader in self.readers:
                if not reader.is_over:
                    reader.read(STEP_BYTES)

    def _reader(self) -> Reader:
        wire = socket.socket()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.connect(self.address)
        wire.setblocking(False)
        self.readers.append(Reader(wire, time.perf_counter()))
        wire.sendall(self.request)
        return self.readers[-1]

    def _first_words(self, waiting: selectors.BaseSelector, until: float) -> None:
        while (left := until - time.perf_counter()) > 0:
            for key, _events in waiting.select(left):
                key.data.read(STEP_BYTES)
                waiting.unregister(key.fileobj)

    def leave(self) -> None:
        for reader in self.readers:
            reader.wire.close()


def slow_readers(server: Server) -> Iterator[Row]:
    browser = signed_in(server.url)
    for _ in range(8):
        browser.page("/")
    lines = [f"GET {DOWNLOAD} HTTP/1.1", "Host: 127.0.0.1", f"User-Agent: {AGENT}"]
    request = "\r\n".join([*lines, f"Cookie: {browser.cookie}", "", ""]).encode()
    memory = server.resident_bytes()
    crowd, stop = Crowd(("127.0.0.1", server.port), request), threading.Event()
    pages: list[tuple[float, float]] = []
    watching = threading.Thread(target=keep_asking, args=(browser, pages, stop))
    watching.start()
    stop.wait(ALONE_SECONDS)
    began = time.perf_counter()
    try:
        crowd.come_and_read(stop)
    finally:
        stop.set()
        watching.join()
        held = server.resident_bytes()
        crowd.leave()
    yield from told_by(crowd.readers)
    yield Row("memory of the server idle", memory / 2**20, " MiB")
    yield Row("with all these readers, grown by", (held - memory) / 2**20, " MiB")
    alone = [taken for at, taken in pages if at < began]
    coming = [taken for at, taken in pages if began <= at < began + ARRIVING_SECONDS]
    reading = [taken for at, taken in pages if at >= began + ARRIVING_SECONDS]
    raw = {"pages, readers coming": coming, "pages, readers reading": reading}
    yield Row("pages before the readers come, p99", p99_ms(alone), " ms", raw={"alone": alone})
    yield Row("pages meanwhile, p99", p99_ms(coming + reading), " ms", under=200, raw=raw)


def keep_asking(browser: Browser, pages: list[tuple[float, float]], stop: threading.Event) -> None:
    while not stop.wait(0.02):
        began = time.perf_counter()
        browser.page("/")
        pages.append((began, time.perf_counter() - began))


def p99_ms(taken: list[float]) -> float:
    return 1000 * quantiles(taken, n=100)[98]


def told_by(readers: list[Reader]) -> Iterator[Row]:
    served = [each for each in readers if each.status == 200 and not each.is_over]
    refused = [each.answered_after for each in readers if each.status == 503]
    others = len(readers) - len(served) - len(refused)
    yield Row(f"of {SLOW_READERS} slow readers are served", len(served), at_least=SERVED)
    yield Row("neither served nor told to come again", others, under=1)
    if refused:
        slowest = 1000 * max(refused)
        yield Row("the rest hear 503 within", slowest, " ms", under=200, raw={"refused": refused})
