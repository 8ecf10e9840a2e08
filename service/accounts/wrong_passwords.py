"""Limit wrong passwords, counted in the database: for all processes, and across restarts."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from common.passwords import digest_of
from service.errors import TooManyTries
from service.models import Guesses

WINDOW = timedelta(minutes=15)
ACCOUNT_WINDOW = timedelta(hours=1)
MOST_BY_ADDRESS_AND_NAME = 20
MOST_BY_ADDRESS = 100
MOST_BY_ACCOUNT = 60


@dataclass(frozen=True)
class GuessLimit:
    key: str
    most: int
    window: timedelta


def limits_for(email: str, network: str, *, is_known: bool) -> list[GuessLimit]:
    """Return the limits that apply to one guess.

    Guesses from everywhere share one limit, so that many addresses gain nothing. That limit never
    locks out a network from which this account signed in before.
    """
    own = [
        GuessLimit(digest_of(f"{network} {email}"), MOST_BY_ADDRESS_AND_NAME, WINDOW),
        GuessLimit(digest_of(network), MOST_BY_ADDRESS, WINDOW),
    ]
    everywhere = GuessLimit(digest_of(f"account {email}"), MOST_BY_ACCOUNT, ACCOUNT_WINDOW)
    return own if is_known else [*own, everywhere]


def refuse_beyond(limits: list[GuessLimit], now: datetime) -> None:
    """Raise TooManyTries if a limit is reached."""
    rows = {row.key: row for row in Guesses.objects.filter(key__in=[each.key for each in limits])}
    waits = [
        row.since + limit.window - now
        for limit in limits
        if (row := rows.get(limit.key)) and row.count >= limit.most and is_recent(row, limit, now)
    ]
    if waits:
        raise TooManyTries(max(waits))


def count(limits: list[GuessLimit], now: datetime) -> None:
    """Count a wrong password; all calls lock rows in one order, so that none deadlock."""
    with transaction.atomic():
        for limit in sorted(limits, key=lambda each: each.key):
            first = {"count": 1, "since": now}
            rows = Guesses.objects.select_for_update()
            row, is_new = rows.get_or_create(key=limit.key, defaults=first)
            if is_new:
                continue
            if is_recent(row, limit, now):
                row.count += 1
            else:
                row.count, row.since = 1, now
            row.save(update_fields=["count", "since"])


def is_recent(row: Guesses, limit: GuessLimit, now: datetime) -> bool:
    """Return whether a count began within the window, before or after `now`.

    Concurrent calls differ in `now`, and clocks may be set back.
    """
    return abs(now - row.since) < limit.window


def reset() -> None:
    """End all limits."""
    Guesses.objects.all().delete()


def prune(now: datetime) -> None:
    Guesses.objects.filter(since__lt=now - ACCOUNT_WINDOW).delete()
