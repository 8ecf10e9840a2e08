import io
import ipaddress
import json
import logging
from contextlib import contextmanager

import httpx
import pytest
from django.utils import timezone

from common.http import request_ids
from config.embedded import upstream
from host import logs
from host.web import front
from service.accounts import accounts
from tests.cases import each_case
from webui.connection import connection
from webui.v1.network.address import Credentials

PROXY = "10.1.1.1"
STRANGER = "198.51.100.7"


@pytest.fixture(autouse=True)
def _trusted(settings):
    settings.TRUSTED_PROXIES = [ipaddress.ip_network(PROXY)]


@pytest.fixture(autouse=True)
def _without_request():
    """Begin as a thread without a request; nothing else needs to end one."""
    token = request_ids._current.set("")  # noqa: SLF001
    yield
    request_ids._current.reset(token)  # noqa: SLF001


def id_of(sent: str, peer: str = PROXY) -> str:
    environ = {"REMOTE_ADDR": peer, "HTTP_X_REQUEST_ID": sent}
    front.believe_proxy(environ)
    assert "HTTP_X_REQUEST_ID" not in environ
    return request_ids.current()


@each_case("sent", ["7b3fc0de-0d1e-4a7c-9c56-0242ac120002", "00f067aa0ba902b7", "a:b.c_d-e", "x"])
def test_a_trusted_proxys_id_is_used(sent):
    assert id_of(sent) == sent


def test_a_stranger_cannot_choose_an_id():
    assert len(id_of("chosen", peer=STRANGER)) == 32


HOSTILE = [
    *("", " ", "a b", "a\r\nSet-Cookie: x", "a\n", 'a"', "-rf", "../x", "x" * 129, "é", "\u202e"),
    *("%s", "{}", "a,b", "\x00", "<script>"),
]


@each_case("sent", HOSTILE)
def test_an_id_that_a_log_or_header_could_misread_is_replaced(sent):
    assert request_ids.USABLE.fullmatch(id_of(sent))
    assert request_ids.current() != sent


def test_each_request_has_its_own_id():
    assert len({id_of("", peer=STRANGER) for _each in range(100)}) == 100


@contextmanager
def logged(name: str):
    """Yield a function that returns what a logger has written, one object per line."""
    out, logger = io.StringIO(), logging.getLogger(name)
    handler = logging.StreamHandler(out)
    handler.setFormatter(logs.JSONFormatter())
    logger.addHandler(handler)
    try:
        yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
    finally:
        logger.removeHandler(handler)


@pytest.mark.django_db
def test_log_lines_of_the_service_have_the_sites_request_id():
    accounts.ensure_default(upstream.EMBEDDED_ACCOUNT, upstream.secret_digest(), timezone.now())
    client = connection.client_for(
        connection.ServiceAddress(
            connection.EMBEDDED_URL, Credentials(*upstream.credentials()), is_embedded=True
        )
    )
    request_ids.begin("outer-1")
    with logged("ferry.transfers") as lines:
        added = client.add_url("https://example.org/song.flac")
    assert [line["request_id"] for line in lines()] == ["outer-1"]
    assert lines()[0]["message"] == f"requested transfer={added.id} kind=url"


@pytest.mark.django_db
def test_the_site_sends_its_id_to_a_foreign_service(monkeypatch):
    """A real one would need a certificate: only the socket below the client is replaced."""
    seen = []

    def answer(_transport, request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"result": True, "folders": [], "files": []})

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    address = connection.ServiceAddress(
        "https://storage.example", Credentials("me", "secret"), is_embedded=False
    )
    for begun in ("outer-2", None):
        if begun:
            request_ids.begin(begun)
        else:
            request_ids._current.set("")  # noqa: SLF001
        connection.client_for(address).listing()
    assert [each.headers.get("X-Request-Id") for each in seen] == ["outer-2", None]
