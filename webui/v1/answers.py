"""Read a service's responses: bounded, decoded, and checked by v1's rules."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from http.client import responses
from typing import Any

import httpx
import msgspec

from webui.v1 import errors, records, values
from webui.v1.calls import ETAG
from webui.v1.errors import Failure, Unreadable
from webui.v1.links import Download
from webui.v1.network.sockets import Deadline
from webui.v1.records import Json

# A listing of 100,000 files has some 400,000 objects and 2,500,000 commas. Two bytes of JSON can
# cost 64 of memory, so the size alone bounds nothing.
MOST_OBJECTS = 1_000_000
MOST_COMMAS = 5_000_000
MOST_ERROR_BYTES = 1024 * 1024
MOST_PLAYLIST_BYTES = 4 * 1024 * 1024
PIECE_BYTES = 64 * 1024
LONGEST_WAIT_SECONDS = 86_400
LONGEST_INTEGER = 4_300
GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
OWN_KEYS = frozenset({"result", "success", "status_code", "reason_phrase", "error", "code"})
OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
ROWS = msgspec.json.Decoder(list[msgspec.Raw])

REASON_KEYS = ("reason_phrase", "result", "error", "errors", "message")
NO_ROOM = (
    "not_enough_space",
    "queue_full",
    "out_of_wishlist",
    "out_of_bandwidth",
    "added_to_wishlist",
)
KNOWN_WORDS = frozenset(
    f"{cause}{suffix}"
    for cause in ("not_enough_space", "queue_full", "private_not_allowed")
    for suffix in ("", "_added_to_wishlist", "_wishlist_full")
) | {
    "access_denied",
    "added_to_wishlist",
    "fetch_error",
    "invalid_torrent",
    "name_taken",
    "no_torrent_passed",
    "not_a_torrent",
    "not_found",
    "out_of_bandwidth_memory",
    "out_of_wishlist",
    "parsing_error",
    "premium_required",
}
BY_WORD: Mapping[str, type[Failure]] = {
    "access_denied": errors.Unauthorized,
    "premium_required": errors.Forbidden,
    "not_found": errors.NotFound,
    "name_already_taken": errors.Conflict,
    "name_taken": errors.Conflict,
}
BY_STATUS: Mapping[int, type[Failure]] = {
    401: errors.Unauthorized,
    402: errors.Forbidden,
    403: errors.Forbidden,
    404: errors.NotFound,
    408: errors.Unavailable,
    409: errors.Conflict,
    410: errors.NotFound,
    425: errors.Unavailable,
    429: errors.TooMany,
    507: errors.NoRoom,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. `body` is None if a failed response has no readable body."""

    status: int
    headers: httpx.Headers
    body: Json | None

    @property
    def is_own(self) -> bool:
        """Return whether the service itself answered, not a proxy or web server in front of it."""
        return self.body is not None and (self.status < 300 or not OWN_KEYS.isdisjoint(self.body))

    @property
    def is_missing_route(self) -> bool:
        return self.status in (405, 501) or (self.status == 404 and not self.is_own)


def read(
    response: httpx.Response, deadline: Deadline, most_bytes: int, row_keys: Sequence[str] = ()
) -> Answer:
    """Read a response. Never parse a 401: its body may be anything. Other failures may lack one."""
    status = response.status_code
    if status == 401 or (status == 304 and "If-None-Match" in response.request.headers):
        return Answer(status, response.headers, None)
    if 300 <= status < 400:
        raise Unreadable("redirected", status=status)
    if status >= 400:
        most_bytes = min(most_bytes, MOST_ERROR_BYTES)
    try:
        body = decode(read_bounded(response, deadline, most_bytes), row_keys)
    except (Unreadable, httpx.HTTPError):
        if status < 400:
            raise
        body = None
    return Answer(status, response.headers, body)


def read_bounded(response: httpx.Response, deadline: Deadline, most_bytes: int) -> bytes:
    length = response.headers.get("Content-Length", "")
    if length.isascii() and length.isdigit() and (len(length) > 15 or int(length) > most_bytes):
        raise Unreadable("too_large")
    return join(unpack(response, deadline), deadline, most_bytes)


def read_small(download: Download, deadline: Deadline, most_bytes: int) -> bytes:
    """Return a small stream as a whole. It must be unencoded, as was requested."""
    if download.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise Unreadable("unknown_coding")
    if (download.size_bytes or 0) > most_bytes:
        raise Unreadable("too_large")
    return join(download, deadline, most_bytes)


def join(pieces: Iterable[bytes], deadline: Deadline, most_bytes: int) -> bytes:
    chunks, size = [], 0
    for piece in pieces:
        deadline.check()
        size += len(piece)
        if size > most_bytes:
            raise Unreadable("too_large")
        chunks.append(piece)
    return b"".join(chunks)


def unpack(response: httpx.Response, deadline: Deadline) -> Iterator[bytes]:
    """Unpack 64 KiB at a time: httpx unpacks whole pieces, which a bomb turns into gigabytes."""
    if response.is_stream_consumed:
        # A transport that is a plain function returns what it has already read and unpacked.
        yield response.content
        return
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise Unreadable("unknown_coding")
    unpacker = None if coding in ("", "identity") else zlib.decompressobj(GZIP_OR_ZLIB)
    for raw in response.iter_raw():
        deadline.check()
        if unpacker is None:
            yield raw
        else:
            yield from _inflate(unpacker, raw)
    if unpacker is not None and not unpacker.eof:
        raise Unreadable("cut_off")


