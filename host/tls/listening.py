"""Decide whether Ferry listens for https, besides http."""

import socket
import sys
from functools import cache

from django.conf import settings

from host.tls import context


@cache
def https_port() -> int | None:
    """Return the port for https. If it can't be used, say so once, and go on with http."""
    port: int = settings.HTTPS_PORT
    if port in (0, settings.PORT):
        return None
    try:
        try_to_bind(port)
        context.make_context()
    except (OSError, UnicodeError) as trouble:
        what = getattr(trouble, "strerror", None) or "not possible"
        sys.stderr.write(f"HTTPS_PORT: no https on port {port}, only http: {what}.\n")
        return None
    return port


def try_to_bind(port: int) -> None:
    """Raise OSError if another program uses the port, or if Ferry may not."""
    family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((settings.HOST, port))
