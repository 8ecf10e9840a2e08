"""Row 14: guessing names and passwords, and choosing where sign-in leads.

For a flood over both processes, see tests/attacks/test_25_distributed_guessing.py.
"""

import pytest
from django.test import Client
from django.test.client import ClientHandler

from common.passwords import Argon2
from host.web import front
from tests.cases import each_case
from tests.people import PASSWORD
from tests.running import raw
from webui.signin import throttle

pytestmark = pytest.mark.django_db


class BehindTheFront(ClientHandler):
    """What the web server calls: `front.believe_proxy`, then the middleware and the views."""

    def __call__(self, environ):
        front.believe_proxy(environ)
        return super().__call__(environ)


def guess(name: str, address: str, **headers: str) -> int:
    browser = Client(headers={"host": "localhost", **headers})
    browser.handler = BehindTheFront(browser.handler.enforce_csrf_checks)
    form = {"username": name, "password": "guess"}
    return browser.post("/signin/", form, REMOTE_ADDR=address).status_code


def test_an_unknown_name_costs_as_much_work_as_a_known_one(alice, monkeypatch):
    work = []
    for step in ("encode", "verify"):
        real = getattr(Argon2, step)
        # From outside, the work shows only as time, which differs from sign-in to sign-in.
        monkeypatch.setattr(Argon2, step, lambda *a, real=real: work.append(1) or real(*a))

    def hashes(name: str) -> int:
        work.clear()
        assert guess(name, "10.1.0.1") == 422
        return len(work)

    assert hashes("alice") == hashes("nobody") == 1


@pytest.mark.slow
def test_ten_thousand_spoofed_addresses_evade_nothing(alice, clock):
    answers = [
        guess("alice", "198.51.100.7", **{"x-forwarded-for": f"10.0.{n // 250}.{n % 250}"})
        for n in range(throttle.FREE_BY_NAME + 5)
    ]
    assert answers[: throttle.FREE_BY_NAME] == [422] * throttle.FREE_BY_NAME
    assert set(answers[throttle.FREE_BY_NAME :]) == {429}


@pytest.mark.promise("a stranger's guesses slow no one else down")
@pytest.mark.slow
def test_spoofed_addresses_slow_no_one_else_down(alice, clock):
    for n in range(throttle.FREE_BY_NETWORK + 5):
        guess(f"name{n}", "198.51.100.7", **{"x-forwarded-for": "192.168.1.20"})
    assert guess("alice", "192.168.1.20") == 422


def test_a_whole_ipv6_network_counts_as_one(alice, clock):
    answers = {guess(f"n{n}", f"2001:db8::{n:x}") for n in range(throttle.FREE_BY_NETWORK + 1)}
    assert answers == {422, 429}


@pytest.mark.slow
def test_many_addresses_cannot_guess_at_one_name_for_ever(alice, clock):
    answers = [guess("alice", f"10.9.{n}.1") for n in range(throttle.FREE_BY_NAME + 1)]
    assert answers[-1] == 429
    assert set(answers[:-1]) == {422}


@pytest.mark.promise("sign-in leads to our own pages only")
@pytest.mark.slow
@each_case(
    "wanted",
    [
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https:evil.example",
        "https://evil.example/",
        "http://localhost@evil.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "/\t/evil.example",
        " //evil.example",
    ],
)
def test_next_leads_to_our_own_pages_only(alice, wanted):
    browser = Client(headers={"host": "localhost"})
    form = {"username": "alice", "password": PASSWORD, "next": "/account/"}
    assert browser.post("/signin/", form)["Location"] == "/account/"
    browser.post("/signout/")
    answer = browser.post("/signin/", {**form, "next": wanted})
    assert answer["Location"] == "/"


def test_a_long_password_is_not_even_hashed(alice, monkeypatch):
    hashed = []
    # From outside, a kilobyte that is hashed looks like one that isn't.
    monkeypatch.setattr(Argon2, "verify", lambda *_a: hashed.append(1))
    form = {"username": "alice", "password": "x" * 1025}
    assert Client(headers={"host": "localhost"}).post("/signin/", form).status_code == 422
    assert hashed == []


@pytest.mark.promise("a huge form is refused before it arrives")
@each_case("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_gigabyte_of_password_is_refused_before_it_arrives(ferry, kind):
    head = (
        "POST /signin/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Cookie: ferry_csrf_{ferry.port}={'c' * 32}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: 1073741824\r\n\r\n"
    )
    answer = raw(ferry.port, head.encode() + b"password=" + b"x" * 1000)
    assert answer.startswith(b"HTTP/1.1 413 ")
