"""The sums of what transfers receive and send, against a model that keeps every byte."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from service.accounts import traffic
from service.accounts.traffic import KEPT, PARTS, Bytes, start_of
from service.models import Traffic
from tests.cases import each_case
from tests.service.builders import NOW, alice, an_account

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def account():
    return alice()


def add(account, at, received=1, sent=0):
    traffic.add({account.pk: Bytes(received, sent)}, at)


def total(account, period, now):
    parts = traffic.read(account, period, now)
    return sum(each.received for _start, each in parts), sum(each.sent for _start, each in parts)


def everything():
    return sum(row.received_bytes for row in Traffic.objects.all())


@each_case(("period", "count"), [(period, count) for period, (_part, count) in PARTS.items()])
def test_a_period_has_all_its_parts_also_without_traffic(db, account, period, count):
    parts = traffic.read(account, period, NOW)
    assert len(parts) == count
    assert {sizes for _start, sizes in parts} == {Bytes()}
    assert parts[-1][0] <= NOW
    assert parts == sorted(parts)


def test_what_arrives_within_ten_seconds_is_one_row(account):
    for second in range(10):
        add(account, NOW + timedelta(seconds=second), 10, 1)
    assert list(Traffic.objects.values_list("received_bytes", "sent_bytes")) == [(100, 10)]
    add(account, NOW + timedelta(seconds=10))
    assert Traffic.objects.count() == 2


def test_others_have_sums_of_their_own(account):
    add(an_account(), NOW, 7)
    assert total(account, "day", NOW) == (0, 0)


@pytest.mark.slow
def test_rolled_up_sums_are_those_of_every_byte(account):
    """Add at random moments of 400 days, roll up now and then, and lose or double nothing."""
    chance, model = random.Random(7), []
    now = NOW
    while now < NOW + timedelta(days=400):
        now += timedelta(seconds=chance.choice([3, 600, 20_000, 400_000]))
        size = chance.randrange(1, 1_000)
        add(account, now, size)
        model.append((now, size))
        if chance.random() < 0.3:
            traffic.roll_up(now)
    traffic.roll_up(now)
    assert everything() == sum(size for _at, size in model)
    for period in PARTS:
        parts = traffic.read(account, period, now)
        part = PARTS[period][0]
        for start, sizes in parts:
            same = (size for at, size in model if start_of(part, at, UTC) == start)
            assert sizes.received == sum(same), (period, start)


@pytest.mark.slow
def test_rows_are_bounded(account):
    for hour in range(24 * 90):
        add(account, NOW + hour * HOUR)
        if not hour % 6:
            traffic.roll_up(NOW + hour * HOUR)
    assert Traffic.objects.count() < 150
    traffic.roll_up(NOW + KEPT["month"] + 200 * DAY)
    assert Traffic.objects.count() == 0


def test_rolling_up_twice_changes_nothing(account):
    for hour in range(100):
        add(account, NOW + hour * HOUR)
    for _ in range(2):
        traffic.roll_up(NOW + 100 * HOUR)
        assert everything() == 100


@pytest.mark.parametrize(
    "when", [datetime(2026, 3, 29, tzinfo=BERLIN), datetime(2026, 10, 25, tzinfo=BERLIN)]
)
def test_days_with_23_or_25_hours(account, settings, when):
    """Each hour of the day when clocks change counts once, and for that day."""
    settings.TIME_ZONE = "Europe/Berlin"
    start = when.astimezone(UTC)
    hours = int(((when + DAY).astimezone(UTC) - start) / HOUR)
    assert hours in (23, 25)
    for hour in range(-2, hours + 2):
        add(account, start + hour * HOUR + timedelta(minutes=5))
    traffic.roll_up(start + 4 * DAY)
    by_day = dict(traffic.read(account, "month", start + 4 * DAY))
    assert by_day[start].received == hours
    assert len(by_day) == 30
    assert everything() == hours + 4


def test_clocks_that_are_set_back_lose_and_double_nothing(account):
    add(account, NOW + 3 * HOUR)
    traffic.roll_up(NOW + 4 * HOUR)
    add(account, NOW)
    traffic.roll_up(NOW)
    assert total(account, "day", NOW) == (1, 0)
    assert total(account, "day", NOW + 4 * HOUR) == (2, 0)


def test_an_idle_roll_up_is_one_query(account, django_assert_num_queries):
    add(account, NOW)
    with django_assert_num_queries(1):
        traffic.roll_up(NOW)
