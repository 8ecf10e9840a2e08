"""What web processes need of the certificate. gunicorn reads this before there are models."""

import ssl
from pathlib import Path

from django.conf import settings


def folder() -> Path:
    return Path(settings.DATA_DIR) / "tls"


def files() -> tuple[Path, Path]:
    """Return the paths of the certificates and of the key, which may be the same."""
    if settings.TLS_CERT:
        return settings.TLS_CERT, settings.TLS_KEY or settings.TLS_CERT
    return folder() / "server.pem", folder() / "server.pem"


class ServerContext:
    """A context for new connections, made again when the certificate has changed."""

    def __init__(self) -> None:
        self._context: ssl.SSLContext | None = None
        self._stamp: list[tuple[int, int]] = []

    def get(self) -> ssl.SSLContext:
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
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(*files())
    return context
