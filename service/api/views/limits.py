"""The limits of all transfers and of each, and whether peers can reach this installation."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.conf import settings
from msgspec import Struct, ValidationError

from service.api import records
from service.api.auth import AccountRequest
from service.api.inputs import LimitsInput, OwnLimitsInput
from service.errors import FirstAccountOnly
from service.http import bodies
from service.http.records import moment
from service.http.refusals import MissingField, UnreadableField
from service.models import Worker
from service.transfers import limits, transfers

WORST_FIRST = (False, None, True)
OF_ROW = set(records.Limits.__struct_fields__) & set(LimitsInput.__struct_fields__)


def show(request: AccountRequest) -> records.Limits:
    row = limits.read()
    is_switched = row.is_switched(request.now)
    until = row.switched_until if is_switched else None
    changes_at = limits.next_change(row, request.now)
    return records.Limits(
        **{name: getattr(row, name) for name in OF_ROW},
        is_slow=limits.is_slow(row, request.now),
        changes_at=moment(changes_at) if changes_at else None,
        switched_to=row.switched_to if is_switched else "",
        switched_until=moment(until) if until else None,
        fixed=[*filter(limits.is_fixed, limits.SETTINGS)],
        may_change=limits.may_change(request.account),
        time_zone=settings.TIME_ZONE,
    )


def change(request: AccountRequest) -> records.Limits:
    """Change what was sent, or nothing."""
    values = read_values(request, LimitsInput, may_be_empty={*limits.SETTINGS, "until"})
    if "switch" in values:
        to, until = values.pop("switch"), values.pop("until", None)
        values |= limits.switch(to, until, request.now)
    elif "until" in values:
        raise MissingField("switch")
    limits.change(request.account, values)
    return show(request)


def show_own(request: AccountRequest, transfer_id: int) -> records.OwnLimits:
    transfer = transfers.get(request.account, transfer_id)
    return records.OwnLimits(**asdict(limits.own_limits(transfer.limits)))


def change_own(request: AccountRequest, transfer_id: int) -> records.OwnLimits:
    names = set(OwnLimitsInput.__struct_fields__)
    values = read_values(request, OwnLimitsInput, may_be_empty=names)
    own = limits.change_own(request.account, transfer_id, values, request.now)
    return records.OwnLimits(**asdict(own))


def read_values(
    request: AccountRequest, record: type[Struct], may_be_empty: set[str]
) -> dict[str, Any]:
    """Return the fields that were sent; those that were sent empty are None."""
    fields = dict(bodies.fields_of(request).pairs)
    sent = {name: fields[name] for name in record.__struct_fields__ if name in fields}
    empty = {name for name in may_be_empty & sent.keys() if sent[name] in ("", None)}
    try:
        rest = {name: value for name, value in sent.items() if name not in empty}
        read = msgspec.convert(rest, record, strict=False)
    except ValidationError as wrong:
        # It ends with the path of the field.
        raise UnreadableField(str(wrong).rpartition("$.")[2].rstrip("`")) from wrong
    return {name: None if name in empty else getattr(read, name) for name in sent}


def show_reachability(request: AccountRequest) -> records.Reachability:
    """Show it of the machine that peers reach worst: each has a port of its own."""
    if not limits.may_change(request.account):
        raise FirstAccountOnly
    sessions: list[dict[str, Any]] = [each.session for each in Worker.alive() if each.session]
    worst = min(sessions, key=lambda each: WORST_FIRST.index(each["is_reachable"]), default={})
    incoming_at = worst.get("incoming_at")
    return records.Reachability(
        port=worst.get("port", 0),
        reachable=worst.get("is_reachable"),
        mapping=worst.get("mapping", ""),
        incoming_at=moment(datetime.fromtimestamp(incoming_at, UTC)) if incoming_at else None,
        proxy=bool(settings.TORRENT_PROXY),
    )
