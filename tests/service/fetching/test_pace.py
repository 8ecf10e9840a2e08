from email.utils import formatdate

import httpx
import pytest

from service.fetching.http.responses import retry_after, validator_of
from service.fetching.pace import RateLimit
from tests.cases import each_case

DAY = 1_700_000_000


def dated(seconds):
    return formatdate(seconds, usegmt=True)


@pytest.fixture
def now():
    return [100.0]


def test_without_a_limit_nothing_waits(now):
    throttle = RateLimit(lambda: now[0])
    assert throttle.seconds_until(throttle.take(5_000)) == 0
    assert throttle.used_bytes == 5_000


def test_all_fetches_share_the_rate_limit(now):
    throttle = RateLimit(lambda: now[0], 1_000)
    bills = [throttle.take(500) for _ in range(3)]
    assert [throttle.seconds_until(bill) for bill in bills] == [0.5, 1.0, 1.5]
    now[0] = 101.0
    assert [throttle.seconds_until(bill) for bill in bills] == [0, 0, 0.5]
    assert throttle.seconds_until(throttle.take(500)) == 1.0
    assert throttle.used_bytes == 1_000


def test_at_most_half_a_second_without_bytes_is_a_credit(now):
    throttle = RateLimit(lambda: now[0], 1_000)
    throttle.take(500)
    now[0] = 500.0
    assert throttle.used_bytes == 500
    assert throttle.seconds_until(throttle.take(500)) == 0
    assert throttle.seconds_until(throttle.take(500)) == 0.5


def test_a_new_rate_limit_applies_to_bytes_that_wait(now):
    throttle = RateLimit(lambda: now[0], 100)
    bill = throttle.take(1_000)
    now[0] = 105.0
    throttle.change(1_000)
    assert throttle.seconds_until(bill) == 0.5
    throttle.change(0)
    assert throttle.seconds_until(bill) == 0


@each_case(("limit", "size"), [(0, 2**18), (64_000, 8_000), (100, 2**12), (10**9, 2**18)])
def test_less_is_read_at_once_under_a_limit(limit, size):
    assert RateLimit(lambda: 0.0, limit).read_bytes == size


@each_case(
    ("headers", "validator"),
    [
        ({"ETag": '"a"'}, '"a"'),
        ({"ETag": '"a"', "Last-Modified": dated(DAY)}, '"a"'),
        ({"ETag": 'W/"a"', "Last-Modified": dated(DAY)}, dated(DAY)),
        ({"ETag": 'W/"a"'}, ""),
        ({"ETag": "a"}, ""),
        ({"ETag": '"a'}, ""),
        ({"ETag": '"a" "b"'}, ""),
        ({"ETag": f'"{"a" * 600}"'}, ""),
        ({"Last-Modified": dated(DAY), "Date": dated(DAY + 1)}, dated(DAY)),
        ({"Last-Modified": dated(DAY), "Date": dated(DAY)}, ""),
        ({"Last-Modified": dated(DAY + 5), "Date": dated(DAY)}, ""),
        ({"Last-Modified": "yesterday"}, ""),
        ({"Last-Modified": dated(DAY), "Date": "now"}, dated(DAY)),
        ({}, ""),
    ],
)
def test_only_strong_validators_are_trusted(headers, validator):
    assert validator_of(httpx.Headers(headers)) == validator


@each_case("said", ["", "x", "1e9", "-1", "Mon, 99 Nov 2023 99:99:99 GMT", "\u0661"])
def test_an_unreadable_wait_is_ignored(said):
    headers = httpx.Headers([(b"Retry-After", said.encode())])
    assert retry_after(headers, DAY) == 0
