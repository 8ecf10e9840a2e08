"""What all faults have in common: who asks, what was promised, and the count at the end."""

import random

import pytest

from tests.faults.asking import Asking
from tests.faults.reckoning import Promises, Tally, reckoned
from tests.running import PASSWORD
from tests.service.builders import alice as an_alice
from tests.service.conftest import library_folder

__all__ = ["library_folder"]

TALLY = pytest.StashKey[Tally]()
SEED = 20260901


def pytest_terminal_summary(terminalreporter, config):
    tally = config.stash.get(TALLY, None)
    if tally is not None:
        terminalreporter.section(f"faults (seed {SEED})")
        terminalreporter.line(str(tally))


@pytest.fixture(scope="session")
def tally(pytestconfig):
    return pytestconfig.stash.setdefault(TALLY, Tally())


@pytest.fixture
def chance():
    return random.Random(SEED)


@pytest.fixture
def account(transactional_db, library_folder):
    return an_alice(password=PASSWORD, space_max_bytes=10**10)


@pytest.fixture
def promises():
    return Promises()


@pytest.fixture
def even(tally):
    """Adds a reckoning to what is told at the end, and demands that nothing is amiss."""

    def judge(found):
        tally.add(found)
        assert found.is_even, found

    return judge


@pytest.fixture
def all_even(even, account, library_folder, promises):
    return lambda: even(reckoned(account, library_folder, promises))


@pytest.fixture
def asking(account, promises):
    """Makes somebody who asks a server as Alice."""
    opened = []

    def ask(url):
        opened.append(Asking(url, account.email, PASSWORD, promises))
        return opened[-1]

    yield ask
    for each in opened:
        each.close()
