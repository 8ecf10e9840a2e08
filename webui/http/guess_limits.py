"""Limits on guessing links, codes, tokens, and one's own password.

Attempts are counted before they are checked, so concurrent attempts all count. The address is the
connection's (see config.web.front), so forged headers gain nothing. Guesses at names and passwords
are slowed down by webui.signin.throttle.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from common.networks import network_of
from webui.models import Attempts, digest_of

WINDOW = timedelta(minutes=15)
MOST_BY_ADDRESS = 20
MOST_BY_SESSION = 20


@dataclass(frozen=True)
class AttemptLimit:
    key: str
    most: int


def limits_for_session(session_key: str) -> list[AttemptLimit]:
    """Limit guesses by someone who found a device unlocked or stole its session. They can't keep
    the owner from changing the password elsewhere."""
    return [AttemptLimit(digest_of(f"session {session_key}"), MOST_BY_SESSION)]


def limits_for_links(address: str) -> list[AttemptLimit]:
    """Limit guesses at links and codes that sign a person in."""
    return [AttemptLimit(digest_of(f"links {network_of(address)}"), MOST_BY_ADDRESS)]


def take(limits: list[AttemptLimit]) -> timedelta | None:
    """Count an attempt. If there were too many, count nothing, and return how long to wait.

    Rows are written before the decision, so that they lock out other attempts on a database without
    a global lock. All attempts lock their rows in the same order, so they can't deadlock.
    """
    with transaction.atomic():
        waits = [wait for limit in _in_order(limits) if (wait := _count(limit))]
        if waits:
            transaction.set_rollback(True)
            return max(waits)
    return None


def give_back(limits: list[AttemptLimit]) -> None:
    """Uncount an attempt, since a correct password doesn't count. Earlier attempts still count:
    no one may clear their guesses at other accounts by signing in to their own."""
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


def _in_order(limits: list[AttemptLimit]) -> list[AttemptLimit]:
    return sorted(limits, key=lambda limit: limit.key)


def _count(limit: AttemptLimit) -> timedelta | None:
    """Count an attempt, or return how long to wait if there were too many already."""
    first = {"count": 1, "since": timezone.now()}
    row, is_new = Attempts.objects.select_for_update().get_or_create(key=limit.key, defaults=first)
    if is_new:
        return None
    now = timezone.now()  # Read after the lock, so it's later than what the previous holder wrote.
    # A window that began later than now is from before the clock was set back.
    if not now - WINDOW < row.since <= now:
        row.count, row.since = 1, now
    elif row.count < limit.most:
        row.count += 1
    else:
        return row.since + WINDOW - now
    row.save(update_fields=["count", "since"])
    return None
