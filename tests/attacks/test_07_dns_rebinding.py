"""Row 7: Ferry doesn't answer to a foreign host name that resolves to this machine."""

import pytest
from django.test import Client

from tests.cases import each_case
from tests.running import raw

FOREIGN = [
    "attacker.example",
    "attacker.example:8000",
    "attacker.example.",
    "ATTACKER.EXAMPLE",
    "localhost.attacker.example",
    "127.0.0.1.attacker.example",
    "[2001:db8::1]:8000",
    "203.0.113.9",
    "",
    " ",
    "localhost:port",
    "localhost@attacker.example",
    "localhost/attacker.example",
    "[::1",
    "0x7f000001",
    "xn--lcalhost-z1a",
]


@pytest.mark.django_db
@each_case("host", FOREIGN)
def test_a_foreign_host_gets_400(client, host):
    assert client.get("/healthz").status_code == 200
    assert Client(headers={"host": host}).get("/healthz").status_code == 400


def test_a_stranger_cannot_forward_a_host(db, client):
    for name in ("x-forwarded-host", "x-host", "forwarded"):
        answer = client.get("/signin/", headers={name: "attacker.example"})
        assert answer.status_code == 200
        assert b"attacker.example" not in answer.content


def request(*lines: str) -> bytes:
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode()


@pytest.mark.promise("a foreign host name is refused")
@each_case(
    "lines",
    [
        ("GET /healthz HTTP/1.1", "Host: localhost", "Host: attacker.example"),
        ("GET /healthz HTTP/1.1", "Host: attacker.example", "Host: localhost"),
        ("GET /healthz HTTP/1.1", "Host: "),
        ("GET /healthz HTTP/1.1",),
        ("GET /healthz HTTP/1.1", "Host: attacker.example", "X-Forwarded-Host: localhost"),
    ],
)
def test_no_trick_with_the_header_itself_gets_through(ferry, lines):
    good = raw(ferry.port, request("GET /healthz HTTP/1.1", "Host: localhost"))
    assert good.startswith(b"HTTP/1.1 200 ")
    assert raw(ferry.port, request(*lines)).startswith(b"HTTP/1.1 400 ")


def test_an_absolute_request_line_does_not_name_the_host(ferry):
    line = "GET http://attacker.example/signin/ HTTP/1.1"
    answer = raw(ferry.port, request(line, "Host: localhost"))
    assert b"attacker.example" not in answer
    refused = raw(ferry.port, request("GET http://localhost/ HTTP/1.1", "Host: attacker.example"))
    assert refused.startswith(b"HTTP/1.1 400 ")
