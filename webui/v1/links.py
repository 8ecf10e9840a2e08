"""Links to a service's bytes, and open downloads of them."""

import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from webui.v1.errors import Unreadable
from webui.v1.network.sockets import failure_of, shut, socket_of

LONGEST_URL = 8_192
LEAST_UNREAD_BYTES = 1024 * 1024
PEEK_SECONDS = 15
SENT_ON = ("Range", "If-Range", "If-None-Match", "If-Modified-Since")
PASSED_BACK = (
    "Content-Type",
    "Content-Length",
    "Content-Range",
    "Content-Encoding",
    "Content-Disposition",
    "Accept-Ranges",
    "ETag",
    "Last-Modified",
)

HEADER_VALUE = re.compile(r"[\x20-\x7e]{1,200}")

LinkCheck = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Link:
    """A signed link: anyone who has it can fetch the bytes, so its query stays out of logs.

    `is_ours`: our own service made it, and it may be kept as path and signature.
    """

    url: str
    is_ours: bool

    @property
    def path_and_query(self) -> str:
        parts = urlsplit(self.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def __repr__(self) -> str:
        parts = urlsplit(self.url)
        return f"<Link to {parts.hostname}{parts.path}>"


@dataclass(frozen=True, slots=True)
class UnreadBytes:
    """The rest of a response's body, as it is on the service's socket."""

    source: socket.socket
    size_bytes: int


class Download:
    """A response whose bytes are passed on as they arrive. Its opener must close it."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._chunks = _raw(response)
        self.status = response.status_code
        self.headers = {
            name: response.headers[name] for name in PASSED_BACK if name in response.headers
        }
        # Where the bytes come from, after all redirects.
        self.url = str(response.request.url)
        # The unread bytes as a file of this machine, if the service runs in this process.
        self.file: Any = response.extensions.get("file_to_stream")
        self.is_aborted = False

    @property
    def size_bytes(self) -> int | None:
        length = self.headers.get("Content-Length", "")
        return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else None

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks

    def peek(self, least_bytes: int) -> bytes:
        """Return the first bytes, and leave them for the next reader.

        Return fewer than `least_bytes` only if there are no more or they arrive too slowly.
        """
        self.file = None
        pieces: list[bytes] = []
        size, deadline = 0, time.monotonic() + PEEK_SECONDS
        while size < least_bytes and (piece := next(self._chunks, None)) is not None:
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > deadline:
                break
        self._chunks = chain(pieces, self._chunks)
        return b"".join(pieces)

    def expect(self, size_bytes: int) -> None:
        """Require this length of a stream that doesn't announce its own."""
        self._chunks = _exactly(self._chunks, size_bytes)

    def unread(self, passed_bytes: int) -> UnreadBytes | None:
        """Return what is still on the socket once `passed_bytes` of the body were passed on.

        Return None if httpx holds more of the body, or has to decode it (TLS, chunks). A short rest
        isn't worth the connection, which can't be reused afterward.
        """
        connection, length = socket_of(self._response), self.headers.get("Content-Length", "")
        if connection is None or isinstance(connection, ssl.SSLSocket) or not length.isdecimal():
            return None
        is_ahead = self._response.num_bytes_downloaded != passed_bytes
        if is_ahead or "Transfer-Encoding" in self._response.headers:
            return None
        size_bytes = int(length) - passed_bytes
        return UnreadBytes(connection, size_bytes) if size_bytes >= LEAST_UNREAD_BYTES else None

    def close(self) -> None:
        """End the connection to the service at once if more bytes would come."""
        self._response.close()

    def abort(self) -> None:
        """End the download from any thread: a thread that waits for bytes sees their end."""
        self.is_aborted = True
        shut(self._response)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Download {self.status}>"


def _raw(response: httpx.Response) -> Iterator[bytes]:
    """Yield each piece as it arrives, without a fixed chunk size."""
    if response.is_stream_consumed:
        yield response.content
        return
    try:
        yield from response.iter_raw()
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise failure_of(error) from error


def _exactly(chunks: Iterator[bytes], size_bytes: int) -> Iterator[bytes]:
    remaining = size_bytes
    for chunk in chunks:
        remaining -= len(chunk)
        if remaining < 0:
            raise Unreadable("too_long")
        yield chunk
    if remaining:
        raise Unreadable("cut_off")


def sent_on(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return the headers that a reader may send to the service: for ranges and conditions."""
    by_name = {name.lower(): value for name, value in (headers or {}).items()}
    selection = {name: by_name[name.lower()] for name in SENT_ON if name.lower() in by_name}
    return {name: value for name, value in selection.items() if HEADER_VALUE.fullmatch(value)}


def resolve(location: str, base_url: httpx.URL | None = None) -> httpx.URL:
    """Return the absolute URL of a service's link; raise Unreadable if it is malformed."""
    if len(location) > LONGEST_URL or any(char <= " " or char in "\\\x7f" for char in location):
        raise Unreadable("bad_link")
    try:
        url = base_url.join(location) if base_url else httpx.URL(location)
    except (httpx.InvalidURL, ValueError) as error:
        raise Unreadable("bad_link") from error
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise Unreadable("bad_link")
    return url
