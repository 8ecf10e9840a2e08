import ipaddress

import pytest
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.test import RequestFactory

from common.addresses import own as addresses
from host.web import front
from tests.cases import each_case

pytestmark = pytest.mark.django_db
PROXY = "10.1.1.1"
STRANGER = "198.51.100.7"


@pytest.fixture(autouse=True)
def _trusted(settings):
    settings.TRUSTED_PROXIES = [ipaddress.ip_network(PROXY)]


def seen_behind(**meta: str) -> HttpRequest:
    """Return the request as everything behind `front.believe_proxy` sees it."""
    environ = RequestFactory().get("/", **meta).environ
    front.believe_proxy(environ)
    return WSGIRequest(environ)


def test_a_trusted_proxy_tells_the_clients_address():
    request = seen_behind(REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_FOR=STRANGER)
    assert request.META["REMOTE_ADDR"] == STRANGER


def test_a_stranger_cannot_choose_an_address():
    request = seen_behind(REMOTE_ADDR=STRANGER, HTTP_X_FORWARDED_FOR="127.0.0.1")
    assert request.META["REMOTE_ADDR"] == STRANGER
    assert "HTTP_X_FORWARDED_FOR" not in request.META


def test_forwarded_headers_from_the_client_are_not_trusted():
    chain = f"127.0.0.1, {STRANGER}, {PROXY}"
    request = seen_behind(REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_FOR=chain)
    assert request.META["REMOTE_ADDR"] == STRANGER


def test_an_invalid_chain_leaves_its_last_valid_address():
    request = seen_behind(REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_FOR=f"<script>, {PROXY}")
    assert request.META["REMOTE_ADDR"] == PROXY


@each_case(
    ("forwarded", "address"),
    [
        ("1.2.3.4:5678", "1.2.3.4"),
        ("[2001:db8::1]:567", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
    ],
)
def test_the_port_after_a_forwarded_address_is_dropped(forwarded, address):
    request = seen_behind(REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_FOR=f"{STRANGER}, {forwarded}")
    assert request.META["REMOTE_ADDR"] == address


def test_https_is_believed_of_a_trusted_proxy_only():
    assert seen_behind(REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_PROTO="https").is_secure()
    assert not seen_behind(REMOTE_ADDR=STRANGER, HTTP_X_FORWARDED_PROTO="https").is_secure()
    assert seen_behind(REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_PROTO="ftp").scheme == "http"


def test_the_host_is_believed_of_a_trusted_proxy_only():
    behind_proxy = seen_behind(REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_HOST="ferry.example")
    assert behind_proxy.META["HTTP_HOST"] == "ferry.example"
    of_stranger = seen_behind(REMOTE_ADDR=STRANGER, HTTP_X_FORWARDED_HOST="ferry.example")
    assert "ferry.example" not in of_stranger.META.values()


def test_an_ipv4_mapped_ipv6_address_is_the_same_proxy():
    request = seen_behind(REMOTE_ADDR=f"::ffff:{PROXY}", HTTP_X_FORWARDED_FOR=STRANGER)
    assert request.META["REMOTE_ADDR"] == STRANGER


@each_case(
    "host",
    ["localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1:8000", "127.5.5.5", "[::1]:8000"],
)
def test_this_machine_knows_itself(host):
    assert front.is_ours(host)


@each_case(
    "host", ["my_pc.lan", "[127.0.0.1]", "localhost:", "LOCALHOST:80", "[::1]", "a.lan", "a lan"]
)
def test_django_accepts_every_host_that_is_ours(host, settings):
    settings.TRUSTED_HOSTS = ["my_pc.lan", "a.lan"]
    request = RequestFactory().get("/", headers={"host": host})
    if front.is_ours(host):
        assert request.get_host() == host
    else:
        with pytest.raises(DisallowedHost):
            request.get_host()


def test_this_machines_own_names_are_ours():
    assert addresses.names()
    for name in addresses.names():
        assert front.is_ours(name)
        assert front.is_ours(f"{name}:9000")


def test_allowed_hosts_may_name_a_host_or_all_below_a_domain(settings):
    settings.TRUSTED_HOSTS = ["ferry.example", ".home.example"]
    assert front.is_ours("ferry.example")
    assert front.is_ours("tv.home.example")
    assert not front.is_ours("evil-home.example")
    assert not front.is_ours("evilferry.example")
    assert not front.is_ours("tv.ferry.example")
    assert not front.is_ours("ferry.example.attacker.example")


def test_this_machines_own_addresses_are_ours(monkeypatch):
    # A test can't know the addresses of its machine.
    known = addresses.OwnAddresses()
    monkeypatch.setattr(addresses, "own_addresses", known)
    monkeypatch.setattr(addresses, "all_addresses", lambda: {ipaddress.ip_address("192.168.7.7")})
    assert front.is_ours("192.168.7.7:8000")
    assert not front.is_ours("192.168.7.8:8000")
