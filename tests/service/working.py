"""`manage.py work` as a separate program, with the database and folder of a test."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from django.conf import settings

from service.worker.runs.stages import IllegalTransition
from tests import databases
from tests.running import BASE, Output, freeze, launch

PATIENCE_SECONDS = 180
STOP_SECONDS = 60


@dataclass
class Working:
    process: "subprocess.Popen[str]"
    output: Output

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(STOP_SECONDS)

    def sleep(self) -> None:
        freeze(self.process)

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> float:
        """Stop the worker, and return how many seconds that took."""
        started = time.monotonic()
        self.process.terminate()
        assert self.process.wait(STOP_SECONDS) == 0, self.output.text
        return time.monotonic() - started

    def children(self) -> dict[int, str]:
        """Return the command line of each child, by process id."""
        listed = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        pids = [int(pid) for each in listed for pid in text_of(each).split()]
        return {pid: text_of(Path(f"/proc/{pid}/cmdline")) for pid in pids}

    def engine(self) -> int | None:
        """Return the process id of the BitTorrent engine."""
        children = self.children()
        return next((pid for pid in children if "service.torrents" in children[pid]), None)


def text_of(place: Path) -> str:
    """Read a file in /proc; return nothing if its thread or process has ended."""
    try:
        return place.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def environment(**more: str) -> dict[str, str]:
    return {
        **os.environ,
        "DATA_DIR": str(settings.DATA_DIR),
        "DATABASE_URL": databases.shared_url(),
        "PYTHONUNBUFFERED": "1",
        "SEED_MINUTES": "0",
        **more,
    }


# No setting shortens the half minute after which a full disk is retried.
IMPATIENT = """
import sys
from datetime import timedelta
import django
from django.core.management import execute_from_command_line
django.setup()
from service.worker import transfer_control
transfer_control.DISK_PATIENCE = timedelta(seconds=2)
execute_from_command_line(["manage.py", *sys.argv[1:]])
"""


@contextmanager
def working(
    prefix: tuple[str, ...] = (), program: tuple[str, ...] = ("manage.py",), **more: str
) -> Iterator[Working]:
    command = [*prefix, sys.executable, *program, "work"]
    process = launch(command, cwd=BASE, env=environment(**more))
    output = Output(process)
    try:
        assert output.saw("worker started", PATIENCE_SECONDS), output.text
        yield Working(process, output)
    finally:
        process.kill()
        process.wait(STOP_SECONDS)
        output.close()
    assert IllegalTransition.__name__ not in output.text


def ask(api: httpx.Client, transfer_id: int) -> dict:
    answer = api.get(f"/rest/transfer/{transfer_id}")
    assert answer.status_code == 200, answer.text
    return json.loads(answer.content)


def until(is_so, seconds: float = PATIENCE_SECONDS):
    """Poll `is_so` until its result is true, and return that result."""
    deadline, beat = time.monotonic() + seconds, threading.Event()
    while not (found := is_so()):
        assert time.monotonic() < deadline, "it takes too long"
        beat.wait(0.05)
    return found


def until_state(api: httpx.Client, transfer_id: int, *states: str, seconds=PATIENCE_SECONDS):
    def is_so():
        record = ask(api, transfer_id)
        assert record["state"] in states or record["state"] != "failed", record
        return record if record["state"] in states else None

    return until(is_so, seconds)


def until_progress(api: httpx.Client, transfer_id: int, percent: float):
    return until(lambda: (record := ask(api, transfer_id))["progress"] >= percent and record)
