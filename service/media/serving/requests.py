"""Requests from web processes to a worker: HTTP, signed with the key that all machines share.

Nothing in a question is secret, and asking again does no harm, so nothing is encrypted, and
machines' clocks may differ. The signature of an answer belongs to one question.
"""

import json
import secrets
import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from common.storage import database_connection
from service import signals
from service.errors import Busy, CannotConvert, NotFound, NoWorker, Refusal
from service.media.serving import local_socket

Facts = dict[str, Any]

PATH = "/media-requests"
NONCE, SIGNATURE = "Ferry-Nonce", "Ferry-Signature"
MOST_BYTES = 2**20
CONNECT_SECONDS = 1.0
# Beyond this, the kernel drops connections, and another machine tries again too late.
BACKLOG = 1024
TELL_SECONDS = 1


def ask(
    kind: str,
    timeout_seconds: float,
    client: socket.socket | None = None,
    addresses: Sequence[str] = (),
    **question: Any,
) -> Facts:
    """Ask the worker, from a web process. Raises NoWorker, Busy, CannotConvert, NotFound.

    Ask at the first address whose worker is alive and not busy, or, without any, the worker of this
    machine. If the client disconnects meanwhile, hang up, so that the worker stops working for it:
    players abandon segments when their viewers seek.
    """
    began_at = time.monotonic()
    failure: Exception | None = None
    try:
        database_connection.give_back()
        return _ask_in_turn({"kind": kind, **question}, timeout_seconds, client, addresses)
    except Exception as error:
        failure = error
        raise
    finally:
        seconds = time.monotonic() - began_at
        signals.media_requested.send(None, kind=kind, seconds=seconds, failure=failure)


def _ask_in_turn(
    question: Facts, timeout_seconds: float, client: socket.socket | None, addresses: Sequence[str]
) -> Facts:
    deadline = time.monotonic() + timeout_seconds
    refusal: Refusal = NoWorker()
    for address in addresses or [""]:
        try:
            reply = _exchange(question, deadline - time.monotonic(), client, address)
        except NoWorker:
            continue
        if "answer" in reply:
            return dict(reply["answer"])
        refusal = refusal_in(reply)
        if not isinstance(refusal, Busy):
            break
    raise refusal


def _exchange(
    question: Facts, timeout_seconds: float, client: socket.socket | None, address: str
) -> Facts:
    """Ask at an address, or without one, on this machine. Raises NoWorker, Busy."""
    try:
        with calling(address, timeout_seconds) as exchange:
            exchange.send(question)
            if client is not None:
                await_reply(exchange.socket, client, timeout_seconds)
            return exchange.receive()
    except TimeoutError as late:
        raise Busy from late
    except (OSError, ValueError) as gone:
        raise NoWorker from gone


@contextmanager
def calling(address: str, timeout_seconds: float) -> Iterator["Exchange"]:
    """Call the worker at an address, or without one, of this machine. Raises OSError."""
    if address:
        call = connecting(address, timeout_seconds)
    else:
        call = local_socket.calling(Path(settings.DATA_DIR), timeout_seconds)
    with call as connection:
        yield Exchange(connection)


@contextmanager
def connecting(address: str, timeout_seconds: float) -> Iterator[socket.socket]:
    """Connect to another machine. Raises ConnectionError at once if it can't be reached."""
    try:
        connection = socket.create_connection(split_address(address), CONNECT_SECONDS)
    except OSError as unreachable:
        raise ConnectionError from unreachable
    with connection:
        # Head and body are sent apart; without this, the body would wait until the head arrived.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(timeout_seconds)
        yield connection


class Exchange:
    """A question for a worker, and its answer."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._http = HTTPConnection("worker")
        self._http.sock = connection
        self._nonce = secrets.token_hex(16)

    def send(self, question: Facts) -> None:
        body = json.dumps(question).encode()
        signature = sign("question", self._nonce, body)
        self._http.request("POST", PATH, body, {NONCE: self._nonce, SIGNATURE: signature})

    def receive(self) -> Facts:
        """Return the answer. Raises OSError, ValueError."""
        try:
            response = self._http.getresponse()
            body = response.read(MOST_BYTES)
        except HTTPException as nonsense:
            raise ValueError from nonsense
        if not is_signed("answer", self._nonce, body, response.headers[SIGNATURE]):
            raise ValueError("the answer isn't signed")
        return dict(json.loads(body))


def tell(kind: str, addresses: Sequence[str] = (), **question: Any) -> None:
    """Send the worker a question, and don't wait for the answer. Without a worker, do nothing."""
    address = addresses[0] if addresses else ""
    with suppress(OSError), calling(address, TELL_SECONDS) as exchange:
        exchange.send({"kind": kind, **question})


def await_reply(connection: socket.socket, client: socket.socket, timeout_seconds: float) -> None:
    """Wait until the worker replies. Raises Busy if it is late or the client disconnects."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    poll.register(client, select.POLLRDHUP)
    if connection.fileno() not in dict(poll.poll(timeout_seconds * 1000)):
        raise Busy


def sign(kind: str, nonce: str, body: bytes) -> str:
    salt = f"ferry media requests between machines: {kind}"
    return salted_hmac(salt, nonce.encode() + b"\n" + body, algorithm="sha256").hexdigest()


def is_signed(kind: str, nonce: str, body: bytes, signature: str | None) -> bool:
    return constant_time_compare(sign(kind, nonce, body), signature or "")


def encode_refusal(refusal: Refusal) -> Facts:
    why = refusal.why if isinstance(refusal, CannotConvert) else ""
    return {"refused": refusal.reason, "why": why}


def refusal_in(reply: Facts) -> Refusal:
    match reply.get("refused"):
        case CannotConvert.reason:
            return CannotConvert(str(reply.get("why", "")))
        case NotFound.reason:
            return NotFound()
    return Busy()


def listening_at(address: str) -> socket.socket:
    """Listen for other machines' questions."""
    host, port = split_address(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


def split_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
