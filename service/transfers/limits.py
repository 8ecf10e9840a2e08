"""The limits of all transfers, and those that one transfer has of its own."""

from collections.abc import Mapping
from copy import copy
from datetime import datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from common.storage import row_cache
from service.accounts.accounts import changing_transfers
from service.errors import FirstAccountOnly, SettingFixed
from service.models import Account, Limits, Transfer
from service.models.limits import HALF_HOURS
from service.torrents.orders import TransferLimits
from service.transfers import transfers, wake_ups

SPEEDS = ("download_bytes_per_second", "upload_bytes_per_second")
# The setting that decides instead of the row if the environment has it, or else gives the default.
SETTINGS = {
    **dict(zip(SPEEDS, ("DOWNLOAD_LIMIT", "UPLOAD_LIMIT"), strict=True)),
    "active_transfers": "ACTIVE_TRANSFERS",
    "seed_ratio": "SEED_RATIO",
    "seed_minutes": "SEED_MINUTES",
}


class CurrentLimits(NamedTuple):
    """What applies now to each worker."""

    transfers: TransferLimits
    active_transfers: int
    patience: timedelta  # with torrents that no peer in reach can send


def current(now: datetime) -> CurrentLimits:
    row = read()
    speeds = {name: getattr(row, name) for name in SPEEDS}
    if is_slow(row, now):
        speeds = {name: lower(speeds[name], getattr(row, f"slow_{name}")) for name in SPEEDS}
    return CurrentLimits(
        TransferLimits(**speeds, seed_ratio=row.seed_ratio, seed_minutes=row.seed_minutes),
        row.active_transfers or 1,
        timedelta(seconds=settings.NO_PEERS_SECONDS),
    )


def read() -> Limits:
    """Return what was set, and from the settings what wasn't, or may not be."""
    row = copy(row_cache.read("limits", lambda: Limits.objects.first() or Limits()))
    for name, setting in SETTINGS.items():
        if is_fixed(name) or getattr(row, name) is None:
            setattr(row, name, getattr(settings, setting))
    return row


def is_fixed(name: str) -> bool:
    return SETTINGS.get(name) in settings.FIXED_SETTINGS


def is_slow(row: Limits, now: datetime) -> bool:
    if row.is_switched(now):
        return row.switched_to == "slow"
    return is_slow_half_hour(row.schedule, now, timezone.get_default_timezone())


def next_change(row: Limits, now: datetime) -> datetime | None:
    """Return when the slow speeds begin or end unless someone switches; None: never."""
    zone, is_slow_now, moment = timezone.get_default_timezone(), is_slow(row, now), now
    is_open = row.is_switched(now) and row.switched_until is None
    if is_open or (not row.is_switched(now) and len(set(row.schedule)) == 1):
        return None
    for _each in range(HALF_HOURS + 2):
        ends_at = row.switched_until if row.is_switched(moment) else None
        moment = min(filter(None, (next_half_hour(moment, zone), ends_at)))
        if is_slow(row, moment) != is_slow_now:
            return moment
    return None


def lower(limit: int, other: int) -> int:
    """Return the lower of two limits, of which 0 is none."""
    return min(filter(None, (limit, other)), default=0)


def may_change(account: Account) -> bool:
    """Return whether this is the installation's own account, which the first run adds."""
    return not Account.objects.filter(pk__lt=account.pk).exists()


def change(account: Account, values: Mapping[str, Any]) -> None:
    """Change the limits of all transfers at once. Raises FirstAccountOnly, SettingFixed."""
    if not may_change(account):
        raise FirstAccountOnly
    if fixed := next(filter(is_fixed, values), None):
        raise SettingFixed(fixed)
    Limits.objects.update_or_create(pk=1, defaults=values)


def switch(to: str, until: str | None, now: datetime) -> dict[str, Any]:
    """Return what makes the slow or full speeds apply for a time, or the schedule again."""
    if to == "schedule":
        return {"switched_to": "", "switched_until": None}
    midnight = next_midnight(now, timezone.get_default_timezone())
    ends = {"hour": now + timedelta(hours=1), "tomorrow": midnight}
    return {"switched_to": to, "switched_until": ends[until] if until else None}


def change_own(
    account: Account, transfer_id: int, values: Mapping[str, Any], now: datetime
) -> TransferLimits:
    """Change the limits that a transfer has of its own; None removes one. Raises NotFound."""
    with changing_transfers(account, now) as locked:
        transfer = transfers.get(locked, transfer_id)
        transfer.limits = {**(transfer.limits or {}), **values}
        transfer.save(update_fields=["limits"])
    wake_ups.wake_workers()
    return own_limits(transfer.limits)


def own_limits(values: Mapping[str, Any] | None) -> TransferLimits:
    return TransferLimits(**values or {})


def find_own(among: QuerySet[Transfer]) -> dict[int, Any]:
    """Return the limits that transfers have of their own, by the ids of these transfers."""
    return dict(among.filter(limits__isnull=False).values_list("pk", "limits"))


# The schedule of a week, by half hours in the time that clocks on the wall show


def is_slow_half_hour(schedule: str, moment: datetime, zone: tzinfo) -> bool:
    """Return whether the slow speeds apply at a moment; the schedule begins on Monday.

    Where clocks are set forward, some half hours don't exist; where they are set back, some occur
    twice, and are marked both times.
    """
    local = moment.astimezone(zone)
    return schedule[(local.weekday() * 24 + local.hour) * 2 + local.minute // 30] == "1"


def next_half_hour(moment: datetime, zone: tzinfo) -> datetime:
    local = moment.astimezone(zone)
    passed = timedelta(minutes=local.minute % 30, seconds=local.second)
    return moment.replace(microsecond=0) - passed + timedelta(minutes=30)


def next_midnight(moment: datetime, zone: tzinfo) -> datetime:
    tomorrow = moment.astimezone(zone).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time(), zone)
