from email.utils import formatdate

import httpx

from service.fetching.http.responses import retry_after, validator_of
from service.fetching.pace import RateLimit
from tests.cases import each_case

DAY = 1_700_000_000


def dated(seconds):
    return formatdate(seconds, usegmt=True)


def test_all_fetches_share_the_rate_limit():
    now = [100.0]
    assert RateLimit(lambda: now[0], 0).seconds_for(5_000) == 0
    throttle = RateLimit(lambda: now[0], 1_000)
    assert [throttle.seconds_for(500) for _ in range(3)] == [0.5, 1.0, 1.5]
    now[0] = 101.0
    assert throttle.seconds_for(500) == 1.0
    now[0] = 500.0
    assert throttle.seconds_for(500) == 0.5


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
