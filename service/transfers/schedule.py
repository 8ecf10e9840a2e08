"""A week's schedule by half hours, in the time that clocks on the wall show."""

from datetime import datetime, time, timedelta, tzinfo


def holds(schedule: str, moment: datetime, zone: tzinfo) -> bool:
    """Return whether the half hour of a moment is marked; the schedule begins on Monday.

    Where clocks are set forward, some half hours don't exist; where they are set back, some occur
    twice, and are marked both times.
    """
    local = moment.astimezone(zone)
    return schedule[(local.weekday() * 24 + local.hour) * 2 + local.minute // 30] == "1"


def next_midnight(moment: datetime, zone: tzinfo) -> datetime:
    tomorrow = moment.astimezone(zone).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time(), zone)
