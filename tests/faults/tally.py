"""Add up what all faults of a run did, in all processes, and print that at the end of the run."""

import pickle
from collections import Counter
from dataclasses import dataclass, field

import pytest

SEED = 20260901


@dataclass
class Reckoning:
    things: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    half: list[str] = field(default_factory=list)

    @property
    def is_even(self) -> bool:
        return not (self.lost or self.doubled or self.half)


@dataclass
class Tally:
    """The faults and losses of all tests together."""

    faults: Counter[str] = field(default_factory=Counter)
    total: Reckoning = field(default_factory=Reckoning)

    def add(self, one: Reckoning) -> None:
        self.total.things += one.things
        self.total.lost += one.lost
        self.total.doubled += one.doubled
        self.total.half += one.half

    def __str__(self) -> str:
        faults = ", ".join(f"{count} × {name}" for name, count in sorted(self.faults.items()))
        total = self.total
        counts = f"lost {len(total.lost)}, doubled {len(total.doubled)}, half {len(total.half)}"
        return f"{faults}.\nOf {total.things} things: {counts}."


TALLY = pytest.StashKey[Tally]()


def pytest_configure(config):
    config.stash[TALLY] = Tally()


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["tally"] = pickle.dumps(session.config.stash[TALLY])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    if error is None:
        theirs = pickle.loads(node.workeroutput["tally"])
        ours = node.config.stash[TALLY]
        ours.faults += theirs.faults
        ours.add(theirs.total)


def pytest_terminal_summary(terminalreporter, config):
    tally = config.stash[TALLY]
    if tally.faults:
        terminalreporter.section(f"faults (seed {SEED})")
        terminalreporter.line(str(tally))
