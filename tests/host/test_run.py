"""Stopping Ferry: at any moment, without losing anything, and without needless log lines."""

import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.running import (
    BASE,
    PASSWORD,
    START_SECONDS,
    Ferry,
    Output,
    launch,
    running,
    started,
)
from tests.service.api.serving import add_account
from tests.service.working import ask, until, until_progress, until_state
from tests.swarm import WebSeed, seeder, serving_http, torrent

pytestmark = pytest.mark.slow

EMAIL = "dora@example.org"
# Ferry kills what hasn't stopped after five seconds, so only a hang takes this long.
STOP_SECONDS = 40


def stopped_by(ferry: Ferry, number: int) -> float:
    """Send a signal, and return the seconds until Ferry and all its processes have ended."""
    asked_at = time.monotonic()
    ferry.process.send_signal(number)
    ferry.process.wait(STOP_SECONDS)
    assert ferry.output.ends(STOP_SECONDS)
    return time.monotonic() - asked_at


def children(ferry: Ferry) -> dict[str, int]:
    pids = Path(f"/proc/{ferry.process.pid}/task/{ferry.process.pid}/children").read_text().split()
    return {
        Path(f"/proc/{pid}/comm").read_text().strip().removeprefix("ferry-"): int(pid)
        for pid in pids
    }


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "moment",
    [
        "| django.core.management\n",
        "config.environment\n",
        "host.preparation\n",
        "Ferry opens at",
        "gunicorn.arbiter\n",
    ],
)
def test_a_stop_while_ferry_starts_is_clean(tmp_path, moment, number):
    """The interpreter logs each import, so that the test can stop Ferry at a known moment."""
    with started(tmp_path, "-X", "importtime") as ferry:
        assert ferry.output.saw(moment, START_SECONDS), ferry.log
        assert stopped_by(ferry, number) < STOP_SECONDS
        assert ferry.process.returncode == 0
        assert "Traceback" not in ferry.log


