"""Row 21: clients that trickle heads, bodies, or reads stop neither health checks nor people.

For who gets a thread: tests/host/web/test_visitor_limits.py. For readers that take nothing, which
are cut off: tests/config/test_wsgi.py.
"""

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from types import SimpleNamespace

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from config.embedded import upstream
from host.processes import raise_open_files
from host.web.connection_limits import ARRIVAL_SECONDS
from service.accounts import accounts
from service.content import signed_links
from service.store.blobs import library_store
from tests.people import make_person
from tests.proxies.fronts import Front, proxy
from tests.running import START_SECONDS, free_port
from tests.service.builders import a_file, put
from tests.service.builders import alice as account
from tests.serving import Server, serving
from webui.models import Role

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

# More clients than two processes have threads.
CLIENTS = 600
TICK_SECONDS = 0.5
ROUNDS = 4
# Only if threads are held does an answer take this long.
ANSWER_SECONDS = 40
CUT_SECONDS = 60
# Clients that hold no thread leave far fewer of them.
MOST_THREADS = CLIENTS // 4
PROXIES = [Front("nginx", "http", ""), Front("caddy", "http", "")]


@dataclass
class Place:
    """The address of Ferry, and the session of a person who is signed in."""

    port: int
    host: str
    cookie: str
    server: Server

    def ask(self, path: str, **headers: str) -> int:
        """Send a request over its own connection, and return the status."""
        url, headers = f"http://127.0.0.1:{self.port}{path}", {"Host": self.host, **headers}
        return httpx.get(url, headers=headers, timeout=ANSWER_SECONDS, trust_env=False).status_code


class Crowd:
    """Clients of one address that now and then send or read a byte.

    A client that is cut off comes back, unless `comes_back` is false. `lives` has the seconds for
    which each connection lasted that was cut off.
    """

    def __init__(self, port: int, beginning: bytes, *, reads: bool, comes_back: bool) -> None:
        self._address, self._beginning = ("127.0.0.1", port), beginning
        self._reads, self._comes_back = reads, comes_back
        self._stopped, self._ticks = threading.Event(), threading.Semaphore(0)
        self.sources = cycle(["127.0.0.1"])
        self.connections: list[socket.socket] = []
        self.lives: list[float] = []
        self._began_at: dict[socket.socket, float] = {}
        self._thread = threading.Thread(target=self._trickle)

    def begin(self, count: int) -> None:
        self.connections = [self._connected() for _ in range(count)]
        self._thread.start()

    def wait_for_tick(self) -> None:
        assert self._ticks.acquire(timeout=CUT_SECONDS)

    def close(self) -> None:
        self._stopped.set()
        self._thread.join()
        for connection in self.connections:
            connection.close()

    def _connected(self) -> socket.socket:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(ANSWER_SECONDS)
        connection.bind((next(self.sources), 0))
        self._began_at[connection] = time.monotonic()
        connection.connect(self._address)
        connection.sendall(self._beginning)
        return connection

    def _trickle(self) -> None:
        while self.connections and not self._stopped.is_set():
            self.connections = [each for one in self.connections for each in self._moved(one)]
            self._ticks.release()
            self._stopped.wait(TICK_SECONDS)

    def _moved(self, connection: socket.socket) -> list[socket.socket]:
        with suppress(OSError):
            arriving = select.poll()
            arriving.register(connection, select.POLLIN)
            is_readable = bool(arriving.poll(0))
            if not self._reads:
                connection.sendall(b"x")
            if not is_readable or connection.recv(1):
                return [connection]
        self.lives.append(time.monotonic() - self._began_at.pop(connection))
        connection.close()
        with suppress(OSError):
            return [self._connected()] if self._comes_back else []
        return []


@contextmanager
def crowd_at(
    place: Place, beginning: str, *, count: int = CLIENTS, reads: bool = False, back: bool = True
) -> Iterator[Crowd]:
    crowd = Crowd(place.port, f"{beginning}".encode(), reads=reads, comes_back=back)
    with closing(crowd):
        crowd.begin(count)
        yield crowd


