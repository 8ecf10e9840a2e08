from collections.abc import Callable, Iterator

import httpx
import pytest

from config.embedded import upstream
from service.models import Account
from tests.service.builders import alice, mallory

PASSWORD = "a quiet: harbour at noon"


@pytest.fixture
def account(db) -> Account:
    return alice(password=PASSWORD)


@pytest.fixture
def knock() -> Iterator[Callable[..., httpx.Client]]:
    """Yield a function that makes clients, with credentials or without."""
    made: list[httpx.Client] = []

    def client(*pair: str) -> httpx.Client:
        auth = httpx.BasicAuth(*pair) if pair else None
        made.append(httpx.Client(transport=upstream.transport(), base_url=upstream.URL, auth=auth))
        return made[-1]

    yield client
    for each in made:
        each.close()


@pytest.fixture
def api(account, knock) -> httpx.Client:
    """Return Alice's client."""
    return knock(account.email, PASSWORD)


@pytest.fixture
def stranger(account, knock) -> httpx.Client:
    """Return the client of Mallory, who has another account."""
    return knock(mallory(password=PASSWORD).email, PASSWORD)
