"""Run the phases of a tier, and end with a table of them.

`python -m tests.phases test` is `make test`, and `python -m tests.phases all` is `make test-all`.
A phase that fails doesn't keep the next one from running. No phase needs a terminal.
"""

import json
import os
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import cast

from tests.running import BASE

# The CPU time that `make test` may use: ten minutes on two idle cores, and five percent since runs
# differ by that: 923 s, 933 s, and 974 s. The yardstick makes up for slower machines.
BUDGET_SECONDS = 1_050.0
# If other programs compute for more than this share of that time, the run isn't judged: it takes
# longer, and what waits in it uses some CPU time, too. Beside others, one run used 9 percent more.
# The kernel and children that nobody waits for count as others: 14 percent beside two idle Ferrys.
OTHERS_SHARE = 0.25
# What tests do most: start Python, import, and allocate. A sum of numbers, which stays in the
# processor's cache, took 1.36 times as long on a machine where tests took 1.75 times as long.
YARDSTICK = "import django.db.models, django.forms, django.http, django.template"
YARDSTICK_SECONDS = 0.30
YARDSTICK_PAUSE_SECONDS = 15.0


@dataclass(frozen=True)
class Phase:
    name: str
    module: str
    arguments: str = ""

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", self.module, *shlex.split(self.arguments)]

    def repeat(self, test: str) -> str:
        """Return the command that runs one test again, or the whole phase."""
        what = [test] if test else shlex.split(self.arguments)
        return shlex.join([".venv/bin/python", "-m", self.module, *what])


class Make(Phase):
    """A target of make whose programs count no tests."""

    @property
    def command(self) -> list[str]:
        return ["make", "--keep-going", "--jobs=2", "--output-sync=target", self.module]

    def repeat(self, test: str) -> str:
        return f"make {self.module}"


# `make check` has just run these.
WITHOUT_DOCUMENTS = (
    "--ignore tests/test_docs.py --ignore tests/test_tree.py --ignore tests/test_size.py"
    " --ignore tests/test_dependencies.py"
)
# Tests of what PostgreSQL does differently: queries, locks, races, and notifications.
WHERE_IT_DIFFERS = (
    "tests/service/library/test_library.py tests/service/library/test_search.py"
    " tests/service/library/test_moves.py tests/service/store/test_object_store.py"
    " tests/service/test_database_connection.py tests/service/test_notifications.py"
    " tests/service/test_races.py tests/service/worker/test_leases.py"
    " tests/service/worker/test_queue.py tests/webui/connection/test_connection.py"
    " tests/webui/test_races.py tests/attacks/test_17_races.py"
)
# A tier has rounds, a round has lanes that run beside each other, and a lane has phases.
Round = list[list[Phase]]
TIERS: dict[str, list[Round]] = {
    "test": [
        [
            [
                Make("check", "check"),
                Phase("tests", "pytest", f"--tier test --numprocesses 2 {WITHOUT_DOCUMENTS}"),
                Phase("PostgreSQL", "tests.postgresql", f"--tier quick {WHERE_IT_DIFFERS}"),
            ]
        ]
    ],
    "all": [
        [
            [
                Make("check", "check"),
                Phase(
                    "tests", "pytest", "-m 'not (alone or container or cluster)' --numprocesses 4"
                ),
                Phase("PostgreSQL", "tests.postgresql", "--numprocesses 4"),
            ],
            # These wait more than they compute: of 33 minutes, they need a core for 19.
            [
                Phase("cluster", "pytest", "tests/cluster"),
                Make("power cuts", "power-cuts"),
                Phase("container", "pytest", "-m container tests/fresh"),
            ],
        ],
        [[Phase("alone", "pytest", "-m alone")]],
    ],
}


@dataclass
class Outcome:
    phase: Phase
    code: int
    seconds: float
    cpu_seconds: float
    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)

    @property
    def row(self) -> str:
        counts = f"{self.passed:7,} {len(self.failed):7,} {self.skipped:8,}"
        minutes = f"{self.seconds / 60:8.1f} {self.cpu_seconds / 60:12.1f}"
        return f"{self.phase.name:12} {counts} {minutes}"