@contextmanager
def place_of(front: Front | None, home, threads: int = 256) -> Iterator[Place]:
    """Run Ferry, by default with as many threads as usual, behind a documented proxy, if any."""
    wanted = front.settings if front else {}
    accounts.ensure_default(upstream.EMBEDDED_ACCOUNT, upstream.secret_digest(), timezone.now())
    with ExitStack() as stack:
        server = stack.enter_context(serving(WEB_PROCESSES="2", WEB_THREADS=str(threads), **wanted))
        session = make_person("bob", Role.MEMBER).client.session.session_key
        place = Place(server.port, "localhost", f"ferry_session_{server.port}={session}", server)
        if front:
            place.port, place.host = free_port(), front.host
            ferry = SimpleNamespace(port=server.port, data_dir=settings.DATA_DIR)
            stack.enter_context(proxy(front, home, ferry, place.port))
            wait_for(place.port)
        yield place


def wait_for(port: int) -> None:
    """Wait until the proxy accepts connections, since it doesn't announce when it is ready."""
    deadline, pause = time.monotonic() + START_SECONDS, threading.Event()
    while time.monotonic() < deadline:
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        pause.wait(0.1)
    raise AssertionError("nobody answers")


def head_of(place: Place) -> str:
    return f"GET /signin/ HTTP/1.1\r\nHost: {place.host}\r\nX-Slow: "


def form_of(place: Place) -> str:
    head = f"POST /signin/ HTTP/1.1\r\nHost: {place.host}\r\nContent-Length: 5000\r\n"
    return f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\nusername="


def assert_answers(place: Place, crowd: Crowd) -> None:
    for _ in range(ROUNDS):
        crowd.wait_for_tick()
        assert place.ask("/healthz") == 200
        assert place.ask("/", Cookie=place.cookie) == 200


@pytest.mark.parametrize("front", [None, *PROXIES], ids=str)
@pytest.mark.parametrize("beginning", [head_of, form_of])
def test_clients_that_trickle_requests_block_no_one(front, beginning, tmp_path):
    with place_of(front, tmp_path) as place, crowd_at(place, beginning(place)) as crowd:
        assert_answers(place, crowd)
        assert place.server.threads() < MOST_THREADS


def request_for_film(place: Place) -> str:
    """Return a request by a signed link, which needs no session."""
    owner = account()
    file = a_file(owner, blob=put(library_store(), bytes(8_000_000)))
    link = signed_links.file_link(owner, file, now=timezone.now())
    return f"GET {link} HTTP/1.1\r\nHost: {place.host}\r\n\r\n"


@pytest.mark.promise("slow clients block no one")
def test_clients_that_read_slowly_block_no_one(tmp_path):
    with (
        place_of(None, tmp_path) as place,
        crowd_at(place, request_for_film(place), reads=True) as crowd,
    ):
        assert_answers(place, crowd)


def test_slow_clients_of_all_kinds_hold_no_thread(tmp_path):
    """There are far fewer threads than clients, yet each reader is served, and so are people."""
    raise_open_files()
    with place_of(None, tmp_path, threads=8) as place, ExitStack() as stack:
        crowds = []
        for beginning in (head_of, form_of, request_for_film):
            request, reads = beginning(place).encode(), beginning is request_for_film
            crowd = Crowd(place.port, request, reads=reads, comes_back=True)
            crowd.sources = cycle(f"127.0.0.{number}" for number in range(2, 18))
            crowds.append(stack.enter_context(closing(crowd)))
            crowd.begin(CLIENTS)
        assert_answers(place, crowds[-1])
        limits = (ARRIVAL_SECONDS, ARRIVAL_SECONDS, settings.STALLED_SECONDS)
        for crowd, seconds in zip(crowds, limits, strict=True):
            assert len(crowd.connections) == CLIENTS
            # On a busy machine, the time that Ferry gives a client may be over.
            assert all(each >= seconds for each in crowd.lives)
        for reader in crowds[-1].connections:
            assert reader.recv(1, socket.MSG_PEEK)


def test_a_head_or_a_form_that_trickles_is_cut_although_it_never_pauses(tmp_path):
    with (
        place_of(None, tmp_path) as place,
        crowd_at(place, head_of(place), count=3, back=False) as heads,
        crowd_at(place, form_of(place), count=3, back=False) as forms,
    ):
        for _ in range(int(CUT_SECONDS / TICK_SECONDS)):
            if not heads.connections and not forms.connections:
                break
            for crowd in (heads, forms):
                if crowd.connections:
                    crowd.wait_for_tick()
        assert not heads.connections
        assert not forms.connections
