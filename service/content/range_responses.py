"""Answer requests for anything that can be read in ranges: conditions and ranges (RFC 9110)."""

import errno
import secrets
from collections.abc import Generator, Iterator
from contextlib import closing
from io import FileIO
from itertools import chain
from typing import Any, BinaryIO, Protocol

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, parse_http_date_safe

from service.content import range_header
from service.content.disposition import Presentation
from service.content.range_header import Span
from service.errors import StoreAway
from service.http import responses

# A client must take one block within a minute, or is cut off (see config/wsgi.py).
BLOCK_BYTES = 128 * 1024


class Representation(Protocol):
    """Bytes that never change under one `etag`."""

    size_bytes: int
    etag: str
    modified_seconds: int | None  # None: only the tag identifies it
    presentation: Presentation

    def whole_or_part(self, span: Span) -> HttpResponseBase:
        """Open the content, and return a response with just these bytes. Raises NotFound."""

    def read(self, span: Span) -> Generator[bytes, None, None]: ...


def answer(request: HttpRequest, representation: Representation) -> HttpResponseBase:
    seconds = representation.modified_seconds
    headers: dict[str, str] = {
        "ETag": representation.etag,
        **({} if seconds is None else {"Last-Modified": http_date(seconds)}),
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        **presentation_headers(representation.presentation),
    }
    early_response = early_answer(request, representation, headers)
    return early_response or body_answer(request, representation, headers)


