"""What people did that an owner may want to look up, kept for 90 days.

Each event is one row. Only strangers and programs could add rows without limit. So failed sign-ins
are counted by the hour, in one row for each name and network. Beyond twenty rows of a kind within
an hour, a single row counts everything else that strangers and programs do.
"""

import logging
from datetime import datetime, timedelta

from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from common.addresses.networks import network_of
from webui.activity import kinds
from webui.models import Activity, User
from webui.optional_writes import optional_write

log = logging.getLogger("ferry.activity")

Kind = kinds.Kind
LIFETIME = timedelta(days=90)
TOGETHER = timedelta(hours=1)
MOST_APART = 20
LONGEST_PERSON = 150
LONGEST_SUBJECT = 255


def record(
    request: HttpRequest, kind: Kind, subject: str = "", *, detail: str = "", count: int = 1
) -> None:
    """Record and log what the person of this request has just done, or a program for them."""
    person, address = request.user.get_username(), request.META["REMOTE_ADDR"]
    log.info("%s by=%r address=%s", kind, person, address)
    if "token" in vars(request) and _count_program(kind, person, address):
        return
    write(kind, person, subject, detail=detail, address=address, count=count)


def record_command(kind: Kind, subject: str = "", *, detail: str = "") -> None:
    """Record what a command did. The person who ran it is unknown."""
    write(kind, "", subject, detail=detail)


def write(  # noqa: PLR0913  As many facts as an event has.
    kind: Kind, person: str, subject: str, *, detail: str = "", address: str = "", count: int = 1
) -> None:
    with optional_write(log, f"activity not recorded kind={kind}"):
        Activity.objects.create(
            at=timezone.now(),
            kind=kind,
            person=person,
            subject=subject[:LONGEST_SUBJECT],
            detail=detail[:LONGEST_SUBJECT],
            address=address[:64],
            count=count,
        )


def record_failure(name: str, address: str) -> str:
    """Count a failed sign-in, and return whose it is. Record only known names, and return nothing
    for others, since some people type their password."""
    names = User.objects.filter(username__iexact=name).values_list("username", flat=True)
    username = names.first() or ""
    count_failure(Kind.FAILED, username, address)
    return username


def _count_program(kind: Kind, person: str, address: str) -> bool:
    """Add to what programs did for this person within the last hour, if they did anything."""
    counted = []
    with optional_write(log, f"activity not counted kind={kind}"):
        counted += [_count(_of_last_hour(kind).filter(person=person, address=address[:64]))]
    return any(counted)


def record_outsider(kind: Kind, person: str, subject: str, address: str) -> None:
    """Record what another program or a visitor did in someone's name."""
    person = person[:LONGEST_PERSON]
    with optional_write(log, f"activity not recorded kind={kind}"):
        _write_bounded(kind, person=person, subject=subject[:LONGEST_SUBJECT], address=address[:64])


def count_failure(kind: Kind, name: str, address: str) -> None:
    """Count a wrong password; `name` is empty if no one has the name that was typed."""
    facts = {"subject": name, "address": network_of(address)[:64]}
    with optional_write(log, f"activity not recorded kind={kind}"):
        if not _count(_of_last_hour(kind).filter(**facts)):
            _write_bounded(kind, **facts)


def _write_bounded(kind: Kind, **facts: str) -> None:
    lately = _of_last_hour(kind)
    if lately.count() >= MOST_APART:
        facts = {"person": "", "subject": "", "address": ""}
        if _count(lately.filter(**facts)):
            return
    Activity.objects.create(at=timezone.now(), kind=kind, **facts)


def _of_last_hour(kind: Kind) -> QuerySet[Activity]:
    now = timezone.now()
    return Activity.objects.filter(kind=kind, at__gt=now - TOGETHER, at__lte=now)


def _count(rows: QuerySet[Activity]) -> bool:
    newest = rows.order_by("-pk").values("pk")[:1]
    return bool(Activity.objects.filter(pk__in=newest).update(count=F("count") + 1))


def prune(now: datetime) -> None:
    Activity.objects.filter(at__lte=now - LIFETIME).delete()
