import pytest

from service import credentials
from service.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "library")


@pytest.fixture(autouse=True)
def _nobody_remembered():
    credentials.remembered.forget()
    credentials.tries.forget()
