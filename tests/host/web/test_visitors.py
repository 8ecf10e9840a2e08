"""Who sends a request, judged by its head: nothing that a stranger writes there helps them."""

import ipaddress

import pytest

from host.web.visitor_limits import VisitorKind
from host.web.visitors import Sessions, caller_of, network_of_peer, person_of
from tests.cases import each_case

KEY = "0dq079mvfgzqokody7j6qk8xiplovibu"


def head(target: str = "/", *lines: str, method: str = "GET") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


@each_case("target", ["/healthz", "/readyz"])
def test_a_health_check_is_recognized_by_its_path(target):
    assert caller_of(head(target), "192.0.2.1").visitor.kind is VisitorKind.HEALTH_CHECK
    assert (
        caller_of(head(target, method="HEAD"), "192.0.2.1").visitor.kind is VisitorKind.HEALTH_CHECK
    )


@each_case(
    "sent",
    [
        head("/healthz/"),
        head("/healthzz"),
        head("/?/healthz"),
        head("/signin/", "X: GET /healthz HTTP/1.1"),
        head("/healthz", "Content-Length: 9"),
        head("/healthz", "transfer-encoding: chunked"),
        head("/healthz", method="POST"),
    ],
)
def test_a_path_that_resembles_a_health_check_counts_as_a_stranger(sent):
    assert caller_of(sent, "192.0.2.1").visitor.kind is VisitorKind.STRANGER


@each_case(
    ("peer", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
    ],
)
def test_all_addresses_of_a_home_network_count_as_one(peer, network):
    assert network_of_peer(peer) == network
    assert caller_of(head(), peer).visitor.network == network


def test_the_client_of_a_trusted_proxy_is_counted_and_no_stranger_can_name_another(settings):
    sent = head("/", "X-Forwarded-For: 198.51.100.7", "x-forwarded-for: 203.0.113.5")
    assert caller_of(sent, "192.0.2.1").visitor.network == "192.0.2.1"
    settings.TRUSTED_PROXIES = [ipaddress.ip_network("192.0.2.0/24")]
    assert caller_of(sent, "192.0.2.1").visitor.network == "203.0.113.5"
    in_the_body = sent + b"\r\nX-Forwarded-For: 198.51.100.9\r\n"
    assert caller_of(in_the_body, "192.0.2.1").visitor.network == "203.0.113.5"
    assert network_of_peer("192.0.2.1") == ""


@each_case("suffix", ["", "_s"])
def test_a_session_is_found_among_cookies(suffix):
    sent = head("/", f"Cookie: a=b; ferry_session_8000{suffix}={KEY}; c=d")
    assert caller_of(sent, "192.0.2.1").session_key == KEY
    other = head("/", f"X-Cookie: ferry_session_8000={KEY}", f"Cookie: ferry_session_80={KEY}")
    assert caller_of(other, "192.0.2.1").session_key == ""


@pytest.mark.django_db
def test_only_a_signed_in_session_counts(alice):
    key = alice.client.session.session_key
    assert person_of(key).is_authenticated
    assert not person_of(KEY).is_authenticated
    alice.client.post("/signout/")
    assert not person_of(key).is_authenticated


def test_looked_up_visitors_are_cached():
    sessions = Sessions()
    assert sessions.get(KEY) is None
    sessions.remember(KEY, is_anybodys=True)
    assert sessions.get(KEY) is True
