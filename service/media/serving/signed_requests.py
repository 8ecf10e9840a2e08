"""Requests to a worker: HTTP, signed with the key that all machines share.

Nothing in a question is secret, and asking again does no harm, so nothing is encrypted, and
machines' clocks may differ. The signature of an answer belongs to one question.
"""

import json
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any

from django.utils.crypto import constant_time_compare, salted_hmac

PATH = "/media-requests"
NONCE, SIGNATURE = "Ferry-Nonce", "Ferry-Signature"
MOST_BYTES = 2**20
CONNECT_SECONDS = 1.0
# Beyond this, the kernel drops connections, and another machine tries again too late.
BACKLOG = 1024


def sign(kind: str, nonce: str, body: bytes) -> str:
    salt = f"ferry media requests between machines: {kind}"
    return salted_hmac(salt, nonce.encode() + b"\n" + body, algorithm="sha256").hexdigest()


def is_signed(kind: str, nonce: str, body: bytes, signature: str | None) -> bool:
    return constant_time_compare(sign(kind, nonce, body), signature or "")


class SignedExchange:
    """A question for a worker, and its answer."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._http = HTTPConnection("worker")
        self._http.sock = connection
        self._nonce = secrets.token_hex(16)

    def send(self, question: dict[str, Any]) -> None:
        body = json.dumps(question).encode()
        signature = sign("question", self._nonce, body)
        self._http.request("POST", PATH, body, {NONCE: self._nonce, SIGNATURE: signature})

    def receive(self) -> dict[str, Any]:
        """Return the answer. Raises OSError, ValueError."""
        try:
            response = self._http.getresponse()
            body = response.read(MOST_BYTES)
        except HTTPException as nonsense:
            raise ValueError from nonsense
        if not is_signed("answer", self._nonce, body, response.headers[SIGNATURE]):
            raise ValueError("the answer isn't signed")
        return dict(json.loads(body))


@contextmanager
def calling(address: str, timeout_seconds: float) -> Iterator[socket.socket]:
    """Connect to a worker. Raises ConnectionError at once if it can't be reached."""
    try:
        connection = socket.create_connection(split_address(address), CONNECT_SECONDS)
    except OSError as unreachable:
        raise ConnectionError from unreachable
    with connection:
        # Head and body are sent apart; without this, the body would wait until the head arrived.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(timeout_seconds)
        yield connection


def listening_at(address: str) -> socket.socket:
    """Listen for other machines' questions."""
    host, port = split_address(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


def split_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
