from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest

from tests.cluster import machines, results
from tests.cluster.machines import Cluster
from tests.cluster.sources import TORRENTS


@pytest.fixture(scope="session")
def _cluster() -> Iterator[Cluster]:
    with machines.cluster() as made:
        yield made


@pytest.fixture
def cluster(_cluster: Cluster) -> Cluster:
    for machine in _cluster.machines:
        if not machine.is_alive():
            machine.again()
    return _cluster


@dataclass
class Tally:
    """How many seconds an operation took from the kill of a part to its good end."""

    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)
    _torrents: Iterator[str] = field(default_factory=lambda: iter(TORRENTS))

    def name_for(self, operation: str) -> str:
        return (
            next(self._torrents)
            if operation == "torrent"
            else f"{operation}{next(self._numbers):03}"
        )

    def note(self, operation: str, victim: str, seconds: float) -> None:
        self.seconds.setdefault(operation, {})[victim] = round(seconds, 1)


@pytest.fixture(scope="session")
def tally() -> Iterator[Tally]:
    made = Tally()
    yield made
    results.add("kills", made.seconds)
