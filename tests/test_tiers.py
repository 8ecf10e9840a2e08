"""The tiers are what docs/testing.md says, and their runs report what happened."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from tests import phases
from tests.phases import Outcome, Phase
from tests.running import BASE
from tests.sources import tree_of

FEWEST_JOURNEYS, MOST_JOURNEYS = 60, 80
TESTS = """
import pytest

def test_that_passes(): pass
def test_that_fails(): assert 1 == 2
def test_that_errs(missing_fixture): pass
@pytest.mark.skip(reason="This machine lacks it.")
def test_that_is_skipped(): pass
"""
MEETING = """
import signal

def test_that_meets_the_other():
    signal.alarm(60)
    open("{fifo}", "{mode}").close()
"""


def promises() -> Iterator[str]:
    for path in (BASE / "tests").rglob("test_*.py"):
        for node in ast.walk(tree_of(path)):
            match node:
                case ast.Call(ast.Attribute(attr="promise"), [ast.Constant(words), *_]):
                    yield words


def test_each_promise_has_one_real_run():
    counts = Counter(promises())
    assert len(counts) > 100
    assert [words for words, count in counts.items() if count > 1] == []


def test_make_test_has_60_to_80_journeys():
    """A new journey replaces another, since each adds some seconds to every run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--tier", "test"]
    listed = subprocess.run(
        [*command, "tests/browser"], cwd=BASE, capture_output=True, text=True, check=True
    ).stdout
    assert FEWEST_JOURNEYS <= listed.count("::") <= MOST_JOURNEYS


@pytest.fixture
def tests(tmp_path):
    """Return a phase of four tests that runs without this project's settings."""
    file = tmp_path / "test_four.py"
    file.write_text(TESTS)
    return phase_of(file)


def phase_of(file):
    arguments = f"-c /dev/null -p tests.times --rootdir {file.parent} {file}"
    return Phase(file.stem, "pytest", arguments)


def test_a_phase_counts_its_tests_and_says_how_to_repeat_what_failed(tests, capfd):
    [outcome] = phases.run_beside([[tests]])
    assert (outcome.passed, outcome.skipped) == (1, 1)
    assert outcome.failed == ["test_four.py::test_that_errs", "test_four.py::test_that_fails"]
    phases.print_table([outcome])
    table = capfd.readouterr().out
    assert "failed: .venv/bin/python -m pytest test_four.py::test_that_fails" in table
    assert table.endswith("1 passed, 2 failed, 1 skipped\n")


@pytest.mark.slow
def test_a_failure_is_named_as_it_happens(tests, capfd):
    phases.run_beside([[tests]])
    said = capfd.readouterr().out
    progress = said.partition("= FAILURES =")[0]
    assert "\ntest_four.py::test_that_fails failed\n" in progress.partition("= ERRORS =")[0]


@pytest.mark.slow
def test_after_a_phase_that_cannot_begin_the_next_one_runs(tests, capfd):
    outcomes = phases.run_beside([[Phase("lost", "tests.no_such_module"), tests]])
    assert [len(outcome.failed) for outcome in outcomes] == [1, 2]
    phases.print_table(outcomes)
    assert "failed: .venv/bin/python -m tests.no_such_module" in capfd.readouterr().out


@pytest.mark.slow
def test_lanes_run_beside_each_other_and_the_second_speaks_at_its_end(tmp_path, capfd):
    fifo = tmp_path / "meeting"
    os.mkfifo(fifo)
    lanes = []
    for name, mode in [("first", "w"), ("second", "r")]:
        file = tmp_path / f"{name}.py"
        file.write_text(MEETING.format(fifo=str(fifo), mode=mode))
        lanes.append([phase_of(file)])
    outcomes = phases.run_beside(lanes)
    assert {(each.passed, each.code) for each in outcomes} == {(1, 0)}
    said = capfd.readouterr().out
    assert re.search(r"=== second\n=.* starts =(?s:.*)second.py .*\n\n=+ 1 passed", said)


@pytest.mark.parametrize(
    ("share", "slowness", "others", "is_within"),
    [
        (0.95, 0.5, 0, True),
        (0.9, 1, 0, True),
        (1.1, 1, 0.05, False),
        (1.9, 2, 0, True),
        (1.1, 1, 0.5, True),
    ],
)
def test_more_work_breaks_the_budget_and_a_slow_or_busy_machine_does_not(
    share, slowness, others, is_within
):
    used = share * phases.BUDGET_SECONDS
    outcome = Outcome(Phase("any", "any"), 0, 0, used)
    computed = used * (1 + others)
    assert (
        phases.is_within_budget([outcome], slowness * phases.YARDSTICK_SECONDS, computed)
        == is_within
    )
