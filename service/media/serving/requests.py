"""Requests from web processes to a worker, of this machine or of another one."""

import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings

from common.storage import database_connection
from service import signals
from service.errors import Busy, CannotConvert, NotFound, NoWorker, Refusal
from service.media.serving import local_socket, signed_requests
from service.media.serving.signed_requests import SignedExchange

Facts = dict[str, Any]

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
def calling(address: str, timeout_seconds: float) -> Iterator[SignedExchange]:
    if address:
        connecting = signed_requests.calling(address, timeout_seconds)
    else:
        connecting = local_socket.calling(Path(settings.DATA_DIR), timeout_seconds)
    with connecting as connection:
        yield SignedExchange(connection)


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
