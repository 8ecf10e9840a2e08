"""The speed of bytes of a foreign service, relayed by the site, and slow clients of any kind."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from getpass import getuser
from pathlib import Path
from statistics import median, quantiles

from django.utils import timezone

from host import preparation
from host.processes import raise_open_files
from lab.bench import library
from lab.bench.browser import Browser, make_owner, signed_in
from lab.bench.harness import Row, fetch, in_turns, peer, peer_port, running_peer
from service.content import signed_links
from tests.serving import Server, serving

SIZE_BYTES = 512 * 2**20
READERS = 8
SLOW_CLIENTS, ADDRESSES = 5000, 50
READING = 2
# Together less than a request may take to arrive.
ALONE_SECONDS, ARRIVING_SECONDS, STAYING_SECONDS = 4.0, 6.0, 8.0
STEP_SECONDS, STEP_BYTES = 1.0, 2048
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
    yield from slow_clients()


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
            at_least=0.8,
            relative="speed",
            raw=taken,
        )
    grown = (server.resident_bytes() - memory) / 2**20
    yield Row("memory of the server meanwhile, grown by", grown, " MiB", under=32)


# Slow clients


@dataclass
class SlowClient:
    """A client that sends a byte of its request, or reads a few KB, each second."""

    wire: socket.socket
    reads: bool
    is_over: bool = False
    received_bytes: int = 0

    def move(self) -> None:
        try:
            if not self.reads:
                self.wire.send(b"x")
            piece = self.wire.recv(STEP_BYTES)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        self.received_bytes += len(piece)
        self.is_over = self.is_over or not piece

    @property
    def is_served(self) -> bool:
        """Return whether the server still waits for this client, or still sends."""
        return not self.is_over and (self.received_bytes > 0) == self.reads


@dataclass
class Crowd:
    """Clients from many addresses, a third of each kind, which arrive over some seconds."""

    port: int
    beginnings: tuple[bytes, bytes, bytes]
    clients: list[SlowClient] = field(default_factory=list)

    def come_and_stay(self, stop: threading.Event) -> None:
        began = time.perf_counter()
        while len(self.clients) < SLOW_CLIENTS:
            stop.wait(0.02)
            due = SLOW_CLIENTS * (time.perf_counter() - began) / ARRIVING_SECONDS
            while len(self.clients) < min(due, SLOW_CLIENTS):
                self.clients.append(self._client(len(self.clients)))
        until = time.perf_counter() + STAYING_SECONDS
        while time.perf_counter() < until:
            for client in self.clients:
                client.move()
            stop.wait(STEP_SECONDS)

    def _client(self, number: int) -> SlowClient:
        wire = socket.socket()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.bind((f"127.0.0.{2 + number % ADDRESSES}", 0))
        wire.connect(("127.0.0.1", self.port))
        wire.setblocking(False)
        wire.sendall(self.beginnings[number % 3])
        return SlowClient(wire, reads=number % 3 == READING)

    def leave(self) -> None:
        for client in self.clients:
            client.wire.close()


def beginnings(server: Server) -> tuple[bytes, bytes, bytes]:
    """Return the beginning of a head, a head with the beginning of a form, and a whole request."""
    owner = library.account("films@example.org")
    film = library.large_file(owner, "film.mkv", SIZE_BYTES)
    host = f"HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n"
    head, body = f"GET /signin/ {host}X-Slow: ", f"POST /signin/ {host}{form}\r\nusername="
    link = signed_links.file_link(owner, film, now=timezone.now())
    return head.encode(), body.encode(), f"GET {link} {host}\r\n".encode()


def slow_clients() -> Iterator[Row]:
    raise_open_files()
    # Empty settings count as unset, so this measures the defaults.
    with serving(WEB_PROCESSES="", WEB_THREADS="") as server:
        yield from beside_crowd(server)


def beside_crowd(server: Server) -> Iterator[Row]:
    browser = signed_in(server.url)
    for _ in range(8):
        browser.page("/")
    memory = server.resident_bytes()
    crowd, stop = Crowd(server.port, beginnings(server)), threading.Event()
    pages: list[tuple[float, float]] = []
    watching = threading.Thread(target=keep_asking, args=(browser, pages, stop))
    watching.start()
    stop.wait(ALONE_SECONDS)
    began = time.perf_counter()
    try:
        crowd.come_and_stay(stop)
    finally:
        stop.set()
        watching.join()
        held = server.resident_bytes()
        crowd.leave()
    served = sum(client.is_served for client in crowd.clients)
    yield Row(f"of {SLOW_CLIENTS:,} slow clients are served", served, at_least=SLOW_CLIENTS)
    yield Row("memory of the server idle", memory / 2**20, " MiB")
    yield Row("with all these clients, grown by", (held - memory) / 2**20, " MiB", under=100)
    alone = [taken for at, taken in pages if at < began]
    coming = [taken for at, taken in pages if began <= at < began + ARRIVING_SECONDS]
    staying = [taken for at, taken in pages if at >= began + ARRIVING_SECONDS]
    raw = {"pages, clients coming": coming, "pages, clients staying": staying}
    yield Row("pages before the clients come, p99", p99_ms(alone), " ms", raw={"alone": alone})
    yield Row("pages meanwhile, p99", p99_ms(coming + staying), " ms", under=100, raw=raw)


def keep_asking(browser: Browser, pages: list[tuple[float, float]], stop: threading.Event) -> None:
    while not stop.wait(0.02):
        began = time.perf_counter()
        browser.page("/")
        pages.append((began, time.perf_counter() - began))


def p99_ms(taken: list[float]) -> float:
    return 1000 * quantiles(taken, n=100)[98]
