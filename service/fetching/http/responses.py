"""What the head of a response says about the bytes to come."""

import re
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

import httpx

from service.fetching.http.names import name_of

LONGEST_WAIT_SECONDS = 3600.0
LENGTH = re.compile("[0-9]{1,18}")
CONTENT_RANGE = re.compile(
    r"bytes\s+(?:([0-9]{1,18})-([0-9]{1,18})|\*)/([0-9]{1,18}|\*)", re.IGNORECASE
)
STRONG = re.compile(r'"[\x21\x23-\x7e]*"')
PAGES = ("text/html", "application/xhtml+xml")
TORRENT_TYPE = "application/x-bittorrent"
# Bencode sorts its keys, so one of these comes first.
TORRENT_START = re.compile(
    rb"d(?:8:announce|13:announce-list|9:azureus_|7:comment|10:created by|13:creation date|"
    rb"8:encoding|5:errors|9:httpseeds|4:info|5:nodes|12:piece layers|9:publisher)"
)


@dataclass(frozen=True)
class ResponseFacts:
    """What is at a URL, and how to recognize that it is still the same."""

    name: str
    size_bytes: int  # 0: unknown
    content_type: str
    coding: str  # how it is compressed, though not requested
    validator: str  # for If-Range; empty if none can be trusted

    @property
    def is_page(self) -> bool:
        return self.content_type in PAGES


@dataclass(frozen=True)
class ContentRange:
    """A Content-Range. `size_bytes` is None if the whole size is unknown."""

    first: int
    end: int
    size_bytes: int | None


def facts_of(answer: httpx.Response) -> ResponseFacts:
    return ResponseFacts(
        name_of(answer.headers, answer.request.url),
        size_of(answer.headers),
        answer.headers.get("content-type", "").partition(";")[0].strip().lower()[:100],
        coding_of(answer.headers),
        validator_of(answer.headers),
    )


def size_of(headers: httpx.Headers) -> int:
    """Return the size, or 0 if unknown; a length in a chunked response means nothing."""
    if "transfer-encoding" in headers:
        return 0
    return number(headers.get("content-length", "")) or 0


def coding_of(headers: httpx.Headers) -> str:
    return str(headers.get("content-encoding", "")).strip().lower()[:100]


def validator_of(headers: httpx.Headers) -> str:
    """Return a strong validator; a date is one if a second or more before Date (RFC 9110, 8.8)."""
    etag = headers.get("etag", "").strip()
    if STRONG.fullmatch(etag) and len(etag) < 500:
        return str(etag)
    modified = headers.get("last-modified", "").strip()
    modified_at, sent_at = seconds_of(modified), seconds_of(headers.get("date", ""))
    if modified_at is None or (sent_at is not None and sent_at - modified_at < 1):
        return ""
    return str(modified)


def facts_of_rest(
    headers: httpx.Headers, previous: ResponseFacts, have_bytes: int
) -> ResponseFacts | None:
    """Return the facts if a 206 continues the same content at the requested byte, else None."""
    part = content_range(headers)
    if part is None or part.first != have_bytes or coding_of(headers) != previous.coding:
        return None
    size_bytes = previous.size_bytes or part.size_bytes or 0
    length = size_of(headers) or part.end - part.first
    if part.size_bytes not in (None, size_bytes) or not have_bytes < part.end <= size_bytes:
        return None
    if length != part.end - part.first or not is_same(headers, previous.validator):
        return None
    return replace(previous, size_bytes=size_bytes)


def is_same(headers: httpx.Headers, validator: str) -> bool:
    """Compare a part's validator with the known one; a part may omit it."""
    name = "etag" if validator.startswith('"') else "last-modified"
    return headers.get(name, "").strip() in ("", validator)


def content_range(headers: httpx.Headers) -> ContentRange | None:
    match = CONTENT_RANGE.fullmatch(headers.get("content-range", "").strip())
    if match is None:
        return None
    size = None if match[3] == "*" else int(match[3])
    if match[1] is None:
        return ContentRange(0, 0, size)
    return ContentRange(int(match[1]), int(match[2]) + 1, size)


def is_torrent(facts: ResponseFacts, start: bytes, most_bytes: int) -> bool:
    if facts.size_bytes > most_bytes or not start.startswith(b"d"):
        return False
    return facts.content_type == TORRENT_TYPE or TORRENT_START.match(start) is not None


def may_pass(status: int) -> bool:
    return status in (408, 425, 429) or (500 <= status < 600 and status not in (501, 505))


def retry_after(headers: httpx.Headers, now: float) -> float:
    """Return how long the server wants us to wait, up to a limit; sent in seconds or as a date."""
    value = headers.get("retry-after", "").strip()
    at = seconds_of(value)
    seconds = at - now if at is not None else float(number(value) or 0)
    return min(max(seconds, 0.0), LONGEST_WAIT_SECONDS)


def number(text: str) -> int | None:
    return int(text) if LENGTH.fullmatch(text) else None


def seconds_of(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None
