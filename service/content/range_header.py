"""Parse Range headers: arithmetic only (RFC 9110, section 14)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

# More than a video player or a resuming download ever sends. For more, the response is the whole
# content, as the RFC allows: that costs no more than a request without ranges.
MOST_RANGES = 16
LONGEST_HEADER = 1000
# A gap smaller than the head of a part is cheaper to send than to leave out.
PART_OVERHEAD_BYTES = 80
# At least one of both numbers is there.
ONE_RANGE = re.compile(r"(?=-?[0-9])([0-9]*)-([0-9]*)")


class Unsatisfiable(Exception):  # noqa: N818  Errors are nouns here.
    """The ranges are valid, but contain no byte of the content."""


class Span(NamedTuple):
    """The bytes from `start` up to, but excluding, `stop`."""

    start: int
    stop: int

    @property
    def size_bytes(self) -> int:
        return self.stop - self.start


def spans_of(header: str, size_bytes: int) -> list[Span] | None:
    """Return the requested spans in ascending order, or None to send the whole content.

    Spans that overlap or nearly touch are merged. Raises Unsatisfiable.
    """
    unit, _equals, ranges = header.partition("=")
    words = [word for text in ranges.split(",") if (word := text.strip())]
    is_of_bytes = unit.strip().lower() == "bytes" and len(header) <= LONGEST_HEADER
    if not words or not is_of_bytes or ranges.count(",") >= MOST_RANGES:
        return None
    try:
        spans = [span for word in words if (span := _span(*parse(word), size_bytes)) is not None]
    except ValueError:
        return None
    if not spans:
        raise Unsatisfiable
    # A suffix of an empty file is satisfiable, but has no first byte for Content-Range.
    return merge(spans) if size_bytes else None


def parse(word: str) -> tuple[int | None, int | None]:
    """Return the first and last position of a range. Raises ValueError if it is malformed."""
    match = ONE_RANGE.fullmatch(word)
    if match is None:
        raise ValueError(word)
    first, last = (int(digits) if digits else None for digits in match.groups())
    if first is not None and last is not None and last < first:
        raise ValueError(word)
    return first, last


def _span(first: int | None, last: int | None, size_bytes: int) -> Span | None:
    if first is None:
        suffix = last or 0
        return Span(max(0, size_bytes - suffix), size_bytes) if suffix else None
    if first >= size_bytes:
        return None
    return Span(first, size_bytes if last is None else min(last + 1, size_bytes))


def merge(spans: Iterable[Span]) -> list[Span]:
    result: list[Span] = []
    for span in sorted(spans):
        if result and span.start - result[-1].stop <= PART_OVERHEAD_BYTES:
            result[-1] = Span(result[-1].start, max(result[-1].stop, span.stop))
        else:
            result.append(span)
    return result


def content_range(span: Span, size_bytes: int) -> str:
    return f"bytes {span.start}-{span.stop - 1}/{size_bytes}"
