"""Measure whether a program and its children grow: memory, threads, and file handles."""

import os
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.running import family_of

MIB = 2**20
NAMES = ("memory", "threads", "handles")


@dataclass(frozen=True)
class Sample:
    memory: float  # MiB; what several processes share counts once
    threads: float
    handles: float


@dataclass(frozen=True)
class Bound:
    """How much the last third may exceed the first: by `share` of the first, plus `more`."""

    share: float
    more: float

    def holds(self, first: float, last: float) -> bool:
        return last <= first * (1 + self.share) + self.more


def sample_of(root: int) -> Sample:
    memory = threads = handles = 0.0
    for pid in family_of(root):
        place = Path(f"/proc/{pid}")
        try:
            memory += pss_bytes(place) / MIB
            threads += len(os.listdir(place / "task"))  # noqa: PTH208
            handles += len(os.listdir(place / "fd"))  # noqa: PTH208
        except (FileNotFoundError, ProcessLookupError):
            continue  # It has ended meanwhile.
    return Sample(memory, threads, handles)


def pss_bytes(place: Path, kind: str = "Pss") -> int:
    """Return a process's share of memory; `Pss_Anon` leaves out what is mapped from files."""
    lines = (place / "smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{kind}:"))


def thirds(samples: list[Sample], name: str) -> tuple[float, float]:
    """Return the medians of the first and last third: memory that varies with load is in both."""
    values = [getattr(each, name) for each in samples]
    third = len(values) // 3
    return median(values[:third]), median(values[-third:])
