"""The account at the storage service: asked for, but for no longer than a page can wait."""

from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime
from zlib import crc32

from django.core.cache import cache

from webui import connection, folders
from webui.connection import Service
from webui.v1.errors import Failure, Unavailable
from webui.v1.models import Account, Wish

PATIENCE_SECONDS = 3.0
KEPT_SECONDS = 3600
# Another release of Ferry may keep other facts under the same names.
SHAPE = crc32(" ".join(each.name for kind in (Account, Wish) for each in fields(kind)).encode())


@dataclass(frozen=True)
class Told:
    """`failure`: why it is no newer than it is."""

    account: Account
    at: datetime
    failure: Failure | None = None


def told(service: Service, now: datetime) -> Told:
    """What was told before stands in where the service doesn't answer in time."""
    try:
        account = asked(service, now)
    except Failure as failure:
        known = cache.get(key_of(service))
        if known is None:
            raise
        account, at = known
        return Told(account, at, failure)
    with suppress(OSError):
        cache.set(key_of(service), (account, now), KEPT_SECONDS)
    return Told(account, now)


def key_of(service: Service) -> str:
    return f"account-{SHAPE}-{service.key}"


def asked(service: Service, now: datetime) -> Account:
    trouble = trouble_lately(service, now)
    if trouble:
        raise trouble
    try:
        return service.v1.account(PATIENCE_SECONDS)
    finally:
        connection.tell_health(service.key, service.v1.health)


def trouble_lately(service: Service, now: datetime) -> Failure | None:
    """The service was away a moment ago, for whomever: the page need not wait for that again.
    A clock that was put back makes it no longer than a moment."""
    health = connection.health_of(service)
    if health.last_error is None or health.last_error_at is None:
        return None
    if not 0 <= (now - health.last_error_at).total_seconds() <= folders.AWAY_SECONDS:
        return None
    return (health.last_failure or Unavailable)(health.last_error)
