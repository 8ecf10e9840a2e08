"""Identify clients by their headers alone, before anything is parsed."""

import re
import time
from dataclasses import dataclass
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import close_old_connections
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from common.addresses.networks import network_of, parse_address
from host.web import front
from host.web.visitor_limits import Visitor, VisitorKind
from webui.middleware import SECURE_SUFFIX

REMEMBERED_SECONDS = 60
MOST_REMEMBERED = 10_000
HEALTH_CHECK = re.compile(
    rb"(?:GET|HEAD) (?:%s)?/(?:healthz|readyz) HTTP/1" % re.escape(settings.URL_PREFIX).encode()
)
WITH_BODY = re.compile(rb"\r\n(?:Content-Length|Transfer-Encoding):", re.IGNORECASE)
FORWARDED_FOR = re.compile(rb"\r\nX-Forwarded-For:([^\r\n]*)", re.IGNORECASE)
SESSION = re.compile(
    rb"\r\nCookie:[^\r\n]*?\b%s(?:%s)?=([a-z0-9]{1,40})\b"
    % (settings.SESSION_COOKIE_NAME.encode(), SECURE_SUFFIX.encode()),
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Caller:
    visitor: Visitor
    session_key: str = ""


def caller_of(beginning: bytes, peer: str) -> Caller:
    """Return who sends a request, of which perhaps the body has begun to arrive, too."""
    head = beginning.partition(b"\r\n\r\n")[0]
    network = network_of(client_of(head, peer))
    if HEALTH_CHECK.match(head) and not WITH_BODY.search(head):
        return Caller(Visitor(network, VisitorKind.HEALTH_CHECK))
    session = SESSION.search(head)
    return Caller(Visitor(network), session[1].decode() if session else "")


def network_of_peer(peer: str) -> str:
    """Return a connection's network; "" for a trusted proxy's, which may be anyone's."""
    return "" if front.is_trusted(parse_address(peer)) else network_of(peer)


def client_of(head: bytes, peer: str) -> str:
    address = parse_address(peer)
    if not front.is_trusted(address):
        return peer
    forwarded = b",".join(FORWARDED_FOR.findall(head)).decode("latin-1")
    return front.nearest_stranger(forwarded, str(address))


def has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    is_right = constant_time_compare(token, settings.METRICS_TOKEN)
    return bool(settings.METRICS_TOKEN) and scheme.lower() == "bearer" and is_right


def person_of(session_key: str) -> AbstractBaseUser | AnonymousUser:
    """Return the person to whom a session belongs, with all of Django's checks."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    return get_user(request)


def is_signed_in(session_key: str) -> bool:
    """Look up a session outside a request, where Django doesn't close old connections itself."""
    try:
        return person_of(session_key).is_authenticated
    finally:
        close_old_connections()


class Sessions:
    """A cache of which sessions belonged to someone when last looked up. One thread uses this."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[float, bool]] = {}

    def get(self, session_key: str) -> bool | None:
        """Return None if the session has to be looked up."""
        until, is_anybodys = self._cache.get(session_key, (0.0, False))
        return is_anybodys if time.monotonic() < until else None

    def remember(self, session_key: str, *, is_anybodys: bool) -> None:
        if len(self._cache) >= MOST_REMEMBERED:
            self._cache.clear()
        self._cache[session_key] = time.monotonic() + REMEMBERED_SECONDS, is_anybodys
