from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from service.models import Limits
from service.transfers.limits import is_slow_half_hour, next_change, next_half_hour, next_midnight
from tests.cases import each_case

BERLIN, KOLKATA, KATHMANDU = map(ZoneInfo, ("Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu"))
HALF_HOUR = timedelta(minutes=30)
MONDAY, SUNDAY = 0, 6


def only(day, *times):
    """Return a schedule with the half hours that begin at these times, such as 2.5 for 2:30."""
    marked = {day * 48 + int(time * 2) for time in times}
    return "".join(str(int(index in marked)) for index in range(336))


def moments(schedule, zone, start, hours=26):
    """Return the half hours of UTC, from `start` on, in which the schedule holds."""
    each = [start + HALF_HOUR * number for number in range(hours * 2)]
    return [f"{moment:%a %H:%M}" for moment in each if is_slow_half_hour(schedule, moment, zone)]


@each_case(
    ("time", "is_marked"),
    [
        ("2027-02-01 08:59:59.9", False), ("2027-02-01 09:00", True), ("2027-02-01 09:29:59", True),
        ("2027-02-01 09:30", False), ("2027-02-02 09:00", False), ("2027-02-08 09:00", True),
    ],
)  # fmt: skip
def test_a_half_hour_of_a_week(time, is_marked):
    moment = datetime.fromisoformat(time).replace(tzinfo=UTC)
    assert is_slow_half_hour(only(MONDAY, 9), moment, UTC) is is_marked


def test_a_week_begins_on_monday_and_has_every_half_hour():
    start = datetime(2027, 2, 1, tzinfo=BERLIN).astimezone(UTC)
    for index in range(336):
        schedule = "".join(str(int(each == index)) for each in range(336))
        held = [
            each
            for each in range(336)
            if is_slow_half_hour(schedule, start + HALF_HOUR * each, BERLIN)
        ]
        assert held == [index]


def test_the_hour_that_is_skipped_in_spring_never_holds():
    """On 28 March 2027, clocks in Berlin go from 2:00 to 3:00, at 1:00 in UTC."""
    start = datetime(2027, 3, 27, 22, tzinfo=UTC)
    around = only(SUNDAY, 1.5, 2, 2.5, 3, 12)
    assert moments(around, BERLIN, start) == ["Sun 00:30", "Sun 01:00", "Sun 10:00"]


def test_the_hour_that_is_repeated_in_autumn_holds_twice():
    """On 31 October 2027, clocks in Berlin go from 3:00 back to 2:00, at 1:00 in UTC."""
    start = datetime(2027, 10, 30, 22, tzinfo=UTC)
    held = moments(only(SUNDAY, 1.5, 2.5, 3, 12), BERLIN, start)
    assert held == ["Sat 23:30", "Sun 00:30", "Sun 01:30", "Sun 02:00", "Sun 11:00"]


def test_zones_that_differ_by_half_and_quarter_hours():
    """Noon in Kolkata is 6:30 in UTC, and in Kathmandu 6:15."""
    noon = only(MONDAY, 12)
    assert moments(noon, KOLKATA, datetime(2027, 2, 1, tzinfo=UTC)) == ["Mon 06:30"]
    assert moments(noon, KATHMANDU, datetime(2027, 2, 1, 0, 15, tzinfo=UTC)) == ["Mon 06:15"]


@each_case(
    ("moment", "midnight"),
    [
        ("2027-02-01 22:59", "2027-02-01 23:00"), ("2027-02-01 23:00", "2027-02-02 23:00"),
        ("2027-03-27 23:30", "2027-03-28 22:00"), ("2027-10-30 22:30", "2027-10-31 23:00"),
        ("2027-12-31 12:00", "2027-12-31 23:00"),
    ],
)  # fmt: skip
def test_midnight_in_berlin(moment, midnight):
    moment, midnight = (datetime.fromisoformat(f"{each}+00:00") for each in (moment, midnight))
    assert next_midnight(moment, BERLIN) == midnight


@each_case(
    ("zone", "moment", "next_one"),
    [
        (BERLIN, "2027-02-01 09:10:20.5", "2027-02-01 09:30"),
        (BERLIN, "2027-02-01 09:30", "2027-02-01 10:00"),
        (KATHMANDU, "2027-02-01 09:00", "2027-02-01 09:15"),
    ],
)
def test_the_next_half_hour(zone, moment, next_one):
    moment, next_one = (datetime.fromisoformat(f"{each}+00:00") for each in (moment, next_one))
    assert next_half_hour(moment, zone) == next_one


TEN_TO_NINE = datetime(2027, 2, 1, 8, 50, tzinfo=UTC)  # on a Monday
HOUR = timedelta(hours=1)


@each_case(
    ("schedule", "switched_to", "hours", "changes_at"),
    [
        ("0" * 336, "", None, None), ("1" * 336, "", None, None), ("1" * 336, "full", None, None),
        (only(MONDAY, 9, 9.5), "", None, "Mon 09:00"),
        (only(MONDAY, 8.5, 9), "", None, "Mon 09:30"),
        (only(MONDAY, 8), "", None, "Mon 08:00"), ("0" * 336, "slow", 1, "Mon 09:50"),
        ("1" * 336, "full", 1, "Mon 09:50"), ("0" * 336, "full", 1, None),
        # When the switch ends, the schedule continues what it began.
        (only(MONDAY, 9.5, 10), "slow", 1, "Mon 10:30"), (only(MONDAY, 9), "slow", 1, "Mon 09:50"),
        # It ended before.
        (only(MONDAY, 9), "slow", -1, "Mon 09:00"),
    ],
)  # fmt: skip
def test_when_the_speeds_change_by_themselves(schedule, switched_to, hours, changes_at):
    until = TEN_TO_NINE + hours * HOUR if hours else None
    row = Limits(schedule=schedule, switched_to=switched_to, switched_until=until)
    change = next_change(row, TEN_TO_NINE)
    assert (f"{change:%a %H:%M}" if change else None) == changes_at
    assert change is None or TEN_TO_NINE < change <= TEN_TO_NINE + timedelta(days=7)
