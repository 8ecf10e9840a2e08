"""Fetch the account from the storage service, within the time that a page can wait."""

from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime
from zlib import crc32

from django.core.cache import cache

from webui.connection import connection
from webui.connection.connection import Service
from webui.v1.errors import Failure
from webui.v1.records import Account, Wish

PATIENCE_SECONDS = 3.0
KEPT_SECONDS = 3600
# Part of the cache key, since another release of Ferry may cache other fields.
SHAPE = crc32(" ".join(each.name for kind in (Account, Wish) for each in fields(kind)).encode())


@dataclass(frozen=True)
class AccountReading:
    """An account as it was read. `failure` says why it isn't newer."""

    account: Account
    at: datetime
    failure: Failure | None = None


def read_account(service: Service, now: datetime) -> AccountReading:
    """Return the account, or the cached one if the service doesn't answer in time."""
    try:
        account = fetch_account(service, now)
    except Failure as failure:
        cached = cache.get(key_of(service))
        if cached is None:
            raise
        account, at = cached
        return AccountReading(account, at, failure)
    with suppress(OSError):
        cache.set(key_of(service), (account, now), KEPT_SECONDS)
    return AccountReading(account, now)


def key_of(service: Service) -> str:
    return f"account-{SHAPE}-{service.key}"


def fetch_account(service: Service, now: datetime) -> Account:
    failure = connection.recent_failure(connection.health_of(service), now)
    if failure:
        raise failure
    try:
        return service.v1.account(PATIENCE_SECONDS)
    finally:
        connection.share_health(service.key, service.v1.health)
