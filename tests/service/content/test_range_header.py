from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.content import range_header
from service.content.range_header import Span, Unsatisfiable
from tests.cases import each_case

sizes = st.integers(0, 300)
positions = st.integers(0, 320)
specs = st.one_of(
    st.tuples(positions, positions).map(lambda pair: f"{min(pair)}-{max(pair)}"),
    positions.map(lambda first: f"{first}-"),
    positions.map(lambda suffix: f"-{suffix}"),
)


def naive(spec: str, size: int) -> set[int]:
    """Return the offsets of the bytes in one range, checked one by one."""
    first, last = spec.split("-")
    if not first:
        return set(range(size)[size - min(size, int(last)) :])
    return {at for at in range(size) if at >= int(first) and (not last or at <= int(last))}


@given(sizes, specs)
def test_one_range_selects_the_counted_bytes(size, spec):
    expected = naive(spec, size)
    if not size and spec.startswith("-") and spec != "-0":
        assert range_header.spans_of(f"bytes={spec}", size) is None
    elif not expected:
        with pytest.raises(Unsatisfiable):
            range_header.spans_of(f"bytes={spec}", size)
    else:
        (span,) = range_header.spans_of(f"bytes={spec}", size)
        assert set(range(*span)) == expected


@given(st.integers(1, 300), st.lists(specs, min_size=1, max_size=range_header.MOST_RANGES))
def test_many_ranges_hold_every_byte_once_and_little_else(size, several):
    expected = set().union(*(naive(spec, size) for spec in several))
    if not expected:
        with pytest.raises(Unsatisfiable):
            range_header.spans_of("bytes=" + ",".join(several), size)
        return
    spans = range_header.spans_of("bytes=" + ", ".join(several), size)
    sent = [at for span in spans for at in range(*span)]
    assert sent == sorted(set(sent))
    assert set(sent) >= expected
    gaps = sorted(set(sent) - expected)
    assert all(any(at - step in expected for step in range(1, 81)) for at in gaps)
    distances = [after.start - before.stop for before, after in pairwise(spans)]
    assert all(distance > range_header.PART_OVERHEAD_BYTES for distance in distances)


@given(st.text(max_size=60), sizes)
def test_any_text_is_ignored_refused_or_answered_within_the_file(text, size):
    for header in (text, f"bytes={text}"):
        try:
            spans = range_header.spans_of(header, size)
        except Unsatisfiable:
            continue
        assert spans is None or all(0 <= a < b <= size for a, b in spans)


@each_case(
    "header",
    [
        "",
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes=-",
        "bytes=5-3",
        "bytes=a-b",
        "bytes=1-2-3",
        "bytes=0-0,x",
        "bytes=٣-٤",
        "bytes=+1-2",
        "bytes 0-1",
        "items=0-1",
        "bytes=" + "9" * 5000 + "-",
    ],
)
def test_a_malformed_range_is_ignored(header):
    assert range_header.spans_of(header, 100) is None


@each_case("header", ["Bytes=0-1", "bytes= 0-1", "bytes=0-1,", "bytes=,0-0 , 1-1"])
def test_every_range_that_the_grammar_allows_is_understood(header):
    assert range_header.spans_of(header, 100) == [Span(0, 2)]


@each_case(
    ("header", "span"),
    [
        ("bytes=0-0", Span(0, 1)),
        ("bytes=3-6", Span(3, 7)),
        ("bytes=3-9", Span(3, 10)),
        ("bytes=3-", Span(3, 10)),
        ("bytes=-3", Span(7, 10)),
    ],
)
def test_a_range_holds_its_first_and_its_last_byte(header, span):
    assert range_header.spans_of(header, 10) == [span]


def test_numbers_beyond_the_file_mean_its_end():
    assert range_header.spans_of(f"bytes=1-{10**30}", 10) == [Span(1, 10)]
    assert range_header.spans_of(f"bytes=-{10**30}", 10) == [Span(0, 10)]


def test_more_ranges_than_anybody_needs_are_ignored():
    many = ",".join(f"{at * 200}-{at * 200}" for at in range(range_header.MOST_RANGES + 1))
    most = many.rpartition(",")[0]
    assert range_header.spans_of(f"bytes={many}", 10**6) is None
    assert len(range_header.spans_of(f"bytes={most}", 10**6)) == range_header.MOST_RANGES
