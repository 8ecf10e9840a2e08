"""How much the transfers of accounts receive and send: in sums that get coarser with age."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from service.models import Account, Traffic

MOMENT_SECONDS = 10
# How long each span is kept before it is rolled up into the next, and the last one at all. At most,
# an account has some 250 rows.
KEPT = {
    "moment": timedelta(minutes=11),
    "hour": timedelta(hours=50),
    "day": timedelta(days=62),
    "month": timedelta(days=5 * 366),
}
# The parts of each period, and how many there are.
PARTS: dict[str, tuple[str, int]] = {
    "minutes": ("moment", 60),
    "day": ("hour", 24),
    "month": ("day", 30),
    "year": ("month", 12),
}


class Bytes(NamedTuple):
    received: int = 0
    sent: int = 0

    def plus(self, other: "Bytes") -> "Bytes":
        return Bytes(self.received + other.received, self.sent + other.sent)


NOTHING = Bytes()


def start_of(span: str, at: datetime, zone: tzinfo) -> datetime:
    """Return when the span that has a moment began. Days and months begin at midnight there."""
    if span == "moment":
        return at - timedelta(seconds=at.second % MOMENT_SECONDS, microseconds=at.microsecond)
    if span == "hour":
        return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    day = at.astimezone(zone).date()
    first = day.replace(day=1) if span == "month" else day
    return datetime.combine(first, time(), zone).astimezone(UTC)


def add(sums: Mapping[int, Bytes], now: datetime) -> None:
    """Add what arrived and left, by account. Call it in the transaction of what it belongs to."""
    for account_id, sizes in sorted(sums.items()):
        if any(sizes):
            _add(account_id, "moment", start_of("moment", now, UTC), sizes)


def _add(account_id: int, span: str, start: datetime, sizes: Bytes) -> None:
    key = {"account_id": account_id, "span": span, "start": start}
    more = {
        "received_bytes": F("received_bytes") + sizes.received,
        "sent_bytes": F("sent_bytes") + sizes.sent,
    }
    if not Traffic.objects.filter(**key).update(**more):
        # Another worker may create it at the same time.
        Traffic.objects.bulk_create([Traffic(**key)], ignore_conflicts=True)
        Traffic.objects.filter(**key).update(**more)


def roll_up(now: datetime) -> None:
    """Turn old spans into longer ones, and delete the oldest."""
    is_old = Q()
    for span, age in KEPT.items():
        is_old |= Q(span=span, start__lt=now - age)
    if not Traffic.objects.filter(is_old).exists():
        return
    zone = timezone.get_default_timezone()
    with transaction.atomic():
        for span, longer in pairwise(KEPT):
            old = Traffic.objects.filter(span=span, start__lt=now - KEPT[span])
            rows = list(old.select_for_update().order_by("pk"))
            sums: dict[tuple[int, datetime], Bytes] = defaultdict(Bytes)
            for row in rows:
                key = row.account_id, start_of(longer, row.start, zone)
                sums[key] = sums[key].plus(Bytes(row.received_bytes, row.sent_bytes))
            for (account_id, start), sizes in sorted(sums.items()):
                _add(account_id, longer, start, sizes)
            Traffic.objects.filter(pk__in=[row.pk for row in rows]).delete()
        Traffic.objects.filter(span="month", start__lt=now - KEPT["month"]).delete()


def read(account: Account, period: str, now: datetime) -> list[tuple[datetime, Bytes]]:
    """Return the parts of a period, the oldest first, also those without traffic."""
    zone = timezone.get_default_timezone()
    part, count = PARTS[period]
    starts = _starts(part, count, now, zone)
    sums = dict.fromkeys(starts, Bytes())
    rows = Traffic.objects.filter(account=account, start__gte=starts[0], start__lte=now)
    totals = rows.values_list("start").annotate(Sum("received_bytes"), Sum("sent_bytes"))
    for start, received, sent in totals:
        key = start_of(part, start, zone)
        sums[key] = sums.get(key, Bytes()).plus(Bytes(received, sent))
    return sorted(sums.items())


def _starts(part: str, count: int, now: datetime, zone: tzinfo) -> list[datetime]:
    """Return when the last parts began, the earliest first; a day may have 23 or 25 hours."""
    starts = [start_of(part, now, zone)]
    while len(starts) < count:
        starts.append(start_of(part, starts[-1] - timedelta(seconds=1), zone))
    return starts[::-1]
