"""What all faults have in common: who asks, what was promised, and the count at the end."""

import random
from contextlib import ExitStack

import pytest

from tests.faults.reckoning import Tally
from tests.faults.scene import PASSWORD, Scene
from tests.service.builders import alice
from tests.service.conftest import library_folder, reader
from tests.swarm import seeder

__all__ = ["library_folder", "reader"]

TALLY = pytest.StashKey[Tally]()
SEED = 20260901


def pytest_terminal_summary(terminalreporter, config):
    tally = config.stash.get(TALLY, None)
    if tally is not None:
        terminalreporter.section(f"faults (seed {SEED})")
        terminalreporter.line(str(tally))


@pytest.fixture
def chance():
    return random.Random(SEED)


@pytest.fixture(scope="session")
def tally(pytestconfig):
    return pytestconfig.stash.setdefault(TALLY, Tally())


@pytest.fixture
def scene(transactional_db, library_folder, tally):
    account = alice(password=PASSWORD, space_max_bytes=10**10)
    with ExitStack() as stack:
        yield Scene(account, library_folder, tally, stack)


@pytest.fixture
def seeds():
    with seeder() as seeds:
        yield seeds
