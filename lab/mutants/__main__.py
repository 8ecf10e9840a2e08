"""Make each fault in a copy of the checkout, and check whether the tests of its subject catch it.

python -m lab.mutants [NAME…] [--tier TIER] [--jobs N] [--seconds LIMIT] [--base FOLDER]
                        [--json FILE]

A fault is caught if a test fails with it and passes without it, or if its tests hang with it and
not without it. It is missed if all of its tests pass, or if the tier leaves all of them out. The
program exits with 1 if a fault couldn't be judged.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from subprocess import DEVNULL, STDOUT
from typing import TypeVar

from lab.mutants import faults
from lab.mutants.faults import Fault, NoLongerApplies
from tests.running import BASE
from tests.tiers import TIERS

END_SECONDS = 60.0
PASSED, FAILED, NONE_CHOSEN = 0, 1, 5
CAUGHT, MISSED, TIMED_OUT, BROKEN = "caught", "missed", "timed out", "broken"
Item = TypeVar("Item")
Value = TypeVar("Value")

COMMAND = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]


@dataclass(frozen=True)
class Run:
    """How a run of tests ended."""

    code: int | None  # None: they hung
    seconds: float
    output: str

    @property
    def failure(self) -> str:
        """Return the first test that failed."""
        lines = (
            line for line in self.output.splitlines() if line.startswith(("FAILED ", "ERROR "))
        )
        return next(lines, "").partition(" ")[2].partition(" - ")[0]


@dataclass(frozen=True)
class Result:
    name: str
    result: str
    seconds: float = 0.0
    by: str = ""  # the test that caught it, or why it can't be judged

    @property
    def is_caught(self) -> bool:
        return self.result in (CAUGHT, TIMED_OUT)

    def __str__(self) -> str:
        return f"{self.result:9}  {self.seconds:5.0f} s  {self.name}  {self.by}".rstrip()


class Copies:
    """Copies of the checkout, each used by one run at a time."""

    def __init__(self, base: Path, home: Path, count: int, choice: Sequence[str] = ()) -> None:
        self._choice = choice
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(count):
            self._free.put(copied(base, home / str(number)))

    def tested(self, tests: Sequence[str], limit: float, fault: Fault | None = None) -> Run:
        """Make the fault, run the tests, and restore the file."""
        copy = self._free.get()
        tests = [*self._choice, *tests]
        try:
            if fault is None:
                return tested(copy, tests, limit)
            place = copy / fault.file
            right = place.read_text()
            place.write_text(fault.made_in(right))
            try:
                return tested(copy, tests, limit)
            finally:
                place.write_text(right)
        finally:
            self._free.put(copy)


def copied(base: Path, copy: Path) -> Path:
    """Copy tracked and new files from the working tree."""
    command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(["git", *command], cwd=base, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (base / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(base / name, copy / name)
    return copy


def tested(copy: Path, tests: Sequence[str], limit: float) -> Run:
    # Otherwise, a test that the machine can't run would be skipped, and its fault missed.
    environment = os.environ | {"BROWSER_TESTS": "required", "COLUMNS": "200"}
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        options = {"cwd": copy, "env": environment, "stdin": DEVNULL, "stderr": STDOUT}
        with subprocess.Popen([*COMMAND, *tests], stdout=output, **options) as process:
            code = ended(process, limit)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Run(code, time.monotonic() - started, text)


def ended(process: "subprocess.Popen[bytes]", limit: float) -> int | None:
    """Return the exit code, or None after the limit. Interrupt first, so that pytest ends what its
    tests have started."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    return None


def judged(copies: Copies, limit: float, fault: Fault) -> Result:
    try:
        run = copies.tested(fault.tests, limit, fault)
    except (OSError, NoLongerApplies) as misfit:
        return Result(fault.name, BROKEN, by=f"no longer applies: {misfit}")
    # If a test hangs, pytest ends it itself, and names no failure.
    failed = CAUGHT if run.failure else TIMED_OUT
    outcomes = {PASSED: MISSED, NONE_CHOSEN: MISSED, FAILED: failed, None: TIMED_OUT}
    outcome = outcomes.get(run.code, BROKEN)
    if outcome == BROKEN:
        return Result(fault.name, BROKEN, run.seconds, f"pytest ended with {run.code}")
    if outcome != MISSED:
        # Run all cases of the test: their names may contain what no command line accepts.
        suspects = [run.failure.partition("[")[0]] if run.failure else fault.tests
        if copies.tested(suspects, limit).code != PASSED:
            why = f"also without it, these don't pass: {' '.join(suspects)}"
            return Result(fault.name, BROKEN, run.seconds, why)
    return Result(fault.name, outcome, run.seconds, run.failure)


def main(arguments: Sequence[str]) -> int:
    options = parsed(arguments)
    # A shell starts background jobs with SIGINT ignored, and pytest would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen = [fault for fault in faults.read() if fault.name in options.names or not options.names]
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="ferry-mutants-") as home:
        choice = [] if options.tier == "all" else ["--tier", options.tier]
        copies = Copies(options.base, Path(home), options.jobs, choice)
        judge = partial(judged, copies, options.seconds)
        for result in side_by_side(options.jobs, judge, chosen):
            results.append(result)
            print(result, flush=True)
            keep(options.json, results)
    return report(results)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab.mutants")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a fault; all by default")
    parser.add_argument("--tier", choices=TIERS, default="all", help="run only these tests")
    parser.add_argument("--jobs", type=int, default=1, help="so many run at once")
    parser.add_argument("--seconds", type=float, default=300, help="for the tests of one fault")
    parser.add_argument("--base", type=Path, default=BASE, help="another checkout to judge")
    parser.add_argument("--json", type=Path, help="where to write the results")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {fault.name for fault in faults.read()}
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    return options


def side_by_side(jobs: int, act: Callable[[Item], Value], items: Sequence[Item]) -> Iterator[Value]:
    """Yield each value as soon as it is ready; after an interruption, start nothing new."""
    threads = ThreadPoolExecutor(jobs)
    try:
        for future in as_completed([threads.submit(act, item) for item in items]):
            yield future.result()
    finally:
        threads.shutdown(cancel_futures=True)


def keep(place: Path | None, results: Sequence[Result]) -> None:
    """Save the results so far, so that an interrupted run keeps them."""
    if place is not None:
        facts = {"caught": sum(each.is_caught for each in results), "of": len(results)}
        rows = [asdict(each) for each in results]
        place.write_text(json.dumps(facts | {"faults": rows}, indent=1))


def report(results: Sequence[Result]) -> int:
    counts = Counter(each.result for each in results)
    print(f"caught {sum(each.is_caught for each in results)} of {len(results)}")
    for each in (each for each in faults.read() if each.name in of(results, MISSED)):
        print(f"missed: {each.wrong} ({each.name})")
    if counts[BROKEN]:
        print(f"NOT JUDGED: {', '.join(of(results, BROKEN))}")
    return int(counts[BROKEN] > 0)


def of(results: Sequence[Result], outcome: str) -> list[str]:
    return [each.name for each in results if each.result == outcome]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
