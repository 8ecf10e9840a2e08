"""Cut the power of Ferry's disk thirty times, as root: `python -m lab.powercuts [NUMBER…]`.

The moment of each cut depends only on its number, so the same command repeats a failed cut.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import environment
from tests.powercuts.scenarios import cut_power, scenario_of
from tests.running import BASE
from tests.tools import needs, program

CUTS = 30


@dataclass(frozen=True)
class Cut:
    number: int
    seconds: float
    acknowledged: int = 0  # files and transfers
    failure: str = ""

    def __str__(self) -> str:
        outcome = "FAILED" if self.failure else "nothing lost"
        name = scenario_of(self.number).__name__.replace("_", " ")
        return f"| {self.number} | {name} | {self.seconds:.0f} | {self.acknowledged} | {outcome} |"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.powercuts")
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="thirty by default")
    numbers = parser.parse_args(arguments).numbers or range(CUTS)
    needs([program("losetup"), "--find"], "the right to use a loop device")
    make_static_files()
    print("| number | during | seconds | acknowledged | outcome |\n|---|---|---|---|---|")
    cuts = []
    for cut in made(numbers):
        print(cut, flush=True)
        cuts.append(cut)
    return report(cuts)


def make_static_files() -> None:
    """Make the static files that each Ferry copies: making them takes a third of a first start."""
    own = {"DATA_DIR": environment.folder, "DATABASE_URL": ""}
    command = [sys.executable, "manage.py", "prepare"]
    subprocess.run(command, cwd=BASE, env=os.environ | own, check=True, capture_output=True)


def made(numbers: Sequence[int]) -> Iterator[Cut]:
    """Cut once for each number; continue after a failure."""
    for number in numbers:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="ferry-power-cut-") as folder:
            try:
                count, failure = len(cut_power(number, Path(folder)).contents), ""
            except Exception:  # noqa: BLE001  The report shows it.
                count, failure = 0, traceback.format_exc()
        yield Cut(number, time.monotonic() - started, count, failure)


def report(cuts: Sequence[Cut]) -> int:
    failed = [cut for cut in cuts if cut.failure]
    for cut in failed:
        print(f"\npython -m lab.powercuts {cut.number}\n{cut.failure}")
    things = sum(cut.acknowledged for cut in cuts)
    print(f"\n{len(cuts)} power cuts, {things} files and transfers, {len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (pytest.skip.Exception, pytest.fail.Exception) as lack:
        sys.exit(str(lack))
