"""Call v1 in this process, unless another service is configured."""

import hmac
import io
from collections.abc import Iterator
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote_to_bytes

import httpx
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import connections
from django.http import HttpRequest, HttpResponseBase
from django.urls import set_script_prefix
from django.utils import timezone

from common.passwords import digest_of
from config.embedded import service
from service.accounts import accounts
from service.http.responses import IN_PROCESS

# A name, not an address that receives mail.
EMBEDDED_ACCOUNT = "ferry@localhost"
URL = "http://localhost"


def credentials() -> tuple[str, str]:
    """Return the site's own key to the embedded account, separate from the account's password."""
    secret = hmac.digest(settings.SECRET_KEY.encode(), b"ferry embedded account", "sha256")
    return EMBEDDED_ACCOUNT, secret.hex()


def secret_digest() -> str:
    """Return what the service stores of the secret."""
    _email, secret = credentials()
    return digest_of(secret)


def set_password(password: str | None) -> None:
    """Set the password for other programs, or remove it with None. Signed links stop working."""
    accounts.set_password(accounts.find(EMBEDDED_ACCOUNT), password)


def set_space(size_bytes: int) -> None:
    accounts.set_space(accounts.find(EMBEDDED_ACCOUNT), size_bytes, timezone.now())


def end_links() -> None:
    accounts.end_links(EMBEDDED_ACCOUNT)


def transport(request: HttpRequest | None = None) -> "InProcess":
    """Return a transport for a request of the site, or without one for commands and the worker."""
    if request is None:
        return InProcess()
    address = request.META.get("REMOTE_ADDR", "")
    return InProcess(request.scheme or "http", request.get_host(), address)


@dataclass(frozen=True)
class InProcess(httpx.BaseTransport):
    """A transport to v1 in this process: a Django request inside the one that needs its response.

    Guarantee: the service sees what it would see over a socket (method, path, headers, body), with
    the scheme, host, prefix, and client address of the outer request, so that its links use
    the host that the browser used. The outer request keeps its language, its script prefix, and its
    database connection: view, body, and close run in one copy of the context, and Django's signals
    for the start and end of a request, which close connections, are not sent. Bodies are streamed
    both ways: 1 GiB up or down costs a few blocks of memory. A response that breaks off raises
    httpx.ReadError, as it would over a socket.

    Reason: a process that calls itself over a socket takes two of its threads for one page. Once
    pages hold all threads, none is left to answer: the process starves.

    Cost: call and view share the thread, hence its database connection. Inside `atomic()`, the
    caller could roll back what the service has promised, so the transport refuses there. It returns
    redirects, which the caller may follow. `read timeout` has no effect.

    Rejected: httpx.WSGITransport (reads whole uploads into memory, and WSGIHandler closes the
    outer connection), calling the service's functions (the site would work with no other v1),
    a separate thread for each call (a second connection, and SQLite has one writer).
    """

    # Of the request that the site is answering.
    scheme: str = "http"
    host: str = "localhost"
    address: str = "127.0.0.1"

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        refuse_in_transaction()
        if not isinstance(request.stream, httpx.SyncByteStream):
            raise TypeError("An asynchronous body can't be read here")
        context = copy_context()
        response = context.run(answer, self._environ_of(request, request.stream))
        body = ResponseStream(response, context, is_sent=request.method != "HEAD")
        cookies = [("Set-Cookie", each.OutputString()) for each in response.cookies.values()]
        headers = [*response.items(), *cookies]
        file = {"file_to_stream": getattr(response, "file_to_stream", None)}
        return httpx.Response(response.status_code, headers=headers, stream=body, extensions=file)

    def _environ_of(self, request: httpx.Request, body: httpx.SyncByteStream) -> dict[str, Any]:
        path, _, query = request.url.raw_path.partition(b"?")
        return {
            **headers_of(request),
            IN_PROCESS: True,
            "REQUEST_METHOD": request.method,
            "PATH_INFO": unquote_to_bytes(path).decode("iso-8859-1"),
            "QUERY_STRING": query.decode("iso-8859-1"),
            "REMOTE_ADDR": self.address,
            "HTTP_HOST": self.host,
            "wsgi.url_scheme": self.scheme,
            "wsgi.input_terminated": True,
            "wsgi.input": io.BufferedReader(Input(iter(body))),
        }


def refuse_in_transaction() -> None:
    """Refuse as `atomic(durable=True)` does: the transaction around a whole test doesn't count."""
    for connection in connections.all(initialized_only=True):
        blocks = connection.atomic_blocks
        if blocks and not blocks[-1]._from_testcase:  # type: ignore[attr-defined]  # noqa: SLF001
            raise RuntimeError("A call of v1 inside atomic(): its effects could be rolled back")


def headers_of(request: httpx.Request) -> dict[str, str]:
    """Return the headers without proxy headers, which already apply to the outer request."""
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        key = name.upper().replace("-", "_")
        if not key.startswith("X_FORWARDED"):
            own = key in ("CONTENT_TYPE", "CONTENT_LENGTH")
            headers[key if own else f"HTTP_{key}"] = value
    return headers


class Input(io.RawIOBase):
    """A body that arrives in pieces, as the file that WSGI wants."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def answer(environ: dict[str, Any]) -> HttpResponseBase:
    service.mount(environ, settings.URL_PREFIX)
    service.fold_slashes(environ)
    set_script_prefix(f"{environ['SCRIPT_NAME']}/")
    return service.handler().get_response(WSGIRequest(environ))


class ResponseStream(httpx.SyncByteStream):
    def __init__(self, response: HttpResponseBase, context: Context, *, is_sent: bool) -> None:
        self._response = response
        self._context = context
        self._is_sent = is_sent

    def __iter__(self) -> Iterator[bytes]:
        if not self._is_sent:
            return
        pieces: Iterator[bytes] = self._context.run(iter, self._response)
        while (piece := self._context.run(self._next, pieces)) is not None:
            yield piece

    @staticmethod
    def _next(pieces: Iterator[bytes]) -> bytes | None:
        try:
            return next(pieces, None)
        except Exception as error:
            raise httpx.ReadError("The service broke off its answer") from error

    def close(self) -> None:
        """Close without HttpResponse.close(), which signals to Django that a request has ended."""
        closers = cast("Any", self._response)._resource_closers  # noqa: SLF001
        while closers:
            with suppress(Exception):
                self._context.run(closers.pop(0))
