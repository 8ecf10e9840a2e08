# ruff: noqa: ARG002  httpcore decides the signatures.
"""Connect for fetches: one place resolves names, checks addresses, and connects to them."""

import select
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import ip_address, ip_network
from threading import Thread
from typing import Any, TypeVar

import httpcore
import httpx

from common.addresses.reachable import Reach, is_web_port
from service.fetching.errors import AddressRefused, BadCertificate
from service.fetching.http.responses import size_of
from service.fetching.stoppable_wait import READ_BYTES, StoppableWait

MOST_ADDRESSES = 8
# How long a dead address of a server with several may take.
CONNECT_SECONDS = 15.0
DIRECTIONS: dict[type, int] = {
    ssl.SSLWantReadError: select.POLLIN,
    ssl.SSLWantWriteError: select.POLLOUT,
}

Result = TypeVar("Result")
Connection = TypeVar("Connection", bound=socket.socket)


class NoSuchHost(httpcore.ConnectError):
    pass


def addresses_of(host: str, port: int) -> list[str]:
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in entries]


def is_own(address: str) -> bool:
    """Return whether an address is this machine's, or in IPv6 in its network; sends nothing.

    In IPv6, every machine of a household has a public address, and its services may trust us.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.connect((address, 9))
        return is_near(str(asking.getsockname()[0]), address)
    return False


def is_near(ours: str, theirs: str) -> bool:
    bits = 64 if ":" in theirs else 32
    return ip_address(theirs) in ip_network(f"{ours}/{bits}", strict=False)


@dataclass(frozen=True)
class Road:
    """How to resolve names, and which addresses fetches may reach. Tests replace the resolver."""

    reach: Reach
    resolve: Callable[[str, int], list[str]] = addresses_of
    is_own: Callable[[str], bool] = is_own

    def allowed_addresses(self, addresses: list[str]) -> list[str]:
        """Return the addresses that may be reached. Raises AddressRefused if there are none."""
        reachable = [address for address in dict.fromkeys(addresses) if self.may_connect(address)]
        if not reachable:
            raise AddressRefused
        return reachable[:MOST_ADDRESSES]

    def may_connect(self, address: str) -> bool:
        if not self.reach.may_connect(address):
            return False
        return self.reach != Reach() or not self.is_own(address)


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context for all fetches: reading the certificate authorities takes 20 ms."""
    return httpx.create_ssl_context(trust_env=False)


class Transport(httpx.BaseTransport):
    """A transport without proxies, redirects, or reused connections: it checks each address."""

    def __init__(self, road: Road, waiter: StoppableWait) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls_context(),
            max_keepalive_connections=0,
            network_backend=Backend(road, waiter),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        answer = self._pool.handle_request(
            httpcore.Request(request.method, url, headers=request.headers.raw)
        )
        body = DirectStream(answer)
        return httpx.Response(answer.status, headers=answer.headers, stream=body, request=request)

    def close(self) -> None:
        self._pool.close()


class DirectStream(httpx.SyncByteStream):
    """A body; if its length is known, all but the start bypasses httpcore.

    httpcore copies every byte five times. Its first piece is all that it has read, so the rest can
    come from the connection itself.
    """

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes | memoryview]:  # type: ignore[override]
        """Yield pieces, each valid until the next is requested."""
        pieces = self._answer.iter_stream()
        size_bytes = size_of(httpx.Headers(self._answer.headers))
        if not size_bytes:
            yield from pieces
        elif start := next(pieces, b""):
            yield start
            stream: NetworkStream = self._answer.extensions["network_stream"]
            yield from stream.rest(size_bytes - len(start))

    def close(self) -> None:
        self._answer.close()


class Backend(httpcore.NetworkBackend):
    def __init__(self, road: Road, waiter: StoppableWait) -> None:
        self._road = road
        self._waiter = waiter

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        if not self._road.reach.may_resolve(host) or not is_web_port(port):
            raise AddressRefused
        return self._connect(self._road.allowed_addresses(self._resolve(host, port)), port)

    def _resolve(self, host: str, port: int) -> list[str]:
        """Resolve in a separate thread, since the system's resolver can't be interrupted."""
        ours, theirs = socket.socketpair()
        addresses: list[str] = []

        def ask() -> None:
            with theirs, suppress(OSError, UnicodeError, OverflowError):
                addresses.extend(self._road.resolve(host, port))

        with ours:
            Thread(target=ask, name="resolving", daemon=True).start()
            self._waiter.await_ready(ours, select.POLLIN)
        if not addresses:
            raise NoSuchHost
        return addresses

    def _connect(self, addresses: list[str], port: int) -> "NetworkStream":
        for address in addresses[:-1]:
            with suppress(httpcore.ConnectError, httpcore.TimeoutException):
                return connect(address, port, self._waiter)
        return connect(addresses[-1], port, self._waiter)


def connect(address: str, port: int, waiter: StoppableWait) -> "NetworkStream":
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with close_on_failure(socket.socket(family, socket.SOCK_STREAM)) as connecting:
        connecting.setblocking(False)
        with suppress(BlockingIOError):
            connecting.connect((address, port))
        waiter.await_ready(connecting, select.POLLOUT, CONNECT_SECONDS)
        if connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise httpcore.ConnectError
        return NetworkStream(connecting, waiter)


class NetworkStream(httpcore.NetworkStream):
    """A connection that waits only on `waiter`; httpcore's timeouts aren't used."""

    def __init__(self, connection: socket.socket, waiter: StoppableWait) -> None:
        self._connection = connection
        self._waiter = waiter

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._call_when_ready(
            partial(self._connection.recv, min(max_bytes, self._waiter.read_bytes)),
            select.POLLIN,
            httpcore.ReadError,
        )

    def rest(self, size_bytes: int) -> Iterator[memoryview]:
        """Yield `size_bytes` in one buffer, which is refilled when the next piece is requested."""
        buffer = memoryview(bytearray(READ_BYTES))
        while size_bytes:
            free = buffer[: min(size_bytes, self._waiter.read_bytes)]
            into = partial(self._connection.recv_into, free)
            size = self._call_when_ready(into, select.POLLIN, httpcore.ReadError)
            if not size:
                raise httpcore.RemoteProtocolError
            yield buffer[:size]
            size_bytes -= size

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        while buffer:
            size = self._call_when_ready(
                partial(self._connection.send, buffer), select.POLLOUT, httpcore.WriteError
            )
            buffer = buffer[size:]

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        name = (server_hostname or "").rstrip(".")
        with close_on_failure(self._connection):
            self._connection = ssl_context.wrap_socket(
                self._connection, server_hostname=name, do_handshake_on_connect=False
            )
        with close_on_failure(self._connection) as connection:
            self._call_when_ready(connection.do_handshake, select.POLLIN, httpcore.ConnectError)
        return self

    def close(self) -> None:
        self._connection.close()

    def _call_when_ready(
        self, act: Callable[[], Result], event: int, trouble: type[Exception]
    ) -> Result:
        while True:
            self._waiter.check_due()
            try:
                return act()
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError) as waiting:
                self._waiter.await_ready(self._connection, DIRECTIONS.get(type(waiting), event))
            except ssl.SSLCertVerificationError as error:
                raise BadCertificate from error
            except OSError as error:
                raise trouble from error


@contextmanager
def close_on_failure(connection: Connection) -> Iterator[Connection]:
    try:
        yield connection
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError):
            raise httpcore.ConnectError from error
        raise