class Yardstick(threading.Thread):
    """Start one program again and again during the run, and measure how long it computes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._seconds: list[float] = []
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(YARDSTICK_PAUSE_SECONDS):
            process = subprocess.Popen([sys.executable, "-I", "-c", YARDSTICK])
            _pid, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if not process.returncode:
                self._seconds.append(used.ru_utime + used.ru_stime)

    def stop(self) -> float:
        """Return the median of its seconds."""
        self._ended.set()
        self.join()
        return median(self._seconds or [YARDSTICK_SECONDS])


def main(tier: str) -> int:
    # End the phase that runs even if this process is terminated.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    yardstick = Yardstick()
    yardstick.start()
    computed_before = computed_seconds()
    outcomes = run_all(TIERS[tier])
    computed = computed_seconds() - computed_before
    yardstick_seconds = yardstick.stop()
    print_table(outcomes)
    is_within = tier != "test" or is_within_budget(outcomes, yardstick_seconds, computed)
    return int(not is_within or any(outcome.code for outcome in outcomes))


def run_all(rounds: list[Round]) -> list[Outcome]:
    return [outcome for lanes in rounds for outcome in run_beside(lanes)]


def run_beside(lanes: Round) -> list[Outcome]:
    """Run the phases of each lane one after the other, and show what the first lane says."""
    outcomes = []
    with selectors.DefaultSelector() as running:

        def begin(lane: Iterator[Phase], *, is_shown: bool) -> None:
            if phase := next(lane, None):
                run = Run(phase, is_shown=is_shown)
                running.register(run, selectors.EVENT_READ, lane)

        for number, lane in enumerate(lanes):
            begin(iter(lane), is_shown=number == 0)
        try:
            while running.get_map():
                for key, _events in running.select():
                    running.unregister(key.fileobj)
                    run = cast("Run", key.fileobj)
                    outcomes.append(run.end())
                    begin(key.data, is_shown=run.is_shown)
        except KeyboardInterrupt:
            for run in [cast("Run", key.fileobj) for key in running.get_map().values()]:
                run.interrupt()
            raise
    return outcomes


class Run:
    """A phase that runs. It keeps what the phase says until the end, unless `is_shown`."""

    def __init__(self, phase: Phase, *, is_shown: bool) -> None:
        self.is_shown = is_shown
        self._phase = phase
        self._began_at = time.monotonic()
        self._folder = tempfile.TemporaryDirectory(prefix="ferry-results-")
        self._results = Path(self._folder.name, "results.json")
        self._output = Path(self._folder.name, "output.txt")
        if is_shown:
            print(f"\n=== {phase.name}", flush=True)
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                phase.command,
                cwd=BASE,
                env=os.environ | {"TEST_RESULTS": str(self._results)},
                stdin=subprocess.DEVNULL,
                stdout=None if is_shown else output,
                stderr=None if is_shown else output,
            )
        self._end = os.pidfd_open(self._process.pid)

    def fileno(self) -> int:
        """Return a descriptor that can be read from once the phase has ended."""
        return self._end

    def end(self) -> Outcome:
        os.close(self._end)
        _pid, status, used = os.wait4(self._process.pid, 0)
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        if not self.is_shown:
            print(f"\n=== {self._phase.name}", self._output.read_text(errors="replace"), sep="\n")
        counts = json.loads(self._results.read_text()) if self._results.exists() else {}
        self._folder.cleanup()
        if isinstance(self._phase, Make):
            counts = {"passed": int(code == 0)}
        seconds = time.monotonic() - self._began_at
        outcome = Outcome(self._phase, code, seconds, used.ru_utime + used.ru_stime, **counts)
        if code and not outcome.failed:  # It failed before pytest could report.
            outcome.failed = [""]
        return outcome

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def computed_seconds() -> float:
    """Return how long this machine's cores have computed since it started, whoever used them."""
    with open("/proc/stat", encoding="ascii") as file:
        _name, *ticks = file.readline().split()
    user, nice, system, _idle, _waits, interrupts, soft_interrupts, *_others = map(int, ticks)
    return (user + nice + system + interrupts + soft_interrupts) / os.sysconf("SC_CLK_TCK")


def print_table(outcomes: list[Outcome]) -> None:
    print("\nphase         passed  failed  skipped  minutes  CPU minutes")
    for outcome in outcomes:
        print(outcome.row)
    for outcome in outcomes:
        for test in outcome.failed:
            print(f"failed: {outcome.phase.repeat(test)}")
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(len(outcome.failed) for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)


def is_within_budget(outcomes: list[Outcome], yardstick_seconds: float, computed: float) -> bool:
    used = sum(outcome.cpu_seconds for outcome in outcomes)
    # A faster machine has time left, even if it isn't as much faster at what tests do.
    adjusted = used / max(1, yardstick_seconds / YARDSTICK_SECONDS)
    others = computed - used
    print(
        f"CPU time: {used:,.0f} s; on the machine of the budget, {adjusted:,.0f} s of"
        f" {BUDGET_SECONDS:,.0f} s. The yardstick took {yardstick_seconds:.2f} s, not"
        f" {YARDSTICK_SECONDS:.2f} s. Other programs used {others:,.0f} s.",
        flush=True,
    )
    return adjusted <= BUDGET_SECONDS or others > used * OTHERS_SHARE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
