"""Fixtures for all fault tests: the clients, Ferry's promises, and the tally at the end."""

import random
from contextlib import ExitStack

import pytest

from tests.faults.scene import PASSWORD, Scene
from tests.faults.tally import SEED, TALLY
from tests.service.builders import alice
from tests.service.conftest import library_folder, reader
from tests.swarm import seeder

__all__ = ["library_folder", "reader"]


@pytest.fixture
def chance():
    return random.Random(SEED)


@pytest.fixture(scope="session")
def tally(pytestconfig):
    return pytestconfig.stash[TALLY]


@pytest.fixture
def scene(transactional_db, library_folder, tally):
    account = alice(password=PASSWORD, space_max_bytes=10**10)
    with ExitStack() as stack:
        yield Scene(account, library_folder, tally, stack)


@pytest.fixture
def seeds():
    with seeder() as seeds:
        yield seeds
