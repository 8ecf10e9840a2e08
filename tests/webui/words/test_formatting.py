from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils import translation

from tests.cases import each_case
from webui.storage_meter import gauge_of
from webui.words.formatting import (
    Calendar,
    count_words,
    duration_words,
    exact_size,
    items_words,
    long_time,
    more_words,
    short_time,
    size_words,
    sum_words,
    tenths_words,
)

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 20, 13, 0, tzinfo=UTC)  # 14:00 in Berlin


@each_case(
    ("size_bytes", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1 KB"),
        (1_514, "2 KB"),
        (41_200, "41 KB"),
        (999_499, "999 KB"),
        (999_500, "1 MB"),
        (5_000_000, "5 MB"),
        (6_234_000, "6.2 MB"),
        (99_960_000, "100 MB"),
        (612_000_000, "612 MB"),
        (999_960_000, "1 GB"),
        (9_800_000_000, "9.8 GB"),
        (159_000_000_000, "159 GB"),
        (2_500_000_000_000, "2.5 TB"),
        (2**63 - 1, "9.2 EB"),
    ],
)
def test_sizes_have_no_more_digits_than_anybody_reads(size_bytes, words):
    assert size_words(size_bytes) == words


def test_sums_say_if_a_part_is_unknown():
    assert sum_words([1_000, 1_000]) == "2 KB"
    assert sum_words([1_000, None]) == "at least 1 KB"
    assert sum_words([None, None]) == sum_words([0, None]) == "size unknown"
    assert sum_words([]) == "0 bytes"


def test_numbers_are_grouped():
    assert count_words(10_000) == "10,000"
    assert items_words(10_000) == "10,000 items"
    assert items_words(1) == "1 item"
    assert exact_size(129_302_391) == "129,302,391 bytes"


def test_tenths_are_shown_if_there_are_any():
    assert [tenths_words(number) for number in (1, 1.04, 1.26, 12.5)] == ["1", "1", "1.3", "12.5"]


def test_a_shortened_list_says_how_much_it_leaves_out():
    assert [more_words(count) for count in (-1, 0, 1, 1200)] == [
        "",
        "",
        "and 1 more",
        "and 1,200 more",
    ]


@each_case(
    ("seconds", "expected"),
    [
        (1, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (251, "4 min 11 s"),
        (3599, "59 min 59 s"),
        (3840, "1 h 4 min"),
        (3869, "1 h 4 min"),
        (7200, "2 h"),
    ],
)
def test_lengths_are_as_exact_as_anybody_reads(seconds, expected):
    assert duration_words(seconds) == expected


def test_numbers_follow_the_language():
    with translation.override("de"):
        assert size_words(9_800_000_000) == "9,8 GB"
        assert size_words(999) == "999 Byte"
        assert count_words(10_000) == "10.000"
        assert exact_size(129_302_391) == "129.302.391 Byte"
        assert tenths_words(1.5) == "1,5"


def test_german_has_singular_and_plural_forms():
    with translation.override("de"):
        assert [items_words(count) for count in (0, 1, 2)] == [
            "0 Elemente",
            "1 Element",
            "2 Elemente",
        ]
        assert [more_words(count) for count in (1, 2)] == ["und 1 weiteres", "und 2 weitere"]
        assert [long_time(seconds) for seconds in (60, 7200, 3 * 86400)] == [
            "1 Minute",
            "2 Stunden",
            "3 Tage",
        ]
        assert short_time(7100) == "1 h 59 min"


def test_days_are_written_as_german_writes_them():
    calendar = Calendar(NOW, BERLIN)
    day, old = datetime(2026, 3, 1, 9, tzinfo=UTC), datetime(2024, 8, 7, 9, tzinfo=UTC)
    with translation.override("de"):
        assert calendar.words(NOW) == "Heute, 14:00"
        assert calendar.words(NOW - timedelta(days=1)) == "Gestern"
        assert [calendar.words(moment) for moment in (day, old)] == ["1. Mär", "7. Aug 2024"]
        assert calendar.exact(day) == "1. März 2026, 10:00:00"


@each_case(
    ("moment", "words"),
    [
        (NOW - timedelta(minutes=20), "Today, 13:40"),
        (NOW - timedelta(hours=15), "Yesterday"),
        (datetime(2026, 11, 18, 9, tzinfo=UTC), "18 Nov"),
        (datetime(2026, 1, 1, 9, tzinfo=UTC), "1 Jan"),
        (datetime(2024, 8, 7, 9, tzinfo=UTC), "7 Aug 2024"),
        (NOW + timedelta(hours=12), "21 Nov"),
        (None, ""),
    ],
)
def test_days_are_named_as_people_name_them(moment, words):
    assert Calendar(NOW, BERLIN).words(moment) == words


def test_the_day_is_that_of_the_readers_zone():
    late = datetime(2026, 11, 19, 23, 30, tzinfo=UTC)
    assert Calendar(NOW, BERLIN).words(late) == "Today, 00:30"
    assert Calendar(NOW, ZoneInfo("UTC")).words(late) == "Yesterday"


def test_the_exact_time_is_shown_beside():
    calendar = Calendar(NOW, BERLIN)
    moment = datetime(2026, 11, 18, 12, 30, 11, tzinfo=UTC)
    assert calendar.exact(moment) == "18 November 2026, 13:30:11"
    assert calendar.iso(moment) == "2026-11-18T13:30:11+01:00"
    assert calendar.since(moment) == "18 Nov, 13:30"
    assert calendar.since(NOW) == "14:00"


@each_case(
    ("used", "level"),
    [(0, "ok"), (79, "ok"), (80, "low"), (94, "low"), (95, "full"), (120, "full")],
)
def test_the_meter_warns_before_it_is_full(used, level):
    gauge = gauge_of(used * 10**9, 100 * 10**9)
    assert gauge.level == level
    assert gauge.total == "100 GB"


def test_the_meter_says_what_is_free_and_what_is_used():
    gauge = gauge_of(159 * 10**9, 200 * 10**9)
    assert gauge.text == "159 GB of 200 GB used"
    assert gauge.free == "41 GB"
    assert gauge.percent == "79.5%"


@each_case("space", [(None, None), (5, None), (None, 5), (5, 0)])
def test_without_space_figures_there_is_no_meter(space):
    assert gauge_of(*space) is None