def presentation_headers(presentation: Presentation) -> dict[str, str]:
    return {
        "Content-Type": presentation.content_type,
        "Content-Disposition": presentation.disposition,
        "Content-Security-Policy": presentation.policy,
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def early_answer(
    request: HttpRequest, representation: Representation, headers: dict[str, str]
) -> HttpResponseBase | None:
    """Return 304 or 412 if the request's conditions demand it."""
    seconds = representation.modified_seconds
    if seconds is None:
        # Django would treat the condition as failed; section 13.1.4 says to ignore it.
        request.META.pop("HTTP_IF_UNMODIFIED_SINCE", None)
    response = get_conditional_response(
        request, representation.etag, seconds, HttpResponse(headers=headers)
    )
    if response is None or response.status_code == 200:
        return None
    if response.status_code == 412:
        return responses.refuse(412, "precondition_failed")
    return response


def body_answer(
    request: HttpRequest, representation: Representation, headers: dict[str, str]
) -> HttpResponseBase:
    size_bytes = representation.size_bytes
    if request.method == "HEAD":  # HEAD ignores Range.
        return HttpResponse(headers=headers | {"Content-Length": str(size_bytes)})
    try:
        spans = wanted_spans(request, representation)
    except range_header.Unsatisfiable:
        refusal = responses.refuse(416, "range_not_satisfiable")
        refusal.headers["Content-Range"] = f"bytes */{size_bytes}"
        return refusal
    if spans is None:
        whole = representation.whole_or_part(Span(0, size_bytes))
        return with_headers(whole, headers | {"Content-Length": str(size_bytes)})
    if len(spans) > 1:
        multipart = Multipart(representation, spans)
        return with_headers(multipart, headers | multipart.own_headers)
    part = representation.whole_or_part(spans[0])
    part.status_code = 206
    headers["Content-Range"] = range_header.content_range(spans[0], size_bytes)
    return with_headers(part, headers | {"Content-Length": str(spans[0].size_bytes)})


def wanted_spans(request: HttpRequest, representation: Representation) -> list[Span] | None:
    header = request.headers.get("Range")
    if header is None or not is_still_the_same(request.headers.get("If-Range"), representation):
        return None
    return range_header.spans_of(header, representation.size_bytes)


def is_still_the_same(if_range: str | None, representation: Representation) -> bool:
    """Check `If-Range`: a weak tag never matches, and a date must be exactly equal."""
    if if_range is None or if_range.strip() == representation.etag:
        return True
    seconds = representation.modified_seconds
    return seconds is not None and parse_http_date_safe(if_range) == seconds


def with_headers(response: HttpResponseBase, headers: dict[str, str]) -> HttpResponseBase:
    for name, value in headers.items():
        response.headers[name] = value
    return response


class InOneFile:
    """Content in one file.

    The kernel sends a single part of a file of this machine. All else is read in blocks.
    """

    def whole_or_part(self, span: Span) -> HttpResponseBase:
        file = self._open()
        return FilePart(file, span) if isinstance(file, FileIO) else PartInBlocks(file, span)

    def read(self, span: Span) -> Generator[bytes, None, None]:
        return iter(Slice(self._open(), span))

    def _open(self) -> BinaryIO:
        raise NotImplementedError


def cut_off_with_store(chunks: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    """Abort the connection if the store fails: a response that has begun can't become 503."""
    try:
        yield from chunks
    except StoreAway as trouble:
        raise ConnectionResetError(errno.ECONNRESET, "the store broke off") from trouble


class FilePart(StreamingHttpResponse):
    """Part of an open file. The server's sendfile starts at the position of `file_to_stream`."""

    block_size = BLOCK_BYTES

    def __init__(self, file: BinaryIO, span: Span) -> None:
        self.file_to_stream = Slice(file, span)
        super().__init__(self.file_to_stream)


class Slice:
    """A range of a file, with the methods that a server needs. Iteration closes the file."""

    def __init__(self, file: BinaryIO, span: Span) -> None:
        file.seek(span.start)
        self._file = file
        self.remaining_bytes = span.size_bytes

    def fileno(self) -> int:
        return self._file.fileno()

    def read(self, size: int = BLOCK_BYTES) -> bytes:
        part = self._file.read(min(size, self.remaining_bytes))
        self.remaining_bytes -= len(part)
        if not part and self.remaining_bytes:
            raise EOFError("a file lost its end while it was sent")
        return part

    def close(self) -> None:
        self._file.close()

    def __iter__(self) -> Generator[bytes, None, None]:
        with self._file:
            while part := self.read():
                yield part


class PartInBlocks(StreamingHttpResponse):
    """Part of a file that isn't on this machine, of which the first block has been read."""

    def __init__(self, file: Any, span: Span) -> None:
        self._file, self._slice = file, Slice(file, span)
        super().__init__(StartedStream(iter(self._slice)))

    def rest(self) -> Any:
        """Return the unread rest of a socket if the server can send it directly."""
        return self._file.rest(self._slice.remaining_bytes)


class StartedStream:
    """Chunks, of which the first has already been read."""

    def __init__(self, chunks: Generator[bytes, None, None]) -> None:
        self._first = next(chunks, b"")
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return chain([self._first], cut_off_with_store(self._chunks))

    def close(self) -> None:
        self._chunks.close()


class Multipart(StreamingHttpResponse):
    """Several ranges in one response, whose length is known beforehand."""

    def __init__(self, representation: Representation, spans: list[Span]) -> None:
        boundary = secrets.token_hex(16)
        heads = [part_head(boundary, representation, span) for span in spans]
        tail = f"\r\n--{boundary}--\r\n".encode()
        chunks = parts(representation, spans, heads, tail)
        super().__init__(cut_off_with_store(chunks), status=206)
        framing_bytes = sum(map(len, heads)) + len(tail)
        self.own_headers = {
            "Content-Type": f"multipart/byteranges; boundary={boundary}",
            "Content-Length": str(framing_bytes + sum(span.size_bytes for span in spans)),
        }


def part_head(boundary: str, representation: Representation, span: Span) -> bytes:
    lines = [
        f"\r\n--{boundary}",
        f"Content-Type: {representation.presentation.content_type}",
        f"Content-Range: {range_header.content_range(span, representation.size_bytes)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def parts(
    representation: Representation, spans: list[Span], heads: list[bytes], tail: bytes
) -> Generator[bytes, None, None]:
    for head, span in zip(heads, spans, strict=True):
        yield head
        with closing(representation.read(span)) as chunks:
            yield from chunks
    yield tail
