"""What people did that an owner may want to look up, kept for 90 days.

Each event is one row. Only strangers could write without end: their failed sign-ins are counted
by the hour, in one row for each name and network, and in a single one beyond twenty of those.
"""

import logging
from datetime import datetime, timedelta

from django.db import OperationalError
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from webui.attempts import network_of
from webui.models import Activity, User

log = logging.getLogger("ferry.activity")

Kind = Activity.Kind
LIFETIME = timedelta(days=90)
FAILURES_TOGETHER = timedelta(hours=1)
MOST_FAILURES_APART = 20
LONGEST_SUBJECT = 255


def record(
    request: HttpRequest, kind: Kind, subject: str = "", *, detail: str = "", count: int = 1
) -> None:
    """Keep what the person of this request has just done."""
    person, address = request.user.get_username(), request.META["REMOTE_ADDR"]
    write(kind, person, subject, detail=detail, address=address, count=count)


def record_command(kind: Kind, subject: str = "", *, detail: str = "") -> None:
    """Keep what a command did: whoever runs one has no name here."""
    write(kind, "", subject, detail=detail)


def write(  # noqa: PLR0913  As many facts as an event has.
    kind: Kind, person: str, subject: str, *, detail: str = "", address: str = "", count: int = 1
) -> None:
    """One insert. What was done stays done where the disk has no room to say so."""
    try:
        Activity.objects.create(
            at=timezone.now(),
            kind=kind,
            person=person,
            subject=subject[:LONGEST_SUBJECT],
            detail=detail,
            address=address[:64],
            count=count,
        )
    except OperationalError as trouble:
        log.warning("activity not recorded kind=%s: %s", kind, trouble)


def record_failure(name: str, address: str) -> None:
    """Count a failed sign-in. Some type their password as their name: only known ones are kept."""
    known = User.objects.filter(username__iexact=name).values_list("username", flat=True).first()
    now = timezone.now()
    lately = Activity.objects.filter(kind=Kind.FAILED, at__gt=now - FAILURES_TOGETHER, at__lte=now)
    where = {"subject": known or "", "address": network_of(address)}
    try:
        if _count(lately.filter(**where)):
            return
        if lately.count() >= MOST_FAILURES_APART:
            where = {"subject": "", "address": ""}
            if _count(lately.filter(**where)):
                return
        Activity.objects.create(at=now, kind=Kind.FAILED, **where)
    except OperationalError as trouble:
        log.warning("activity not recorded kind=%s: %s", Kind.FAILED, trouble)


def _count(rows: QuerySet[Activity]) -> bool:
    newest = rows.order_by("-pk").values("pk")[:1]
    return bool(Activity.objects.filter(pk__in=newest).update(count=F("count") + 1))


def prune(now: datetime) -> None:
    Activity.objects.filter(at__lte=now - LIFETIME).delete()
