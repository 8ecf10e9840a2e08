"""While the site shows another service, the embedded service serves no one."""

import io
import json

import httpx
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import RequestFactory
from django.utils import timezone

from config import wsgi
from config.embedded import service, upstream
from service.content import signed_links
from service.store.blobs import library_store
from tests.service.builders import a_file, alice, put
from webui.connection import connection

pytestmark = pytest.mark.django_db
URL = "https://me%40example.org:secret@storage.example"
PATHS = ["/rest", "/rest/", "/rest/folder", "//rest//folder", "/rest/openapi.json"]


@pytest.fixture(autouse=True)
def _one_database():
    """As Django's test client does: the test's database connection outlives its requests."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


def ask(path: str, method: str = "GET", query: str = "") -> tuple[int, dict, bytes]:
    """Send a request through `wsgi.application`, as a socket would."""
    response = {}

    def start_response(status, headers, *_error):
        response["status"], response["headers"] = int(status[:3]), dict(headers)

    environ = RequestFactory().generic(method, "/", headers={"host": "localhost"}).environ
    environ |= {"PATH_INFO": path, "QUERY_STRING": query, "wsgi.input": io.BytesIO()}
    answer = wsgi.application(environ, start_response)
    body = b"".join(answer)
    answer.close()
    return response["status"], response["headers"], body


@pytest.mark.parametrize("path", PATHS)
def test_the_embedded_service_answers_and_a_foreign_one_turns_it_off(settings, path):
    assert ask(path)[0] in (200, 401)
    settings.SERVICE_URL = URL
    status, headers, body = ask(path)
    assert status == 404
    assert headers["Content-Type"].startswith("application/json")
    assert json.loads(body)["reason_phrase"] == "not_found"


def test_links_to_content_are_off_as_well(settings):
    file = a_file(alice(), blob=put(library_store(), b"herring"))
    link = signed_links.file_link(file.account, file, now=timezone.now())
    path, _, query = link.partition("?")
    assert (ask(path, query=query)[0], ask(path, query=query)[2]) == (200, b"herring")
    settings.SERVICE_URL = URL
    status, headers, body = ask(path, query=query)
    assert (status, headers["Content-Type"]) == (404, "application/json")
    assert b"herring" not in body


@pytest.mark.parametrize("method", ["POST", "DELETE", "HEAD", "PUT"])
def test_it_is_off_for_every_method(settings, method):
    assert ask("/rest/folder", method)[0] in (401, 405)
    settings.SERVICE_URL = URL
    status, headers, body = ask("/rest/folder", method)
    assert status == 404
    assert int(headers["Content-Length"]) > 0
    assert (body == b"") == (method == "HEAD")


def test_a_stored_connection_turns_it_off_and_forgetting_it_on():
    assert ask("/rest/folder")[0] == 401
    connection.store("https://storage.example", "me@example.org", "herring")
    assert ask("/rest/folder")[0] == 404
    connection.disconnect()
    assert ask("/rest/folder")[0] == 401


def test_only_a_whole_prefix_is_taken_from_a_path():
    """Some proxies remove the prefix, and then a page's own name may begin like it."""

    def mounted(path: str) -> tuple[str, str]:
        environ = {"PATH_INFO": path}
        service.mount(environ, "/f")
        return environ["SCRIPT_NAME"], environ["PATH_INFO"]

    expected = {
        "/f": "/",
        "/f/": "/",
        "/f/files/7/": "/files/7/",
        "/files/7/": "/files/7/",
        "/f/f/": "/f/",
        "": "/",
    }
    assert {path: mounted(path) for path in expected} == {
        path: ("/f", rest) for path, rest in expected.items()
    }


def test_the_pages_stay(settings):
    settings.SERVICE_URL = URL
    assert ask("/healthz")[0] == 200
    assert ask("/signin/")[0] == 200


def test_the_site_reaches_it_even_where_a_process_has_not_noticed_yet(monkeypatch):
    # As in the second before a process notices the change.
    monkeypatch.setattr(connection, "_known", (float("inf"), False))
    assert ask("/rest/folder")[0] == 404
    request = httpx.Request("GET", "http://localhost/rest/folder")
    assert upstream.transport().handle_request(request).status_code == 401


def test_no_header_admits_a_stranger(settings):
    settings.SERVICE_URL = URL
    for name in (service.IN_PROCESS, service.IN_PROCESS.upper(), "Ferry-In-Process"):
        request = RequestFactory().get("/rest/folder", headers={"host": "localhost", name: "1"})
        assert service.handler().get_response(request).status_code == 404
