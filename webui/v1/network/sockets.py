"""Sockets with one deadline for a whole call, and addresses checked when they connect."""

import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import Any

import httpcore
import httpx

from webui.v1.errors import Unavailable, Unreadable

Clock = Callable[[], float]
AddressCheck = Callable[[str, str], bool]


class Deadline:
    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._at = clock() + seconds

    def remaining(self) -> float:
        return self._at - self._clock()

    def check(self) -> None:
        if self.remaining() <= 0:
            raise Unavailable("too_slow")

    @contextmanager
    def apply(self) -> Iterator[None]:
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Return the certificate authorities, cached for all: reading them takes 20 ms."""
    return httpx.create_ssl_context(trust_env=False)


class Network(httpx.HTTPTransport):
    """httpx's transport over sockets that know the deadline of the call they serve.

    httpx bounds only single reads. A service that sends a byte of its headers now and then, or
    endless interim responses, would hold a thread forever; so each read gets what is left of the
    whole call's time. The cost is one private name of httpx, `_pool`, which a test covers.
    """

    def __init__(
        self,
        limits: httpx.Limits,
        may_connect: AddressCheck | None = None,
        own: tuple[str, int] | None = None,
    ) -> None:
        context = trusted_authorities()
        super().__init__(verify=context, limits=limits, trust_env=False)
        self._pool.close()
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_Backend(may_connect, own),
        )


class _Backend(httpcore.NetworkBackend):
    def __init__(self, may_connect: AddressCheck | None, own: tuple[str, int] | None) -> None:
        self._sockets = httpcore.SyncBackend()
        self._own = own
        self._may_connect = may_connect

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        if self._may_connect is not None and (host, port) != self._own:
            host = _resolve_allowed(host, port, self._may_connect)
        within = _within(timeout, httpcore.ConnectTimeout)
        try:
            stream = self._sockets.connect_tcp(host, port, within, local_address, socket_options)
        except (UnicodeError, OverflowError) as error:
            raise httpcore.ConnectError("no such host or port") from error
        return _Stream(stream)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _within(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _within(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        within = _within(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, within))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def socket_of(response: httpx.Response) -> socket.socket | None:
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    return connection if isinstance(connection, socket.socket) else None


def shut(response: httpx.Response) -> None:
    """End a response's connection, even while another thread reads it."""
    connection = socket_of(response)
    if connection is not None:
        with suppress(OSError):
            # Not TLS's own shutdown, which would change objects that the reading thread uses.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _within(timeout: float | None, too_late: type[httpcore.TimeoutException]) -> float | None:
    deadline = _current.get()
    if deadline is None:
        return timeout
    remaining = deadline.remaining()
    if remaining <= 0:
        raise too_late
    return remaining if timeout is None else min(timeout, remaining)


def _resolve_allowed(host: str, port: int, may_connect: AddressCheck) -> str:
    """Return a permitted address to connect to: the name may resolve differently next time."""
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, OverflowError) as error:
        raise httpcore.ConnectError("no such host") from error
    for entry in entries:
        address = str(entry[4][0])
        if may_connect(host, address):
            return address
    raise httpcore.UnsupportedProtocol("the address is refused")


WORDS: tuple[tuple[type[Exception], type[Unavailable], str], ...] = (
    (httpx.TimeoutException, Unavailable, "too_slow"),
    (httpx.UnsupportedProtocol, Unreadable, "refused_link"),
    (httpx.InvalidURL, Unreadable, "bad_link"),
    (httpx.LocalProtocolError, Unreadable, "bad_link"),
    (httpx.ConnectError, Unavailable, "no_connection"),
    (httpx.RemoteProtocolError, Unreadable, "broken_http"),
    (Exception, Unavailable, "cut_off"),
)


def failure_of(error: Exception, *, was_sent: bool = True) -> Unavailable:
    """Translate an httpx error. Its own text may contain URLs, so it is never passed on."""
    if is_bad_certificate(error):
        return Unavailable("bad_certificate", was_sent=False)
    kind, word = next((kind, word) for cause, kind, word in WORDS if isinstance(error, cause))
    return kind(word, was_sent=was_sent)


def was_never_sent(error: Exception) -> bool:
    connecting = httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout
    return isinstance(error, connecting) and not is_bad_certificate(error)


def is_retryable(error: Exception) -> bool:
    """Return whether the connection failed before a response began, so that a retry may succeed.

    A timeout doesn't count, since it has already used up the reader's time.
    """
    return isinstance(error, httpx.ReadError | httpx.WriteError | httpx.CloseError) or (
        isinstance(error, httpx.RemoteProtocolError) and "disconnected" in str(error)
    )


def is_bad_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
