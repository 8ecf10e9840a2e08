"""Run the whole program, as `make run` does, with its own data folder and port."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from random import SystemRandom
from typing import Any

from tests import databases

BASE = Path(__file__).resolve().parents[1]
PASSWORD = "a quiet harbour at noon"
START_SECONDS = 120
STOP_SECONDS = 60
# With pytest-xdist, processes are named "gw0", "gw1", and so on.
PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PORTS = range(16_384 + PROCESS, 32_768, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
# Each port is reused only after all others: a program may get several before it opens any.
_ports = cycle(SystemRandom().sample(PORTS, len(PORTS)))

# A program that prints what is wrong with each part of Ferry, or null.
FINDINGS = """
import json
from host import health
print(json.dumps({part: each and each.sentence for part, each in health.findings().items()}))
"""


@dataclass
class Ferry:
    port: int
    data_dir: Path
    environment: dict[str, str]
    output: "Output"
    process: "subprocess.Popen[str]"
    # Cookies of signed-in browsers, by the address at which they signed in and the person's name.
    cookies: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    # A command prefix that runs another program in the same mount namespace.
    beside: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def log(self) -> str:
        return self.output.text

    @property
    def welcome_path(self) -> str:
        found = re.search(r"/welcome/[\w-]+/", self.log)
        assert found, self.log
        return found[0]

    def manage(self, *arguments: str, **environment: str) -> str:
        try:
            return subprocess.run(
                [*self.beside, sys.executable, "manage.py", *arguments],
                cwd=BASE,
                env={**self.environment, **environment},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        except subprocess.CalledProcessError as failed:
            failed.add_note(failed.stderr)
            raise

    def say(self, *arguments: str, words: str) -> None:
        """Run a command that asks for a secret."""
        subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE,
            env=self.environment,
            input=words,
            capture_output=True,
            text=True,
            check=True,
        )

    def findings(self) -> dict[str, str | None]:
        """Return what is wrong with each part, as owners see it."""
        return json.loads(self.manage("shell", "--no-imports", "-c", FINDINGS))

    def make_owner(self, name: str = "alice") -> None:
        self.manage(
            "createsuperuser",
            "--noinput",
            "--skip-checks",
            DJANGO_SUPERUSER_USERNAME=name,
            DJANGO_SUPERUSER_PASSWORD=PASSWORD,
        )


@contextmanager
def running(
    data_dir: Path, *, prefix: tuple[str, ...] = (), source: Path = BASE, **settings: str
) -> Iterator[Ferry]:
    bring_static_files(data_dir)
    if source == BASE and "DATABASE_URL" not in settings:
        bring_tables(data_dir / "ferry.sqlite3")
    with started(data_dir, prefix=prefix, source=source, **settings) as ferry:
        assert ferry.output.saw("Ferry answers on port", START_SECONDS), ferry.log
        yield ferry


def made_by_tests() -> Path:
    return Path(os.environ.get("TESTS_FOLDER", os.devnull))


def bring_static_files(data_dir: Path) -> None:
    """Copy the static files that the tests have made: making them takes a third of a first start.

    Ferry checks that they are the right ones. A test that measures a start doesn't call this.
    """
    made = made_by_tests() / "static"
    if (made / "collected.json").is_file() and not (data_dir / "static").exists():
        shutil.copytree(made, data_dir / "static")


def bring_tables(database: Path) -> bool:
    """Copy a database with all tables and no rows, if the tests made one, and say whether."""
    made = made_by_tests() / "tables" / "ferry.sqlite3"
    if does_bring := databases.is_sqlite() and made.is_file() and not database.exists():
        database.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, database)
        # A library knows its database by this moment.
        moment = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
        with closing(sqlite3.connect(database)) as tables, tables:
            tables.execute("UPDATE django_migrations SET applied = ?", [moment])
    return does_bring


@contextmanager
def started(
    data_dir: Path,
    *options: str,
    prefix: tuple[str, ...] = (),
    source: Path = BASE,
    **settings: str,
) -> Iterator[Ferry]:
    """Start the program, and don't wait until it is ready.

    The options are the interpreter's. The prefix is a command that sets up the program's own mounts
    and then replaces itself with the program.
    """
    port = int(settings.get("PORT") or free_port())
    environment = {
        **os.environ,
        **databases.settings_of(data_dir),
        "DATA_DIR": str(data_dir),
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "PYTHONUNBUFFERED": "1",
        **settings,
    }
    command = [*prefix, sys.executable, *options, "manage.py", "run"]
    process = launch(command, cwd=source, env=environment)
    output = Output(process)
    enter = ("nsenter", "--mount", f"--target={process.pid}", f"--wd={BASE}") if prefix else ()
    try:
        yield Ferry(port, data_dir, environment, output, process, beside=enter)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(STOP_SECONDS)
        output.close()


def launch(command: Sequence[str | Path], **options: Any) -> "subprocess.Popen[str]":
    """Start a program whose output and errors go to an `Output`."""
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


def freeze(process: "subprocess.Popen[str]") -> None:
    """Stop a process, and wait until all of its threads have stopped."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


class Output:
    """The output of a program, read as it comes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._lines: list[str] = []
        self._news = threading.Condition()
        self._is_over = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def saw(self, words: str, seconds: float) -> bool:
        """Wait for the words; return False if the program ends or time runs out without them."""
        with self._news:
            self._news.wait_for(lambda: self._is_over or words in self.text, seconds)
        return words in self.text

    def ends(self, seconds: float) -> bool:
        """Wait until no process can print anymore; return whether that happened in time."""
        with self._news:
            return self._news.wait_for(lambda: self._is_over, seconds)

    def close(self) -> None:
        self._reader.join(STOP_SECONDS)
        self._process.stdout.close()

    def _read(self) -> None:
        for line in self._process.stdout:
            with self._news:
                self._lines.append(line)
                self._news.notify_all()
        with self._news:
            self._is_over = True
            self._news.notify_all()


def free_port() -> int:
    """Return a port that nothing else takes before the program does.

    No other process of these tests chooses from the same ports, and the kernel assigns higher ones.
    """
    for port in islice(_ports, 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def family_of(pid: int) -> Iterator[int]:
    yield pid
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = listed.read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in children:
            yield from family_of(int(child))


def open_files(pid: int) -> Iterator[str]:
    """Yield the target of each descriptor of a process, except those that it is closing."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            yield str(link.readlink())


def raw(port: int, request: bytes) -> bytes:
    """Send bytes that no client library would send; return the whole answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer
