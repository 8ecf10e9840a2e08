"""Run the phases of a tier, one after the other, and end with a table of them.

`python -m tests.phases test` is `make test`, and `python -m tests.phases all` is `make test-all`.
A phase that fails doesn't keep the next one from running. No phase needs a terminal.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from tests.running import BASE

# The CPU time that `make test` may use: ten minutes on two idle cores, and five percent since runs
# differ by that: 923 s, 933 s, and 974 s. The yardstick makes up for slower machines.
BUDGET_SECONDS = 1_050.0
# If other programs compute for more than this share of that time, the run isn't judged: it takes
# longer, and what waits in it uses some CPU time, too. Beside others, one run used 9 percent more.
# The kernel and children that nobody waits for count as others: 14 percent beside two idle Ferrys.
OTHERS_SHARE = 0.25
# With the yardstick at 4 percent more than this, a run of 958 s of CPU time took 9.4 minutes.
YARDSTICK_SECONDS = 0.038
YARDSTICK_PAUSE_SECONDS = 5.0


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
    "--ignore tests/test_docs.py --ignore tests/test_tree.py --ignore tests/test_dependencies.py"
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
PHASES = {
    "test": [
        Make("check", "check"),
        Phase("tests", "pytest", f"--tier test --numprocesses 4 {WITHOUT_DOCUMENTS}"),
        Phase("PostgreSQL", "tests.postgresql", f"--tier quick {WHERE_IT_DIFFERS}"),
    ],
    "all": [
        Make("check", "check"),
        Phase("tests", "pytest", "-m 'not (alone or container or cluster)' --numprocesses 4"),
        Phase("alone", "pytest", "-m alone"),
        Phase("PostgreSQL", "tests.postgresql", "--numprocesses 4"),
        Phase("cluster", "pytest", "tests/cluster"),
        Make("power cuts", "power-cuts"),
        Phase("container", "pytest", "-m container tests/fresh"),
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
    """Repeat one computation during the run, and measure how long this machine takes for it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._seconds: list[float] = []
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(YARDSTICK_PAUSE_SECONDS):
            began_at = time.thread_time()
            sum(number * number for number in range(500_000))
            self._seconds.append(time.thread_time() - began_at)

    def stop(self) -> float:
        """Return how many times slower this machine is than the one of the budget."""
        self._ended.set()
        self.join()
        return median(self._seconds or [YARDSTICK_SECONDS]) / YARDSTICK_SECONDS


def main(tier: str) -> int:
    # End the phase that runs even if this process is terminated.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    yardstick = Yardstick()
    yardstick.start()
    computed_before = computed_seconds()
    outcomes = run_all(PHASES[tier])
    computed = computed_seconds() - computed_before
    slowness = yardstick.stop()
    print_table(outcomes)
    is_within = tier != "test" or is_within_budget(outcomes, slowness, computed)
    return int(not is_within or any(outcome.code for outcome in outcomes))


def run_all(phases: list[Phase]) -> list[Outcome]:
    return [run(phase) for phase in phases]


def run(phase: Phase) -> Outcome:
    print(f"\n=== {phase.name}", flush=True)
    began_at, cpu_before = time.monotonic(), children_seconds()
    with tempfile.TemporaryDirectory(prefix="ferry-results-") as folder:
        results = Path(folder) / "results.json"
        settings = os.environ | {"TEST_RESULTS": str(results)}
        code = exit_code(phase.command, settings)
        counts = json.loads(results.read_text()) if results.exists() else {}
    if isinstance(phase, Make):
        counts = {"passed": int(code == 0)}
    outcome = Outcome(
        phase, code, time.monotonic() - began_at, children_seconds() - cpu_before, **counts
    )
    if code and not outcome.failed:  # It failed before pytest could report.
        outcome.failed = [""]
    return outcome


def exit_code(command: list[str], settings: dict[str, str]) -> int:
    with subprocess.Popen(command, cwd=BASE, env=settings, stdin=subprocess.DEVNULL) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            raise


def children_seconds() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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


def is_within_budget(outcomes: list[Outcome], slowness: float, computed: float) -> bool:
    used = sum(outcome.cpu_seconds for outcome in outcomes)
    adjusted, others = used / slowness, computed - used
    print(
        f"CPU time: {used:,.0f} s; on the machine of the budget, {adjusted:,.0f} s of"
        f" {BUDGET_SECONDS:,.0f} s. Other programs used {others:,.0f} s.",
        flush=True,
    )
    return adjusted <= BUDGET_SECONDS or others > used * OTHERS_SHARE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
