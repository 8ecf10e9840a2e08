"""Limits on guessing links, codes, tokens, and one's own password; and the devices that are known.

Attempts are counted before they are judged, so that many at once count as many. The address is the
connection's (see config.web.front), so forged headers gain nothing. How guesses at names and
passwords are slowed down is in webui.signin.throttle.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from webui.http.networks import network_of
from webui.models import Attempts, User, digest_of

WINDOW = timedelta(minutes=15)
MOST_BY_ADDRESS = 20
MOST_BY_SESSION = 20
DEVICE_SALT = "ferry.device"
DEVICE_COOKIE = f"ferry_device_{settings.PORT}"
DEVICE_COOKIE_AGE = timedelta(days=365)


@dataclass(frozen=True)
class AttemptLimit:
    key: str
    most: int


def limits_for_session(session_key: str) -> list[AttemptLimit]:
    """Whoever found a device unlocked, or stole its session, may not guess the password on it
    without end; nor may they keep its owner from changing it elsewhere."""
    return [AttemptLimit(digest_of(f"session {session_key}"), MOST_BY_SESSION)]


def limits_for_links(address: str) -> list[AttemptLimit]:
    """Guesses at links and codes that let somebody in."""
    return [AttemptLimit(digest_of(f"links {network_of(address)}"), MOST_BY_ADDRESS)]


def take(limits: list[AttemptLimit]) -> timedelta | None:
    """Counts an attempt. Where one too many was made: how long to wait, and nothing is counted.

    It counts before it decides. On a database without one lock for all, the rows that it wrote then
    keep others out. All take their rows in one order, so that no two wait for each other.
    """
    with transaction.atomic():
        waits = [wait for limit in _in_order(limits) if (wait := _count(limit))]
        if waits:
            transaction.set_rollback(True)
            return max(waits)
    return None


def give_back(limits: list[AttemptLimit]) -> None:
    """A right password does not count. Only this attempt is forgotten: somebody with an account
    of their own must not be able to clear the count of their guesses at another's."""
    with transaction.atomic():
        for limit in _in_order(limits):
            rows = Attempts.objects.filter(key=limit.key, count__gt=0)
            rows.update(count=F("count") - 1)


def reset() -> None:
    """End all limits."""
    Attempts.objects.all().delete()


def prune(now: datetime) -> int:
    deleted, _by_model = Attempts.objects.filter(since__lt=now - WINDOW).delete()
    return deleted


def device_cookie(user: User) -> str:
    """Names its bearer's password too, by a hash: a new one makes every device a stranger."""
    facts = [user.pk, user.get_session_auth_hash(), secrets.token_urlsafe(12)]
    return signing.dumps(facts, salt=DEVICE_SALT)


def person_of(cookie: str) -> int | None:
    """Who signed in last on this device, whatever their password is now."""
    try:
        pk, _password, _nonce = signing.loads(cookie, salt=DEVICE_SALT, max_age=DEVICE_COOKIE_AGE)
    except (signing.BadSignature, ValueError):
        return None
    return int(pk)


def is_device_of(cookie: str, name: str) -> bool:
    try:
        pk, password, _nonce = signing.loads(cookie, salt=DEVICE_SALT, max_age=DEVICE_COOKIE_AGE)
    except (signing.BadSignature, ValueError):
        return False
    user = User.objects.filter(pk=pk, username__iexact=name).first()
    return user is not None and constant_time_compare(password, user.get_session_auth_hash())


def _in_order(limits: list[AttemptLimit]) -> list[AttemptLimit]:
    return sorted(limits, key=lambda limit: limit.key)


def _count(limit: AttemptLimit) -> timedelta | None:
    """Counts, unless there were too many already: then how long to wait."""
    first = {"count": 1, "since": timezone.now()}
    row, made = Attempts.objects.select_for_update().get_or_create(key=limit.key, defaults=first)
    if made:
        return None
    now = timezone.now()  # Whoever waited for the row comes after the one it waited for.
    # Begun later than now: before the clock was set back.
    if not now - WINDOW < row.since <= now:
        row.count, row.since = 1, now
    elif row.count < limit.most:
        row.count += 1
    else:
        return row.since + WINDOW - now
    row.save(update_fields=["count", "since"])
    return None
