from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.engine.holding import Held, holding
from tests.swarm import Seeder, seeder


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    """An engine on loopback."""
    with holding(tmp_path) as engine:
        yield engine


@pytest.fixture
def seeds() -> Iterator[Seeder]:
    with seeder() as giving:
        yield giving
