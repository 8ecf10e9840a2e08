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
    """Clients with any credentials, or none."""
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
    """Alice's."""
    return knock(account.email, PASSWORD)


@pytest.fixture
def stranger(account, knock) -> httpx.Client:
    """Mallory has an account, but not this one."""
    return knock(mallory(password=PASSWORD).email, PASSWORD)
