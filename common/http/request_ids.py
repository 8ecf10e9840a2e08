"""Give each request an ID for its log lines, in the site and in the service that it calls."""

import re
import secrets
from contextvars import ContextVar

# What proxies and tracing systems send, and nothing that a log or a header could misread.
USABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")

_current: ContextVar[str] = ContextVar("request_id", default="")


def begin(sent: str) -> None:
    """Use the ID that a trusted proxy sent, or make one.

    It stays until the thread's next request: when the site has finished with a request, its
    response is still being sent, and may log why it broke off.
    """
    _current.set(sent if USABLE.fullmatch(sent) else secrets.token_hex(16))


def resume(request_id: str) -> None:
    """Use the ID of a request whose response this thread continues."""
    _current.set(request_id)


def current() -> str:
    """Return the ID of the request that this thread answers; "" in the worker and in commands."""
    return _current.get()
