"""Which service the site uses, and the one client per process for it."""

import hashlib
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

import httpx
from django.conf import settings
from django.core.cache import cache
from django.dispatch import Signal
from django.http import HttpRequest

from common.host import host
from common.http import request_ids
from common.storage import database_connection, row_cache
from webui import encryption, owner_settings
from webui.connection.address_policy import LinkPolicy
from webui.models import Connection
from webui.v1.client import Client
from webui.v1.connection import Health
from webui.v1.dialect import Dialect
from webui.v1.errors import Failure, Unauthorized, Unavailable
from webui.v1.network.address import Credentials, split_service_url
from webui.v1.records import Account

EMBEDDED_URL = "http://localhost"

outer: ContextVar[HttpRequest | None] = ContextVar("outer", default=None)
"""The current request: the embedded service needs its scheme, host, and client address."""

service_called = Signal()
"""Sent after each call of v1, with its `seconds` and its `failure`, or None."""


@dataclass(frozen=True)
class ServiceAddress:
    """The URL of a service, and the credentials to use there."""

    url: str
    credentials: Credentials
    is_embedded: bool

    @property
    def key(self) -> str:
        """Return a key for this account in shared caches, without revealing its secret."""
        return hashlib.sha256(f"{self.url}\0{self.credentials.name}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Service:
    """A service. Only our own, which `is_embedded`, can move, copy, unpack, pause, and restore."""

    key: str
    v1: Client
    is_embedded: bool

    @property
    def takes_folder(self) -> bool:
        """Return whether the service puts added items into the requested folder. Check the cache
        too, since another process may have found out first."""
        is_known = self.v1.dialect.folder_id is not None
        return is_known or "folder_id" in cache.get(dialect_key(self.key), {})

    @property
    def can_restore(self) -> bool:
        return self.is_embedded and owner_settings.find("DELETED_DAYS") > 0


def service() -> Service:
    return _service_at(service_address())


def service_address() -> ServiceAddress:
    """Return SERVICE_URL if it is set, else what the owner stored, else the embedded service."""
    if settings.SERVICE_URL:
        url, credentials = split_service_url(settings.SERVICE_URL)
        return ServiceAddress(url, credentials or Credentials("", ""), is_embedded=False)
    stored = row_cache.read("connection", Connection.objects.first)
    if stored is not None:
        try:
            name, password = stored.credentials()
        except encryption.CannotDecrypt as error:
            raise Unauthorized("sealed_with_another_key") from error
        return ServiceAddress(stored.url, Credentials(name, password), is_embedded=False)
    name, password = host().embedded.credentials()
    return ServiceAddress(EMBEDDED_URL, Credentials(name, password), is_embedded=True)


KNOWN_SECONDS = 1.0
"""How long another process may use the previous value."""

_known: tuple[float, bool] | None = None


def is_embedded(clock: Callable[[], float] = time.monotonic) -> bool:
    """Return whether the site shows the embedded service, which is off otherwise.

    The value is cached for a second, since every range request for a file needs it. The site's own
    calls read the row itself, so they never depend on this cache.
    """
    global _known  # noqa: PLW0603  A cache for the whole process.
    if settings.SERVICE_URL:
        return False
    lookup = _known
    if lookup is None or clock() - lookup[0] >= KNOWN_SECONDS:
        is_foreign = row_cache.read("is foreign", Connection.objects.exists)
        lookup = _known = (clock(), not is_foreign)
    return lookup[1]


def store(url: str, name: str, password: str) -> None:
    """Store a connection, and drop its cached dialect, since the service may have changed."""
    Connection.store(url, name, password)
    address = ServiceAddress(url, Credentials(name, password), is_embedded=False)
    cache.delete(dialect_key(address.key))
    _reset()


def disconnect() -> None:
    Connection.objects.all().delete()
    _reset()


def _reset() -> None:
    global _known  # noqa: PLW0603  As above.
    _known = None


def check(url: str, name: str, password: str) -> Account:
    """Return the account that these credentials open, before they are stored. Raises Failure."""
    address = ServiceAddress(url, Credentials(name, password), is_embedded=False)
    with client_for(address) as client:
        account = client.account()
    share_health(address.key, client.health)
    return account


HEALTH_SECONDS = 24 * 3600


def share_health(key: str, health: Health) -> None:
    """Share health with the other processes, which may serve the next page. Ignore cache errors."""
    with suppress(OSError):
        cache.set(f"health-{key}", astuple(health), HEALTH_SECONDS)


def health_of(storage: Service) -> Health:
    """Return the newest health that any process has recorded."""
    facts = cache.get(f"health-{storage.key}")
    with suppress(TypeError):  # Cached by another release of Ferry.
        return max(storage.v1.health, Health(*facts or ()), key=_last_call_at)
    return storage.v1.health


def _last_call_at(health: Health) -> datetime:
    moments = (health.last_ok_at, health.last_error_at)
    return max((each for each in moments if each), default=datetime.min.replace(tzinfo=UTC))


AWAY_SECONDS = 30


def recent_failure(health: Health, now: datetime) -> Failure | None:
    """Return the failure of the last 30 seconds, in any process, so that no request waits for the
    service again. Ignore times in the future, in case the clock was set back."""
    if health.last_error is None or health.last_error_at is None:
        return None
    if not 0 <= (now - health.last_error_at).total_seconds() <= AWAY_SECONDS:
        return None
    return (health.last_failure or Unavailable)(health.last_error)


_lock = threading.Lock()
_current: tuple[ServiceAddress, Service] | None = None


def _service_at(address: ServiceAddress) -> Service:
    """Create the service under a lock and after the fork, so that threads never create two."""
    global _current  # noqa: PLW0603  One per process is the point.
    with _lock:
        if _current is None or _current[0] != address:
            _current = address, Service(address.key, client_for(address), address.is_embedded)
        return _current[1]


def client_for(place: ServiceAddress) -> Client:
    """Create a client; a foreign service's dialect is cached, so that it outlives the process."""
    client = partial(
        Client, place.url, place.credentials, request_id=request_ids.current, on_call=note_call
    )
    if place.is_embedded:
        return client(transport=Embedded(), is_ours=True)
    policy = LinkPolicy(place.url, settings.SERVICE_MEDIA_HOSTS)
    return client(
        naming=cast("Any", settings.SERVICE_NAMING),
        dialect=Dialect.from_dict(cache.get(dialect_key(place.key), {})),
        on_decision=partial(save_dialect, place.key),
        may_follow=policy.may_follow,
        may_connect=policy.may_connect,
        on_wait=database_connection.give_back,
    )


def note_call(seconds: float, failure: Failure | None) -> None:
    service_called.send(None, seconds=seconds, failure=failure)


def dialect_key(key: str) -> str:
    return f"dialect-{key}"


def save_dialect(key: str, dialect: Dialect) -> None:
    """Cache the dialect. If that fails, only the next process has to make another call."""
    with suppress(OSError):
        cache.set(dialect_key(key), dialect.as_dict(), None)


class Embedded(httpx.BaseTransport):
    """A transport that passes calls to the service in this process, for the current request."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return host().embedded.transport(outer.get()).handle_request(request)
