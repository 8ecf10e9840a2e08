"""Row 24, its last event: a restart of Ferry ends no grant."""

from http.cookies import SimpleCookie

import httpx
import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.test import Client

from config.embedded import upstream
from service.models import Account
from service.store.blobs import library_store
from tests import databases
from tests.attacks import test_24_grants as table
from tests.people import PASSWORD, SignedIn
from tests.running import Ferry, free_port, running
from tests.service.builders import a_file, put
from webui.models import Role, User

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
CSRF_TOKEN = "a" * 32


class OverSockets:
    """A handler of Django's test clients that sends requests to a running Ferry."""

    def __init__(self, ferry: Ferry, api: httpx.Client) -> None:
        self._ferry = ferry
        self._api = api

    def __call__(self, environ: dict) -> HttpResponse:
        request = WSGIRequest(environ)
        headers = {name: value for name, value in request.headers.items() if name != "Host"}
        headers["X-CSRFToken"] = CSRF_TOKEN
        cookies = f"{headers.get('Cookie', '')}; ferry_csrf_{self._ferry.port}={CSRF_TOKEN}"
        headers["Cookie"] = cookies.removeprefix("; ")
        url = f"{self._ferry.url}{request.get_full_path()}"
        found = self._api.request(request.method, url, headers=headers, content=request.body)
        self._api.cookies.clear()  # Each test client keeps its own cookies.
        response = HttpResponse(found.content, status=found.status_code)
        for name, value in found.headers.multi_items():
            if name == "set-cookie":
                response.cookies.update(SimpleCookie(value))
            else:
                response[name] = value
        response.wsgi_request = request
        return response


def signed_in(name: str) -> SignedIn:
    user = User.objects.create_user(name, PASSWORD, Role.OWNER)
    client = table.stranger()
    client.post("/signin/", {"username": name, "password": PASSWORD})
    assert table.is_in(client)
    return SignedIn(user, client)


def of_service(path: str, **headers: str) -> int:
    return Client().get(path, headers=headers).status_code


def test_a_restart_ends_no_grant(tmp_path, settings, monkeypatch):
    """The functions of the table make their grants at a running Ferry, not in this process."""
    port = free_port()
    monkeypatch.setattr(table, "DEVICE_COOKIE", f"ferry_device_{port}")
    monkeypatch.setattr(table, "of_service", of_service)
    names = table.GRANTS.keys() - {"signed-in device that no list shows"}
    ferry_of_this_test = {"PORT": str(port), "DATABASE_URL": databases.shared_url()}
    with httpx.Client(trust_env=False, timeout=60) as api:
        with running(tmp_path, **ferry_of_this_test) as ferry:
            handler = OverSockets(ferry, api)
            monkeypatch.setattr("django.test.client.ClientHandler", lambda _csrf: handler)
            settings.DATA_DIR = tmp_path
            account = Account.objects.get(email=upstream.EMBEDDED_ACCOUNT)
            film = a_file(account, "Film.mkv", blob=put(library_store(), b"a film"))
            # A sign-in link replaces a pairing link, so it is for Alice.
            olga, alice = signed_in("olga"), signed_in("alice")
            opens = {
                name: table.GRANTS[name](alice if name == "sign-in link" else olga, film)
                for name in table.GRANTS
                if name in names
            }
        with running(tmp_path, **ferry_of_this_test):
            # This process checks the remembered device's cookie, with the key that Ferry stored.
            settings.SECRET_KEY = (tmp_path / "secret_key").read_text()
            assert {name for name in names if opens[name]()} == names
