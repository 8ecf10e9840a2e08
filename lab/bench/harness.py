"""What every row needs: medians, peers that take turns, a table, and the raw numbers."""

import json
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Literal

import httpx

from lab.bench.peers import PEERS
from tests.running import BASE, free_port

ROUNDS = 5
RESULTS = BASE / "lab" / "bench" / "results"


@dataclass
class Row:
    """A measured value and its target: at least, under, or at most some number."""

    name: str
    value: float | None
    unit: str = ""
    at_least: float | None = None
    under: float | None = None
    at_most: float | None = None
    missing: str = ""
    group: str = ""
    # What a ratio compares with a peer.
    relative: Literal["", "speed", "time"] = ""
    raw: dict[str, list[float]] = field(default_factory=dict)

    @property
    def is_reached(self) -> bool | None:
        if self.value is None:
            return None
        if self.at_least is not None:
            return self.value >= self.at_least
        if self.at_most is not None:
            return self.value <= self.at_most
        return self.under is None or self.value < self.under

    def __str__(self) -> str:
        if self.value is None:
            return f"  --  {self.name}: {self.seen} (make bench-peers)"
        mark = "ok  " if self.is_reached else "LOW "
        return f"  {mark}{self.name}: {self.seen} ({self.target or 'no target'})"

    @property
    def seen(self) -> str:
        if self.value is None:
            return f"not measured, {self.missing} is missing"
        number = f"{self.value:.3g}" if abs(self.value) < 1000 else f"{self.value:,.0f}"
        return number + self.unit

    @property
    def target(self) -> str:
        targets = {"at least": self.at_least, "under": self.under, "at most": self.at_most}
        parts = [f"{how} {number:,}" for how, number in targets.items() if number is not None]
        return "".join(parts)


class Report:
    """A report that saves raw numbers after each row, so that an interrupted run keeps them."""

    def __init__(self) -> None:
        now = datetime.now(UTC)
        self._place = RESULTS / f"{now:%Y%m%dT%H%M%SZ}.json"
        self._facts = {
            "at": now.isoformat(),
            "machine": machine(),
            "python": platform.python_version(),
        }
        self._rows: list[Row] = []

    def add(self, row: Row, group: str) -> None:
        row.group = group
        self._rows.append(row)
        print(row, flush=True)
        for what, numbers in row.raw.items():
            print(f"          {what}: median {median(numbers):.4g} of {len(numbers)}", flush=True)
        self._write()

    def close(self) -> bool:
        """Return whether a target was missed."""
        print(f"Raw numbers: {self._place.relative_to(BASE)}")
        return any(row.is_reached is False for row in self._rows)

    def _write(self) -> None:
        RESULTS.mkdir(exist_ok=True)
        rows = [asdict(row) | {"is_reached": row.is_reached} for row in self._rows]
        self._place.write_text(json.dumps(self._facts | {"rows": rows}, indent=1))


def machine() -> str:
    """Describe this machine in words."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    names = [
        line.partition(":")[2] for line in cpuinfo.splitlines() if line.startswith("model name")
    ]
    gigabytes = os.sysconf("SC_PAGESIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    name = names[0].strip() if names else platform.machine()
    return f"{os.cpu_count()} cores of {name}, {gigabytes:.0f} GB, {platform.system()}"


def in_turns(rounds: int = ROUNDS, **contestants: Callable[[], object]) -> dict[str, list[float]]:
    """Return the seconds of each. All take turns in every round, so that a slow minute hits all."""
    for run in contestants.values():
        run()
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            taken[name].append(seconds(run))
    return taken


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def fetch(url: str, readers: int = 1, header: str = "X-Bench: 1") -> None:
    """Fetch with curl, since a reader in Python would measure itself."""
    command = ["curl", "--silent", "--fail", "--output", os.devnull, "--noproxy", "*"]
    command += ["--header", header, url]
    processes = [subprocess.Popen(command) for _ in range(readers)]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise RuntimeError(f"Not all of {url} came")


def peer(name: str) -> str | None:
    ours = PEERS / "bin" / name
    return str(ours) if ours.is_file() else shutil.which(name)


@contextmanager
def running_peer(command: list[str], port: int) -> Iterator[str]:
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(url)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def wait_for(url: str) -> None:
    """Wait until the URL answers: the transport tries again after 0, 0.5, 1, 2 … seconds."""
    with httpx.Client(transport=httpx.HTTPTransport(retries=7)) as client:
        client.head(url)


def peer_port() -> int:
    return free_port()


def memory_bytes(line: str) -> int:
    """Return this process's memory: VmRSS is the size now, VmHWM the peak since `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    return int(next(each for each in status.splitlines() if each.startswith(line)).split()[1]) << 10


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")
