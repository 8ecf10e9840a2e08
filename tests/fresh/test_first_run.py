"""A newcomer's first minutes: a clone in an empty home folder, and one command."""

import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import httpx
import pytest

from tests import databases
from tests.running import BASE, Output, free_port, launch

pytestmark = pytest.mark.slow
FIRST_START_CPU_SECONDS = 60
# The first start fetches and unpacks all packages, beside other tests.
PATIENCE_SECONDS = 600
NEXT_START_CPU_SECONDS = 3.5
# Ferry kills what hasn't stopped after five seconds, so only a hang takes this long.
STOP_SECONDS = 40


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "stranger" / "ferry"
    subprocess.run(["git", "clone", "--quiet", BASE, folder], check=True)
    return folder


class Made:
    """`make run` in its own process group, as a terminal starts it."""

    def __init__(self, clone: Path, home: Path, **settings: str) -> None:
        self.port = free_port()
        home.mkdir(exist_ok=True)
        kept = ("PATH", "LANG", "PIP_CERT", "PIP_CONFIG_FILE", "PIP_DEFAULT_TIMEOUT")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        environment |= {"HOME": str(home), "PORT": str(self.port), "HOST": "127.0.0.1"}
        environment |= {"PIP_NO_CACHE_DIR": "1", **settings}
        self.process = launch(["make", "run"], cwd=clone, env=environment, start_new_session=True)
        self.output = Output(self.process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(STOP_SECONDS)
        self.output.close()

    def wait_for_answer(self) -> None:
        assert self.output.saw("Ferry answers on port", PATIENCE_SECONDS), self.output.text
        answer = httpx.get(f"http://127.0.0.1:{self.port}/healthz", timeout=60, trust_env=False)
        assert answer.status_code == 200

    def seconds_to_stop(self) -> float:
        """Interrupt every process of the group, as Ctrl-C in a terminal does."""
        asked_at = time.monotonic()
        os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(STOP_SECONDS)
        return time.monotonic() - asked_at


def test_make_run_starts_from_nothing_and_again_from_what_it_made(clone, tmp_path):
    computed_before = cpu_seconds_of_children()
    with Made(clone, tmp_path / "home") as first:
        first.wait_for_answer()
        assert "/welcome/" in first.output.text
        # No phone can reach a loopback address, so there is no QR code.
        assert "█" not in first.output.text
        assert stat.S_IMODE((clone / "data" / "secret_key").stat().st_mode) == 0o600
        assert first.seconds_to_stop() < STOP_SECONDS
        assert "Traceback" not in first.output.text
        assert "Error" not in first.output.text
    assert cpu_seconds_of_children() - computed_before < FIRST_START_CPU_SECONDS
    installed_at = (clone / ".venv" / "run.stamp").stat().st_mtime_ns
    with Made(clone, tmp_path / "home") as second:
        second.wait_for_answer()
        refused_as_the_port_is_taken(clone, second.port)
        assert second.seconds_to_stop() < STOP_SECONDS
    assert (clone / ".venv" / "run.stamp").stat().st_mtime_ns == installed_at
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""


def test_make_run_starts_again_at_once(tmp_path):
    settings = {"DATA_DIR": str(tmp_path / "data"), "ENV_FILE": os.devnull}
    with Made(BASE, tmp_path / "home", **settings) as first:
        first.wait_for_answer()
    computed_before = cpu_seconds_of_children()
    with Made(BASE, tmp_path / "home", **settings) as second:
        second.wait_for_answer()
        assert second.seconds_to_stop() < STOP_SECONDS
    assert cpu_seconds_of_children() - computed_before < NEXT_START_CPU_SECONDS


def cpu_seconds_of_children() -> float:
    """Return the CPU time of all children that have ended, and of their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def refused_as_the_port_is_taken(clone: Path, port: int) -> None:
    """Check that a second Ferry on this port is refused in one clear line."""
    again = subprocess.run(
        ["make", "run"],
        cwd=clone,
        env={**os.environ, "PORT": str(port), "HOST": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode != 0
    assert again.stderr.startswith("PORT: ")
    assert "Traceback" not in again.stderr


def test_development_as_documented_serves_pages_and_static_files_and_works(tmp_path):
    page = (BASE / "CONTRIBUTING.md").read_text()
    prepare, serve, work = re.findall(r"^DEBUG=true .*manage\.py .*$", page, re.MULTILINE)
    environment = developers(tmp_path)
    run_here(prepare, environment)
    port = free_port()
    with here(f"{serve} --noreload 127.0.0.1:{port}", environment) as output:
        assert output.saw("Quit the server", 120), output.text
        for path in ("/signin/", "/static/css/tokens.css"):
            assert (
                httpx.get(f"http://localhost:{port}{path}", timeout=60, trust_env=False).status_code
                == 200
            )
    with here(work, environment) as output:
        assert output.saw("worker started", 120), output.text


def test_an_owner_is_made_without_a_terminal_as_documented(tmp_path):
    page = (BASE / "docs/operations.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (block,) = [each for each in blocks if "createsuperuser" in each]
    made, *lines = block.replace("…", "'a quiet harbour'").splitlines()
    assert made == "make .venv/run.stamp"
    for line in lines:
        run_here(line, developers(tmp_path))
    assert "/welcome/" not in run_here(lines[0], developers(tmp_path))


def developers(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "DEBUG"}
    own = databases.settings_of(home / "data")
    return kept | own | {"DATA_DIR": str(home / "data"), "PYTHONUNBUFFERED": "1"}


def run_here(command: str, environment: dict[str, str]) -> str:
    return subprocess.run(
        command,
        cwd=BASE,
        env=environment,
        check=True,
        shell=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout


@contextmanager
def here(command: str, environment: dict[str, str]) -> Iterator[Output]:
    process = launch(["sh", "-c", command], cwd=BASE, env=environment, start_new_session=True)
    output = Output(process)
    try:
        yield output
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(STOP_SECONDS)
        output.close()


def test_an_environment_that_could_not_be_made_is_not_left_half_made(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nmkdir -p .venv/bin\ntouch .venv/bin/python\nexit 1\n")
    python.chmod(0o700)
    shutil.copy(BASE / "Makefile", tmp_path)
    (tmp_path / "requirements.lock").touch()
    command = ["make", "run", f"PYTHON={python}"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    assert "-m venv" in answer.stdout
    assert not (tmp_path / ".venv").exists()
