"""Requests from web processes to the worker: one line each way."""

import json
import select
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings

from service import database_connection, signals
from service.errors import Busy, CannotConvert, NotFound, NoWorker, Refusal
from service.media.local_socket import calling

Facts = dict[str, Any]

MOST_LINE_BYTES = 2**20
TELL_SECONDS = 1


def ask(
    kind: str, timeout_seconds: float, client: socket.socket | None = None, **question: Any
) -> Facts:
    """Ask the worker, from a web process. Raises NoWorker, Busy, CannotConvert, NotFound.

    If the client disconnects meanwhile, hang up, so that the worker stops working for it: players
    abandon segments when their viewers seek.
    """
    began_at = time.monotonic()
    failure: Exception | None = None
    try:
        return _ask(kind, timeout_seconds, client, question)
    except Exception as error:
        failure = error
        raise
    finally:
        seconds = time.monotonic() - began_at
        signals.media_requested.send(None, kind=kind, seconds=seconds, failure=failure)


def _ask(kind: str, timeout_seconds: float, client: socket.socket | None, question: Facts) -> Facts:
    database_connection.give_back()
    try:
        with calling(Path(settings.DATA_DIR), timeout_seconds) as connection:
            connection.sendall(line_of({"kind": kind, **question}))
            if client is not None:
                await_reply(connection, client, timeout_seconds)
            reply = read_line(connection)
    except TimeoutError as late:
        raise Busy from late
    except (OSError, ValueError) as gone:
        raise NoWorker from gone
    if "answer" in reply:
        return dict(reply["answer"])
    raise refusal_in(reply)


def tell(kind: str, **question: Any) -> None:
    """Send the worker a question, and don't wait for the answer. Without a worker, do nothing."""
    with suppress(OSError), calling(Path(settings.DATA_DIR), TELL_SECONDS) as connection:
        connection.sendall(line_of({"kind": kind, **question}))


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


def line_of(facts: Facts) -> bytes:
    return json.dumps(facts, separators=(",", ":")).encode() + b"\n"


def read_line(connection: socket.socket) -> Facts:
    """Read one line of JSON. Raises OSError, ValueError."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = connection.recv(65536)
        if not piece or len(line) > MOST_LINE_BYTES:
            raise ConnectionError("cut off")
        line += piece
    document = json.loads(line)
    return document if isinstance(document, dict) else {}
