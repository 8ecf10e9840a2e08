"""Requests between machines: HTTP, signed with the key that all of them share.

Nothing in a question is secret, and asking again does no harm, so nothing is encrypted, and
machines' clocks may differ. The signature of an answer belongs to one question.
"""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any

from django.utils.crypto import constant_time_compare, salted_hmac

PATH = "/media-requests"
NONCE, SIGNATURE = "Ferry-Nonce", "Ferry-Signature"
MOST_BYTES = 2**20
CONNECT_SECONDS = 1.0


def sign(kind: str, nonce: str, body: bytes) -> str:
    salt = f"ferry media requests between machines: {kind}"
    return salted_hmac(salt, nonce.encode() + b"\n" + body, algorithm="sha256").hexdigest()


def is_signed(kind: str, nonce: str, body: bytes, signature: str | None) -> bool:
    return constant_time_compare(sign(kind, nonce, body), signature or "")


class SignedExchange:
    """A question for the worker of another machine, and its answer."""

    def __init__(self, connection: HTTPConnection) -> None:
        self.socket = connection.sock
        self._connection = connection
        self._nonce = secrets.token_hex(16)

    def send(self, question: dict[str, Any]) -> None:
        body = json.dumps(question).encode()
        signature = sign("question", self._nonce, body)
        self._connection.request("POST", PATH, body, {NONCE: self._nonce, SIGNATURE: signature})

    def receive(self) -> dict[str, Any]:
        """Return the answer. Raises OSError, ValueError."""
        try:
            response = self._connection.getresponse()
            body = response.read(MOST_BYTES)
        except HTTPException as nonsense:
            raise ValueError from nonsense
        if not is_signed("answer", self._nonce, body, response.headers[SIGNATURE]):
            raise ValueError("the answer isn't signed")
        return dict(json.loads(body))


@contextmanager
def calling(address: str, timeout_seconds: float) -> Iterator[SignedExchange]:
    """Call a worker. Raises ConnectionError at once if it can't be reached."""
    connection = HTTPConnection(address, timeout=CONNECT_SECONDS)
    try:
        connection.connect()
    except OSError as unreachable:
        raise ConnectionError from unreachable
    try:
        connection.sock.settimeout(timeout_seconds)
        yield SignedExchange(connection)
    finally:
        connection.close()
