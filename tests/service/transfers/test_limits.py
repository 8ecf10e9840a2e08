"""What applies when: the environment, the row, the schedule, and the switch."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from service.models import Limits
from service.torrents.orders import TransferLimits
from service.transfers import limits, transfers
from service.transfers.limits import current, lower
from tests.cases import each_case
from tests.service.builders import NOW, alice, magnet

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
ALWAYS, NEVER = "1" * 336, "0" * 336


@pytest.fixture
def account():
    return alice()


@pytest.fixture
def slow(account):
    """Set speeds of which the slow ones are lower."""
    limits.change(
        account,
        {
            "download_bytes_per_second": 5_000,
            "upload_bytes_per_second": 0,
            "slow_download_bytes_per_second": 500,
            "slow_upload_bytes_per_second": 50,
        },
    )


def speeds(now=NOW):
    of_all = current(now).transfers
    return of_all.download_bytes_per_second, of_all.upload_bytes_per_second


FULL, SLOW = (5_000, 0), (500, 50)


def test_without_a_row_the_settings_apply(settings):
    assert current(NOW).transfers == TransferLimits(0, 0, 1.0, 60)
    assert current(NOW).active_transfers == 5
    settings.NO_PEERS_SECONDS = 20
    assert current(NOW).patience == timedelta(seconds=20)


def test_a_change_applies_at_once_and_leaves_the_rest_as_it_is(account):
    limits.change(account, {"active_transfers": 2, "seed_ratio": 0})
    limits.change(account, {"seed_minutes": 7})
    assert current(NOW).active_transfers == 2
    assert current(NOW).transfers == TransferLimits(0, 0, 0, 7)
    assert Limits.objects.count() == 1


def test_what_the_environment_sets_cannot_be_changed(account, settings, slow):
    settings.FIXED_SETTINGS, settings.DOWNLOAD_LIMIT = {"DOWNLOAD_LIMIT"}, 3_000
    assert speeds() == (3_000, 0)
    with pytest.raises(limits.SettingFixed) as refusal:
        limits.change(account, {"active_transfers": 1, "download_bytes_per_second": 9})
    assert refusal.value.reason == "download_bytes_per_second_fixed"
    assert current(NOW).active_transfers == 5


def test_the_slow_speeds_are_never_faster_than_the_environment_allows(account, settings, slow):
    settings.FIXED_SETTINGS, settings.DOWNLOAD_LIMIT = {"DOWNLOAD_LIMIT"}, 300
    limits.change(account, {"schedule": ALWAYS})
    assert speeds() == (300, 50)


@each_case(("one", "other", "least"), [(0, 0, 0), (0, 5, 5), (5, 0, 5), (3, 5, 3)])
def test_the_lower_of_two_limits(one, other, least):
    assert lower(one, other) == least


@pytest.fixture
def time_zone(monkeypatch):
    """Return a function that sets the time zone; the setting would reset PostgreSQL's sessions."""
    return lambda name: monkeypatch.setattr(
        timezone, "get_default_timezone", lambda: ZoneInfo(name)
    )


def test_the_schedule_changes_speeds_by_half_hours_of_its_time_zone(account, time_zone, slow):
    time_zone("Asia/Kolkata")
    # Tuesday, 12:00: in UTC, 6:30.
    limits.change(account, {"schedule": "".join(str(int(at == 72)) for at in range(336))})
    start = datetime(2026, 9, 1, 6, 29, 59, tzinfo=UTC)
    assert [speeds(start + timedelta(seconds=each)) for each in (0, 1, 1_800, 1_801)] == [
        *(FULL, SLOW, SLOW, FULL)
    ]


def test_a_switch_holds_until_it_expires_and_then_the_schedule_counts(account, time_zone, slow):
    time_zone("Europe/Berlin")
    limits.change(account, limits.switch("slow", "hour", NOW))
    assert [speeds(NOW + HOUR * part) for part in (0, 0.99, 1, 50)] == [SLOW, SLOW, FULL, FULL]
    limits.change(account, {"schedule": ALWAYS, **limits.switch("full", "tomorrow", NOW)})
    midnight = datetime(2026, 9, 1, 22, tzinfo=UTC)
    assert [speeds(midnight - HOUR), speeds(midnight)] == [FULL, SLOW]


def test_a_switch_without_an_end_holds_until_it_is_switched_back(account, slow):
    limits.change(account, limits.switch("slow", None, NOW))
    assert speeds(NOW + 10_000 * HOUR) == SLOW
    limits.change(account, limits.switch("schedule", None, NOW))
    assert speeds() == FULL


def test_limits_of_one_transfer(account):
    transfer, other = (transfers.add_magnet(account, magnet(each), 0, NOW) for each in "ab")
    limits.change_own(account, transfer.pk, {"upload_bytes_per_second": 7}, NOW)
    own = limits.change_own(account, transfer.pk, {"seed_minutes": 0}, NOW)
    assert own == TransferLimits(upload_bytes_per_second=7, seed_minutes=0)
    found = limits.find_own(type(other).objects.all())
    assert {pk: limits.own_limits(values) for pk, values in found.items()} == {transfer.pk: own}
    changed = {"upload_bytes_per_second": None, "seed_minutes": None}
    assert limits.change_own(account, transfer.pk, changed, NOW) == TransferLimits()


@each_case(
    ("own", "is_enough"),
    [
        ({}, False), ({"seed_ratio": 0.0}, True), ({"seed_minutes": 0}, True),
        ({"seed_ratio": 9.0, "seed_minutes": 5}, False),
    ],
)  # fmt: skip
def test_when_a_torrent_is_not_seeded_at_all(own, is_enough):
    assert TransferLimits(**own).is_enough(current(NOW).transfers, 0, 0) is is_enough
