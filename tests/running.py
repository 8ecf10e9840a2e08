"""The whole program, as `make run` starts it, in a data folder and on a port of its own."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from typing import Any

from tests import databases

BASE = Path(__file__).resolve().parents[1]
PASSWORD = "a quiet harbour at noon"
START_SECONDS = 120
STOP_SECONDS = 60
# "gw1" of 2, where pytest-xdist runs several.
PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PORTS = range(16_384 + PROCESS, 32_768, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@dataclass
class Ferry:
    port: int
    data_dir: Path
    environment: dict[str, str]
    output: "Output"
    process: "subprocess.Popen[str]"
    # Of browsers that signed in, by the address they did it at and their name.
    cookies: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    # What leads another program to where this one is.
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
        return subprocess.run(
            [*self.beside, sys.executable, "manage.py", *arguments],
            cwd=BASE,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def say(self, *arguments: str, words: str) -> None:
        """A command that asks for a secret."""
        subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE,
            env=self.environment,
            input=words,
            capture_output=True,
            text=True,
            check=True,
        )

    def make_owner(self, name: str = "alice") -> None:
        self.manage(
            "createsuperuser",
            "--noinput",
            "--skip-checks",
            DJANGO_SUPERUSER_USERNAME=name,
            DJANGO_SUPERUSER_PASSWORD=PASSWORD,
        )


@contextmanager
def running(data_dir: Path, *, prefix: tuple[str, ...] = (), **settings: str) -> Iterator[Ferry]:
    bring_static_files(data_dir)
    with started(data_dir, prefix=prefix, **settings) as ferry:
        assert ferry.output.saw("Ferry answers on port", START_SECONDS), ferry.log
        yield ferry


def bring_static_files(data_dir: Path) -> None:
    """To make them takes a third of a first start, and the tests have made their own; Ferry looks
    whether they are the right ones. Who measures a start has none."""
    ours = Path(os.environ.get("DATA_DIR", os.devnull))
    if (ours / "static" / "collected.json").is_file() and not (data_dir / "static").exists():
        shutil.copytree(ours / "static", data_dir / "static")


@contextmanager
def started(
    data_dir: Path, *options: str, prefix: tuple[str, ...] = (), **settings: str
) -> Iterator[Ferry]:
    """Not yet ready; the options are the interpreter's. A prefix that gives it disks of its own
    becomes the program itself."""
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
    process = launch(command, cwd=BASE, env=environment)
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
    """Start a program whose output and errors an `Output` will read."""
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


class Output:
    """What a program prints, read as it comes."""

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
        """Waits for the words; False where the program ends or the time is up without them."""
        with self._news:
            self._news.wait_for(lambda: self._is_over or words in self.text, seconds)
        return words in self.text

    def ends(self, seconds: float) -> bool:
        """Whether nobody is left who could print."""
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
    """One that nobody takes before its program does: no other process of these tests chooses from
    the same ports, and the kernel gives out higher ones."""
    for port in SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def open_files(pid: int) -> Iterator[str]:
    """Yield what each descriptor of a process refers to, except for those it just closes."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            yield str(link.readlink())


def raw(port: int, request: bytes) -> bytes:
    """Bytes as no client library would send them."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer
