"""The page that helps a device trust Ferry's https, and the way there."""

import plistlib
from dataclasses import replace

import pytest
from django.conf import settings as site
from django.test import Client

from common import host as hosts
from common.host import Https, host
from host.tls import authority
from tests.cases import each_case
from tests.people import page, words
from webui.models import Pairing

pytestmark = pytest.mark.django_db
ROOT = b"root in DER"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604.1"
SECURE = {"secure": True, "headers": {"host": "ferry.local:8443"}, "SERVER_PORT": "8443"}
PLAIN = {"headers": {"host": "ferry.lan:8000"}}


@pytest.fixture(autouse=True)
def names(settings):
    settings.TRUSTED_HOSTS = ["ferry.lan", "ferry.local"]
    settings.HTTPS_PORT = 8443


@pytest.fixture
def serve(monkeypatch):
    """Let the host have https. The tests themselves listen nowhere."""

    def set_https(root=ROOT, port=8443):
        https = Https(port=lambda: port, best_host=lambda name: name, root=lambda: root)
        changed = replace(host(), https=https)
        # Its parts are functions that look at ports and files of the machine.
        monkeypatch.setattr(hosts, "_make", lambda: changed)

    set_https()
    return set_https


def steps(answer) -> str:
    return page(answer).select_one("main h2 + ol").text


@each_case(
    ("agent", "expected"),
    [
        (PHONE, "Certificate Trust Settings"),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/156.0", "Install anyway"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/156.0", "Trusted Root"),
        ("Mozilla/5.0 (Windows NT 10.0; rv:153.0) Firefox/153.0", "Authorities"),
        ("Mozilla/5.0 (Macintosh) Safari/605", "Always Trust"),
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0", "certificate-manager"),
    ],
)
def test_it_shows_the_steps_of_the_device_first(agent, expected, serve, mallory):
    answer = mallory.get("/secure/", headers={"user-agent": agent, **PLAIN["headers"]})
    assert expected in steps(answer)
    assert len(page(answer).select("details")) == 5


def test_its_policy_allows_the_picture_that_shows_whether_it_works(serve, mallory):
    answer = mallory.get("/secure/", **PLAIN)
    assert "img-src 'self' https://ferry.lan:8443;" in answer["Content-Security-Policy"]
    probe = page(answer).select_one("[data-probe]")["data-probe"]
    assert probe.startswith("https://ferry.lan:8443/static/")
    mallory.get("/secure/", headers={"host": "[::1]:8000"})
    assert mallory.get("/secure/", headers={"host": "[::1]"}).status_code == 200


def test_without_https_there_is_no_page_and_no_link(serve, mallory, alice):
    assert page(mallory.get("/signin/", **PLAIN)).select_one("a[href='/secure/']")
    assert page(alice.client.get("/account/", **PLAIN)).select_one("a[href='/secure/']")
    serve(port=None)
    for path in ("/secure/", "/secure/ferry.crt", "/secure/ferry.mobileconfig"):
        assert mallory.get(path, **PLAIN).status_code == 404
    assert not page(mallory.get("/signin/", **PLAIN)).select_one("a[href='/secure/']")
    assert not page(alice.client.get("/account/", **PLAIN)).select_one("a[href='/secure/']")


def test_behind_a_proxy_with_https_there_is_no_page(serve, mallory):
    behind = {"secure": True, "headers": {"host": "ferry.lan"}}
    assert mallory.get("/secure/", **behind).status_code == 404
    assert not page(mallory.get("/signin/", **behind)).select_one("a[href='/secure/']")


def test_it_offers_the_certificate_as_each_system_takes_it(serve, mallory):
    answer = mallory.get("/secure/ferry.crt", **PLAIN)
    assert (answer["Content-Type"], answer.content) == ("application/x-x509-ca-cert", ROOT)
    answer = mallory.get("/secure/ferry.mobileconfig", **PLAIN)
    assert answer["Content-Type"] == "application/x-apple-aspen-config"
    profile = plistlib.loads(answer.content)
    assert profile["PayloadContent"][0]["PayloadContent"] == ROOT
    again = plistlib.loads(mallory.get("/secure/ferry.mobileconfig", **PLAIN).content)
    assert again["PayloadUUID"] == profile["PayloadUUID"]


def test_an_owners_own_certificate_needs_no_steps(serve, mallory):
    serve(root=None)
    answer = mallory.get("/secure/", **PLAIN)
    assert not page(answer).select("main ol")
    assert mallory.get("/secure/ferry.crt", **PLAIN).status_code == 404


def test_over_https_it_says_that_the_device_is_secure(serve, mallory):
    answer = mallory.get("/secure/", **SECURE)
    assert "This device trusts Ferry" in words(answer, "main")
    assert not page(answer).select("main ol")


# From http to https


def moved(person) -> str:
    """Return the link that a person gets, as a path."""
    answer = person.client.post("/secure/move/", **PLAIN)
    return page(answer).select_one("a.primary")["href"].removeprefix("https://ferry.lan:8443")


def enter(path: str, cookie: str):
    client = Client()
    client.cookies[site.SESSION_COOKIE_NAME] = cookie
    return client, client.get(path, **SECURE)


def test_the_browser_that_asked_is_signed_in(serve, bob):
    path = moved(bob)
    client, answer = enter(path, bob.client.session.session_key)
    assert (answer.status_code, answer["Location"]) == (302, "/secure/")
    cookie = answer.cookies[f"{site.SESSION_COOKIE_NAME}_s"]
    assert cookie["secure"]
    assert cookie.value != bob.client.session.session_key
    assert client.get("/account/", **SECURE).status_code == 200
    assert bob.client.get("/account/", **PLAIN).status_code == 200
    _client, second = enter(path, bob.client.session.session_key)
    assert "Location" not in second or second["Location"] != "/secure/"


@pytest.mark.parametrize("cookie", ["", "another"])
def test_another_browser_has_to_confirm(cookie, serve, bob):
    path = moved(bob)
    _client, answer = enter(path, cookie)
    assert answer["Location"] == path.removesuffix("secure/")
    assert Pairing.objects.get().used_at is None


def test_the_link_ends_with_the_session(serve, bob):
    path, key = moved(bob), bob.client.session.session_key
    bob.client.post("/signout/")
    client, _answer = enter(path, key)
    assert client.get("/account/", **SECURE).status_code == 302


def test_scripts_are_sent_there_at_once(serve, bob):
    answer = bob.client.post("/secure/move/", headers={"hx-request": "true", "host": "ferry.lan"})
    assert answer["HX-Redirect"].startswith("https://ferry.lan:8443/pair/")


def test_strangers_get_no_link(serve, mallory):
    assert "/signin/" in mallory.post("/secure/move/", **PLAIN)["Location"]


def test_the_authority_command_prints_a_certificate(capsys, tmp_path, settings):
    from django.core.management import call_command  # noqa: PLC0415

    settings.DATA_DIR = tmp_path
    call_command("authority")
    printed = capsys.readouterr().out
    assert printed.encode() == authority.pem_of(
        authority.x509.load_pem_x509_certificate(printed.encode())
    )
    call_command("authority")
    assert capsys.readouterr().out == printed
