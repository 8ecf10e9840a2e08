from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.torrents.holding import LOOPBACK, AwaitedEngine, Held, holding
from tests.swarm import Seeder, seeder


@pytest.fixture(scope="session")
def _engine() -> Iterator[AwaitedEngine]:
    engine = AwaitedEngine(LOOPBACK)
    engine.start()
    yield engine
    engine.stop(5)


@pytest.fixture
def held(_engine: AwaitedEngine, tmp_path: Path) -> Iterator[Held]:
    """Yield an engine on loopback, which tests use one after the other."""
    held = Held(_engine, tmp_path)
    pid = _engine.pid
    yield held
    held.renew()
    assert _engine.pid == pid, "the engine died"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Held]:
    """Yield an engine on loopback for this test alone, which may end it or measure its memory."""
    with holding(tmp_path) as engine:
        yield engine


@pytest.fixture
def seeds() -> Iterator[Seeder]:
    with seeder() as giving:
        yield giving
