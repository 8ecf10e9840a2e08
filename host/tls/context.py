"""What web processes need for https. gunicorn reads this before there are models."""

import errno
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings

UNREAD_BYTES = 64 * 1024
PLAIN = (
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 58\r\n\r\nThis port speaks https. Begin the address with https://.\r\n"
)


def folder() -> Path:
    return Path(settings.DATA_DIR) / "tls"


def files() -> tuple[Path, Path]:
    """Return the paths of the certificates and of the key, which may be the same."""
    if settings.TLS_CERT:
        return settings.TLS_CERT, settings.TLS_KEY or settings.TLS_CERT
    return folder() / "server.pem", folder() / "server.pem"


class SecureSocket(ssl.SSLSocket):
    """A client's socket that waits and fails as a plain one does. Reading also shakes hands."""

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        with like_plain(ssl.SSLWantReadError):
            try:
                return super().recv(buflen, flags)
            except ssl.SSLError as refusal:
                if refusal.reason == "HTTP_REQUEST":
                    self._refuse_plain()
                raise

    def _refuse_plain(self) -> None:
        with suppress(OSError):
            socket.socket.send(self, PLAIN)
            # Bytes that are never read would reset the connection, and with it the answer.
            socket.socket.recv(self, UNREAD_BYTES)

    def send(self, data: Any, flags: int = 0) -> int:
        with like_plain(ssl.SSLWantWriteError):
            return super().send(data, flags)

    def sendmsg(self, buffers: Iterable[Any], *_more: Any) -> int:  # type: ignore[override]
        piece = next(filter(len, buffers), b"")
        return self.send(piece) if piece else 0

    def shutdown(self, how: int) -> None:
        """Say that no more comes, if the client takes that at once: some clients wait for it."""
        with suppress(OSError, ValueError):
            self.unwrap()
        super().shutdown(how)


@contextmanager
def like_plain(waiting: type[ssl.SSLError]) -> Iterator[None]:
    """Raise the errors of plain sockets. TLS that waits for the other direction is an error, too:
    without renegotiation, only a client that reads nothing makes us wait."""
    try:
        yield
    except waiting:
        raise BlockingIOError(errno.EAGAIN, "not yet") from None
    except ssl.SSLError as trouble:
        raise ConnectionResetError(errno.ECONNRESET, str(trouble.reason)) from trouble


class ServerContext:
    """A context for new connections, made again when the certificate has changed."""

    def __init__(self) -> None:
        self._context: ssl.SSLContext | None = None
        self._stamp: list[tuple[int, int]] = []

    def wrap(self, client: socket.socket) -> socket.socket | None:
        """Encrypt what a client gets. Return None if it has left, or if there's no certificate."""
        try:
            context = self._get()
            return context.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
        except (OSError, ValueError):
            client.close()
            return None

    def _get(self) -> ssl.SSLContext:
        """Return the context. Raise OSError if there has never been a usable certificate."""
        try:
            stamp = [(each.stat().st_ino, each.stat().st_mtime_ns) for each in files()]
            if stamp != self._stamp:
                self._context, self._stamp = make_context(), stamp
        except OSError:  # A broken certificate, too. Two files can't be replaced at once.
            if self._context is None:
                raise
        assert self._context is not None  # noqa: S101  For the type checker.
        return self._context


def make_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslsocket_class = SecureSocket
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(*files())
    return context
