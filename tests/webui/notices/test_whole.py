"""Ferry as a whole tells a push service what has ended, with no page open, through kills."""

import os
import random
import signal
import sqlite3
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.certificates import made, x509  # type: ignore[attr-defined]
from tests.running import BASE, Ferry, Output, family_of, launch, running
from tests.webui.notices.receiver import Browser, is_signed

pytestmark = pytest.mark.sqlite
MOST_SECONDS = 900
ENDINGS = 100
# Trust the certificate of the push service: Ferry itself reads no variables about certificates.
TRUST = "import certifi; certifi.where = lambda: {!r}\n"
SET_UP = """
from django.utils import timezone
from django.contrib.sessions.backends.db import SessionStore
from webui.models import Device, Role, User
from webui.notices import channels
from webui.tokens import tokens
alice = User.objects.create_user("alice", "a quiet harbour at noon", Role.OWNER)
session = SessionStore(); session.create(); now = timezone.now()
device = Device.objects.create(
    user=alice, session_key=session.session_key, first_seen_at=now, last_seen_at=now)
facts = {facts} | {{"site": "https://ferry.example/"}}
channels.add_device(device, facts, ["done", "failed"], now)
print(tokens.create(alice, "test", now))
"""


class PushService(ThreadingHTTPServer):
    """A push service with one browser, and a site whose files Ferry fetches."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.browser = Browser()
        self.at: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        self.has_news = threading.Condition()

    def take(self, headers, body: bytes) -> None:
        is_signed(headers["Authorization"])
        sentence = self.browser.read(body)["notification"]["body"]
        with self.has_news:
            self.at.setdefault(sentence, time.time())
            self.counts[sentence] += 1
            self.has_news.notify_all()

    def handle_error(self, request, client_address) -> None:
        """Stay silent about clients that were killed."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.take(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(201, b"")

    def do_GET(self) -> None:
        self.answer(200, self.path.encode())

    do_HEAD = do_GET  # noqa: N815  The base class looks for this name.

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        pass


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[PushService]:
    server = PushService(context)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def push_service(tmp_path) -> Iterator[PushService]:
    certificate, key = made("localhost", x509.DNSName("localhost"))
    (tmp_path / "push.pem").write_bytes(key + certificate)
    (tmp_path / "push.crt").write_bytes(certificate)
    (tmp_path / "sitecustomize.py").write_text(TRUST.format(str(tmp_path / "push.crt")))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "push.pem")
    with serving(context) as server:
        yield server


@contextmanager
def told_ferry(tmp_path: Path, push_service: PushService) -> Iterator[tuple[Ferry, str]]:
    """Yield a Ferry that tells the push service, and a token that adds transfers."""
    settings = {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}",
        "NOTICE_HOSTS": "localhost",
        "TORRENT_NETWORK": "loopback",
        "WEB_PROCESSES": "1",
        "ACTIVE_TRANSFERS": "8",
    }
    with running(tmp_path / "data", **settings) as ferry:
        url = f"https://localhost:{push_service.server_port}/device"
        facts = push_service.browser.form(url)
        token = ferry.manage("shell", "--no-imports", "-c", SET_UP.format(facts=facts)).split()[-1]
        yield ferry, token


def add(ferry, token: str, urls: list[str]) -> None:
    """Add all of these, also what a busy machine leaves out since it takes too long."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    while urls:
        form = {"text": "\n".join(urls)}
        answer = httpx.post(f"{ferry.url}/send/", data=form, headers=headers, timeout=60).json()
        assert len(answer["left"]) < len(urls), answer
        urls = answer["left"]


def ended_at(ferry) -> dict[str, float]:
    """Return when each transfer reached progress 101, by its sentence."""
    with closing(sqlite3.connect(ferry.data_dir / "ferry.sqlite3", timeout=30)) as database:
        rows = database.execute(
            "SELECT title, (julianday(updated_at) - 2440587.5) * 86400 FROM service_transfer"
            " WHERE state = 'done'"
        )
        return {f"{name} is in your files": at for name, at in rows}


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.promise("a push service is told of an ending within three seconds")
def test_with_all_pages_closed_an_ending_is_told_within_three_seconds(tmp_path, push_service):
    with serving() as site, told_ferry(tmp_path, push_service) as (ferry, token):
        chance = random.Random(8030)
        for number in range(ENDINGS):
            add(ferry, token, [f"http://127.0.0.1:{site.server_port}/{number}.bin"])
            # People add at random moments; whatever waited for a notice would follow Ferry's looks.
            threading.Event().wait(chance.uniform(0, 0.6))
        wait_for(push_service, ENDINGS, ferry)
        ends = ended_at(ferry)
        delays = sorted(push_service.at[words] - at for words, at in ends.items())
        p99 = delays[len(delays) * 99 // 100 - 1]
        sys.stdout.write(f"median {delays[len(delays) // 2]:.2f} s, p99 {p99:.2f} s\n")
        assert p99 <= 3, delays
        assert set(push_service.counts.values()) == {1}


@pytest.mark.slow
def test_each_ending_is_told_through_kills_and_hardly_any_twice(tmp_path, push_service):
    count = int(os.environ.get("ENDINGS", "300"))
    chance = random.Random(8291)
    with serving() as site, told_ferry(tmp_path, push_service) as (ferry, token):
        try:
            for start in range(0, count, 100):
                site_url = f"http://127.0.0.1:{site.server_port}"
                add(ferry, token, [f"{site_url}/{n}.bin" for n in range(start, start + 100)])
                wait_for(push_service, start + chance.randrange(60), ferry)
                kill(ferry, chance)
            wait_for(push_service, count, ferry)
        finally:
            ferry.process.send_signal(signal.SIGINT)
            ferry.process.wait(60)
            ferry.output.close()
    twice = sum(each - 1 for each in push_service.counts.values())
    sys.stdout.write(f"{count} endings, {count // 100} kills, {twice} told twice\n")
    assert twice <= max(2, count // 1000)


def kill(ferry: Ferry, chance: random.Random) -> None:
    """Kill the worker, or all web processes, at any moment; then start Ferry again."""
    victim = chance.choice(["ferry-worker", "ferry-web"])
    for pid in [*family_of(ferry.process.pid)][1:]:
        if name_of(pid) == victim:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    ferry.process.wait(60)
    ferry.output.close()
    ferry.process = launch(ferry.process.args, cwd=BASE, env=ferry.environment)
    ferry.output = Output(ferry.process)
    assert ferry.output.saw("Ferry answers on port", 120), ferry.log


def name_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def wait_for(push_service: PushService, count: int, ferry) -> None:
    with push_service.has_news:
        is_whole = push_service.has_news.wait_for(
            lambda: len(push_service.counts) >= count, MOST_SECONDS
        )
    assert is_whole, (len(push_service.counts), ferry.log[-3000:])