@dataclass
class Halting(WebSeed):
    """A server that sends the second half of a file only to requests after `may_go_on`."""

    may_go_on: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        if self.may_go_on.is_set():
            super().answer(request)
            return
        (content,) = (path.read_bytes() for path in self.folder.glob("*.flac"))
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[: len(content) // 2])
        self.may_go_on.wait()
        request.close_connection = True


@pytest.mark.promise("a stop loses nothing")
def test_a_stop_with_transfers_under_way_loses_nothing_and_waits_for_no_download(tmp_path):
    """One transfer fetches from a peer, one from a URL, and one waits its turn."""
    film, song = os.urandom(6_000_000), os.urandom(6_000_000)
    made = {name: torrent(name, film[at:]) for at, name in enumerate(("film.mkv", "next.mkv"))}
    (tmp_path / "song.flac").write_bytes(song)
    data_dir = tmp_path / "data"
    with seeder() as seeds, serving_http(Halting(folder=tmp_path)) as web:
        for each in made.values():
            seeds.give(each, tmp_path / "given")
        seeds.limit_upload(800_000)
        with running(data_dir, ACTIVE_TRANSFERS="1") as ferry:
            add_account(ferry, EMAIL, PASSWORD)
            with client_of(ferry) as api:
                large = put_a_file(api, 50_000_000)
                magnets = [each.magnet(peer=seeds.address) for each in made.values()]
                first = add(api, "magnet", magnets[0])
                second = add(api, "url", f"{web.url}/song.flac")
                third = add(api, "magnet", magnets[1])
                until_progress(api, first, 40)
                assert ask(api, third)["state"] == "queued"
                # From here on, no transfer can end, however slow the machine is.
                seeds.limit_upload(100)
                until_progress(api, second, 20)
                link = urlsplit(api.get(f"/rest/file/{large}").headers["Location"])
            with closing(slow_reader_of(ferry, f"{link.path}?{link.query}")):
                assert stopped_by(ferry, signal.SIGINT) < STOP_SECONDS
            assert ferry.process.returncode == 0
            assert "worker stopped" in ferry.log
            assert "Traceback" not in ferry.log
            assert "did not stop in time" not in ferry.log
        web.may_go_on.set()
        seeds.limit_upload(0)
        with running(data_dir, ACTIVE_TRANSFERS="1") as ferry, client_of(ferry) as api:
            for transfer_id, content in ((first, film), (second, song), (third, film[1:])):
                file_id = until_state(api, transfer_id, "done")["file_created"]
                link = api.get(f"/rest/file/{file_id}").headers["Location"]
                assert api.get(link).content == content
        assert seeds.uploaded_bytes(made["film.mkv"]) < 1.2 * len(film)


def put_a_file(api: httpx.Client, size: int) -> int:
    """Upload `size` zeros, and return the id of the file."""
    answer = api.post("/rest/transfer/file", files={"file": ("large.bin", bytes(size))})
    return ask(api, answer.json()["id"])["file_created"]


def slow_reader_of(ferry: Ferry, link: str) -> socket.socket:
    """Read only the beginning of a file, and return the open connection."""
    connection = socket.create_connection(("127.0.0.1", ferry.port), timeout=60)
    connection.sendall(f"GET {link} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert b"200 OK" in connection.recv(1024)
    return connection


def client_of(ferry: Ferry) -> httpx.Client:
    return httpx.Client(base_url=ferry.url, auth=(EMAIL, PASSWORD), timeout=60, trust_env=False)


def add(api: httpx.Client, kind: str, what: str) -> int:
    return api.post(f"/rest/transfer/{kind}", data={kind: what}).json()["id"]


@on_linux
@pytest.mark.parametrize("name", ["web", "worker"])
def test_when_one_process_is_killed_the_other_ends_too(tmp_path, name):
    with running(tmp_path) as ferry:
        # The worker takes its name after the web server has answered, if the machine is busy.
        until(lambda: set(children(ferry)) == {"web", "worker"})
        os.kill(children(ferry)[name], signal.SIGKILL)
        assert ferry.output.ends(STOP_SECONDS)
        assert ferry.process.wait(STOP_SECONDS) == 1
        assert f"{name} ended unexpectedly" in ferry.log


def running_alone(program: str) -> "subprocess.Popen[str]":
    """Start a process of Ferry that runs this code."""
    code = f"import sys; from host import processes; sys.exit(processes.run({{'late': {program}}}))"
    return launch([sys.executable, "-u", "-c", code], cwd=BASE)


def test_children_of_a_process_that_is_late_end_with_it():
    script = "trap '' TERM; echo begun; sleep 60; echo slept"
    program = running_alone(f"lambda: __import__('os').system({script!r})")
    output = Output(program)
    assert output.saw("begun", START_SECONDS), output.text
    program.terminate()
    assert output.ends(2 * STOP_SECONDS)
    program.wait(STOP_SECONDS)
    output.close()
    assert "slept" not in output.text


@on_linux
def test_as_many_files_may_be_open_as_the_system_allows():
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    program = running_alone("lambda: __import__('os').system('ulimit -Sn')")
    resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (500, hard))
    output = Output(program)
    assert output.ends(START_SECONDS)
    program.wait(STOP_SECONDS)
    output.close()
    assert f"{hard}\n" in output.text


@on_linux
def test_killing_ferry_frees_the_port(tmp_path):
    with running(tmp_path) as ferry:
        stopped_by(ferry, signal.SIGKILL)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", ferry.port))


def test_two_first_starts_at_once_do_not_meet_and_close_a_data_folder_that_was_open(tmp_path):
    tmp_path.chmod(0o755)
    with started(tmp_path) as first, started(tmp_path) as second:
        for ferry in (first, second):
            assert ferry.output.saw("Ferry answers on port", START_SECONDS), ferry.log
            assert "Traceback" not in ferry.log
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
        database = tmp_path / "ferry.sqlite3"
        assert stat.S_IMODE(database.stat().st_mode) == 0o600
