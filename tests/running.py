"""The whole program, as `make run` starts it, in a data folder and on a port of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

from tests.people import PASSWORD

BASE = Path(__file__).resolve().parents[1]
START_SECONDS = 60
STOP_SECONDS = 15


@dataclass
class Ferry:
    port: int
    data_dir: Path
    environment: dict[str, str]
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def log(self) -> str:
        return "".join(self.lines)

    @property
    def welcome_path(self) -> str:
        found = re.search(r"/welcome/[\w-]+/", self.log)
        assert found, self.log
        return found[0]

    def manage(self, *arguments: str, **environment: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def make_owner(self, name: str = "alice") -> None:
        self.manage(
            "createsuperuser",
            "--noinput",
            DJANGO_SUPERUSER_USERNAME=name,
            DJANGO_SUPERUSER_PASSWORD=PASSWORD,
        )


@contextmanager
def running(data_dir: Path, **settings: str) -> Iterator[Ferry]:
    port = free_port()
    environment = {
        **os.environ,
        "DATA_DIR": str(data_dir),
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "PYTHONUNBUFFERED": "1",
        **settings,
    }
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run"],
        cwd=BASE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    ferry = Ferry(port, data_dir, environment, process)
    answers: Queue[bool] = Queue()
    reader = threading.Thread(target=_read, args=(ferry, answers), daemon=True)
    reader.start()
    try:
        assert answers.get(timeout=START_SECONDS), ferry.log
        yield ferry
    finally:
        stop(process)
        reader.join(STOP_SECONDS)
        process.stdout.close()


def _read(ferry: Ferry, answers: "Queue[bool]") -> None:
    for line in ferry.process.stdout:
        ferry.lines.append(line)
        if "Ferry answers on port" in line:
            answers.put(True)
    answers.put(False)


def stop(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.wait(STOP_SECONDS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def raw(port: int, request: bytes) -> bytes:
    """Bytes as no client library would send them."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer
