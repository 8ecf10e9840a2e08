"""Answer requests in threads. A response frees its thread while its client reads nothing."""

import errno
import os
import selectors
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from typing import Any

from gunicorn.http import wsgi  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from common.http import request_ids
from host.web.connections import Answer, ClientConnection
from host.web.transmission import Outbox, Steps, send_file, splice

GONE = (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN)
NO_BODY = (204, 304)
# How long a response keeps its thread while its client takes everything at once.
TURN_SECONDS = 1
# How often the site is asked whether a response may go on, if it wants to be asked.
ASK_SECONDS = 1
PARKED = object()
"""The outcome of a thread whose response waits for its client."""


class AnsweringWorker(ThreadWorker):  # type: ignore[misc]
    """A gunicorn worker whose responses are generators, resumed when they can go on."""

    def handle(self, conn: ClientConnection) -> object:
        if conn.answer is None:
            return super().handle(conn)
        request_ids.resume(conn.request_id)
        try:
            return self._keepalive_after(conn, go_on(conn, conn.answer))
        except OSError as trouble:
            if trouble.errno not in GONE:
                self.log.exception("Socket error sending a response.")
            return False

    def handle_request(self, req: Any, conn: ClientConnection) -> object:
        if conn.is_https:
            req.scheme = "https"
        self.cfg.pre_request(self, req)
        return go_on(conn, self._answer(req, conn))

    def _keepalive_after(self, conn: ClientConnection, outcome: object) -> object:
        return PARKED if outcome is PARKED else super()._keepalive_after(conn, outcome)

    def _answer(self, req: Any, conn: ClientConnection) -> Answer:
        """Call the site, and send its response. Return whether the connection may be reused."""
        outbox = Outbox()
        response, environ = wsgi.create(req, outbox, conn.client, conn.server, self.cfg)
        environ |= {"wsgi.multithread": True, "gunicorn.socket": conn.sock}
        if not self.alive:
            response.force_close()
        try:
            body = self.wsgi(environ, response.start_response)
            may_go_on = environ.get("ferry.may_go_on")
            del environ
            with closing(body) if hasattr(body, "close") else nullcontext():
                conn.sock.setblocking(False)
                steps = send(response, body, outbox, conn)
                yield from while_allowed(steps, may_go_on) if may_go_on else steps
        except Exception as trouble:
            if isinstance(trouble, OSError) or not response.headers_sent:
                raise
            self.log.exception("Error handling request")
            raise ConnectionResetError(errno.ECONNRESET, "the response broke off") from trouble
        finally:
            # Our hook reads nothing else from the environment.
            self.cfg.post_request(self, req, {"gunicorn.socket": conn.sock}, response)
        return not response.should_close()


def go_on(conn: ClientConnection, answer: Answer) -> object:
    """Continue a response until it is over, has to wait, or has used up its turn."""
    conn.answer = None
    turn_ends_at = time.monotonic() + TURN_SECONDS
    try:
        while (wait := next(answer)) is None and time.monotonic() < turn_ends_at:
            pass
    except StopIteration as end:
        return end.value
    conn.answer, conn.wait = answer, wait or (conn.sock, selectors.EVENT_WRITE)
    conn.request_id = request_ids.current()
    return PARKED


def while_allowed(steps: Steps, may_go_on: Callable[[], bool]) -> Steps:
    """Break the response off once it may not go on."""
    due_at = time.monotonic() + ASK_SECONDS
    for step in steps:
        if time.monotonic() >= due_at:
            if not may_go_on():
                raise ConnectionResetError(errno.ECONNRESET, "the response may not go on")
            due_at = time.monotonic() + ASK_SECONDS
        yield step


def send(response: Any, body: Any, outbox: Outbox, conn: ClientConnection) -> Steps:
    if response.req.method == "HEAD" or response.status_code in NO_BODY:
        response.send_headers()
        yield from outbox.empty_into(conn.sock)
        return
    if is_file(body) and response.response_length:
        response.send_headers()
        yield from outbox.empty_into(conn.sock)
        yield from send_file(body.filelike, response.response_length, conn.sock)
        return
    find_rest: Callable[[], Any] = getattr(body, "rest", lambda: None)
    for piece in body:
        response.write(piece)
        yield from outbox.empty_into(conn.sock)
        rest: Any = None if conn.is_https else find_rest()
        is_exact = rest and response.sent + rest.size_bytes == response.response_length
        # If the service breaks off, the next piece is the error.
        if is_exact and (yield from splice(rest.source, rest.size_bytes, conn.sock)):
            return
        yield None
    response.close()
    yield from outbox.empty_into(conn.sock)


def is_file(body: Any) -> bool:
    if not isinstance(body, wsgi.FileWrapper):
        return False
    try:
        os.lseek(body.filelike.fileno(), 0, os.SEEK_CUR)
    except (AttributeError, OSError):
        return False
    return True
