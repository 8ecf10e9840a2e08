import pytest

from service.transfers import transfers
from tests.service.builders import NOW, alice, magnet
from tests.service.fakes import Shift


@pytest.fixture
def shift():
    return Shift()


@pytest.fixture
def film(shift):
    """Return a transfer that downloads."""
    film = transfers.add_magnet(alice(), magnet(), 0, NOW)
    shift.round()
    shift.engine.metadata(film)
    shift.rounds()
    return film