def _inflate(unpacker: "zlib._Decompress", raw: bytes) -> Iterator[bytes]:
    while raw and not unpacker.eof:
        try:
            piece = unpacker.decompress(raw, PIECE_BYTES)
        except zlib.error as error:
            raise Unreadable("bad_coding") from error
        raw = unpacker.unconsumed_tail
        yield piece


def decode(raw: bytes, row_keys: Sequence[str] = ()) -> Json:
    """Parse a JSON object, whatever the content type says. An empty body is an empty object."""
    if not raw.strip():
        return {}
    if raw.count(b",") > MOST_COMMAS or raw.count(b"{") + raw.count(b"[") > MOST_OBJECTS:
        raise Unreadable("too_large")
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    try:
        value = parse_json(text, row_keys)
    except (ValueError, RecursionError) as error:
        raise Unreadable("not_json") from error
    if not isinstance(value, dict):
        raise Unreadable("not_json")
    return value


def parse_json(text: str | bytes, row_keys: Sequence[str] = ()) -> Any:
    """Parse JSON. NaN, Infinity, and integers that Python refuses (4,300 digits) become null.

    msgspec takes a third of the time, but only well-formed JSON. Then the rows under `row_keys`
    stay unparsed.
    """
    with suppress(msgspec.DecodeError, ValueError):
        return _with_raw_rows(text, row_keys) if row_keys else msgspec.json.decode(text)
    return json.loads(
        text,
        parse_constant=lambda _word: None,
        parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_INTEGER else None,
    )


def _with_raw_rows(text: str | bytes, row_keys: Sequence[str]) -> Json:
    return {
        key: ROWS.decode(value) if key in row_keys else msgspec.json.decode(value)
        for key, value in OBJECT.decode(text).items()
    }


def check(answer: Answer, secrets: tuple[str, ...], now: datetime) -> None:
    """Raise unless the status is below 400, `result` isn't false or a word, and there's no wish."""
    body = answer.body or {}
    result = body.get("result")
    is_refused = result is False or isinstance(result, str) or body.get("wt") is not None
    if answer.status >= 400 or is_refused:
        raise refusal(answer, secrets, now)


def refusal(answer: Answer, secrets: tuple[str, ...], now: datetime) -> Failure:
    body = answer.body or {}
    status = answer.status if answer.status >= 400 else _status_within(body)
    phrase = _without(secrets, said_in(body))
    word = errors.reason_word(phrase) or errors.reason_word(phrase_of(status))
    wait = retry_after_of(answer.headers, now)
    return _kind(status, word, wait)(
        word,
        status=status,
        said=phrase,
        message=_without(secrets, text if isinstance(text := body.get("message"), str) else ""),
        retry_after_seconds=wait,
        wish=records.wish(body.get("wt")),
        missing_bytes=missing_bytes_of(body),
    )


def said_in(body: Json) -> str:
    """Return the service's own word or sentence; "" if it gives none."""
    return next(filter(None, (_words_in(body.get(key)) for key in REASON_KEYS)), "")


def _words_in(value: Any) -> str:
    """Return the text, which some services put into an object, a list, or both."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("message")
    return value if isinstance(value, str) else ""


def phrase_of(status: int | None) -> str:
    if status is None:
        return "refused"
    # Python versions differ about the phrase of 413.
    return "too large" if status == 413 else responses.get(status, "unknown")


def _status_within(body: Json) -> int | None:
    """Return the status in the body: legacy services answer 200 and put the real status there."""
    statuses = (body.get(key) for key in ("code", "status_code"))
    return next((each for each in statuses if type(each) is int and 400 <= each < 600), None)


def _kind(status: int | None, word: str, wait: float | None) -> type[Failure]:
    if status == 401:
        return errors.Unauthorized
    if word.startswith(NO_ROOM):
        return errors.NoRoom
    if status == 403 and (wait is not None or "rate_limit" in word or "too_many" in word):
        return errors.TooMany
    if status is None:
        return BY_WORD.get(word, errors.Rejected)
    return BY_STATUS.get(status) or (errors.Unavailable if status >= 500 else errors.Rejected)


def missing_bytes_of(body: Json) -> int | None:
    """Return how much space is missing, if the response contains both size and space."""
    wished, most, usage = body.get("wt"), body.get("space_max"), body.get("space_used")
    if not isinstance(wished, Mapping) or most is None or usage is None:
        return None
    missing = values.bytes_of(wished.get("size")) - values.bytes_of(most) + values.bytes_of(usage)
    return missing if missing > 0 else None


def etag_of(headers: httpx.Headers) -> str | None:
    etag = headers.get("ETag", "")
    return etag if ETAG.fullmatch(etag) else None


def retry_after_of(headers: httpx.Headers, now: datetime) -> float | None:
    """Return how long to wait. The header is in seconds or a date."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(min(int(value[:9]), LONGEST_WAIT_SECONDS))
    try:
        wait = (parsedate_to_datetime(value) - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(wait, 0.0), float(LONGEST_WAIT_SECONDS))


def _without(secrets: tuple[str, ...], text: str) -> str:
    """Drop text that contains a secret: a service may repeat it, but pages and logs must not."""
    if errors.reason_word(text) in KNOWN_WORDS:
        return text
    return "" if any(secret and secret in text for secret in secrets) else text
