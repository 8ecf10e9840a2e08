from collections.abc import Iterator

import httpx
import pytest
from django.utils import timezone

from config.embedded import upstream
from service.accounts import accounts
from tests.contract.fake import FakeV1
from tests.contract.speaking import EMAIL, PASSWORD, V1
from tests.running import Ferry
from tests.service.api.serving import add_account

TARGETS = ["fake", "in process", "socket"]


@pytest.fixture(params=TARGETS)
def v1(request: pytest.FixtureRequest, db: None) -> Iterator[V1]:
    make = {"fake": fake, "in process": in_process, "socket": over_socket}[request.param]
    url, transport = make(request)
    options = {"base_url": url, "transport": transport, "timeout": 60, "trust_env": False}
    with (
        httpx.Client(auth=httpx.BasicAuth(EMAIL, PASSWORD), **options) as client,
        httpx.Client(**options) as stranger,
    ):
        speaking = V1(client, stranger)
        speaking.clear()
        yield speaking


def fake(_request: pytest.FixtureRequest) -> tuple[str, httpx.BaseTransport]:
    return "https://v1.example", FakeV1(EMAIL, PASSWORD)


def in_process(_request: pytest.FixtureRequest) -> tuple[str, httpx.BaseTransport]:
    accounts.add(EMAIL, PASSWORD, timezone.now())
    return upstream.URL, upstream.transport()


def over_socket(request: pytest.FixtureRequest) -> tuple[str, httpx.BaseTransport]:
    ferry: Ferry = request.getfixturevalue("ferry_with_account")
    return ferry.url, httpx.HTTPTransport()


@pytest.fixture(scope="session")
def ferry_with_account(ferry: Ferry) -> Ferry:
    add_account(ferry, EMAIL, PASSWORD)
    return ferry
