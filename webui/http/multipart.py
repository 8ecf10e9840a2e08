"""Read a multipart body part by part. Parts that no one needs aren't read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import ChunkIter, LazyStream, MultiPartParserError, Parser

LONGEST_FIELD_BYTES = 64 * 1024
PIECE_BYTES = 256 * 1024


class UnreadableForm(Exception):  # noqa: N818  Errors are nouns here.
    """The body isn't multipart, or is malformed."""


class TooLong(UnreadableForm):
    """A field that exceeds its size limit."""


class CutOff(ConnectionResetError):  # noqa: N818  Errors are nouns here.
    """The sender disconnected or stalled before the end."""


class Reads(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass
class FormPart:
    """One field or file. Read its bytes before requesting the next part."""

    name: str
    filename: str
    is_file: bool
    _pieces: Iterator[bytes]
    _left: bytes = b""

    def read(self, size: int, /) -> bytes:
        if not self._left:
            self._left = next(self._pieces, b"")
        piece, self._left = self._left[:size], self._left[size:]
        return piece

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, or all that are left. They can still be read."""
        while len(self._left) < size and (piece := next(self._pieces, b"")):
            self._left += piece
        return self._left[:size]

    def text(self, most_bytes: int = LONGEST_FIELD_BYTES) -> str:
        pieces, size_bytes = [], 0
        while piece := self.read(PIECE_BYTES):
            pieces.append(piece)
            size_bytes += len(piece)
            if size_bytes > most_bytes:
                raise TooLong("a field too long")
        return b"".join(pieces).decode(errors="replace")


class Exactly:
    """A part of a declared size. `read` raises CutOff if the part is longer or shorter, and returns
    the last piece only once the part has ended with it."""

    def __init__(self, part: FormPart, size_bytes: int) -> None:
        self._part = part
        self._left = size_bytes
        self._refuse_more()

    def read(self, size: int, /) -> bytes:
        piece = self._part.read(size)
        self._left -= len(piece)
        if self._left < 0 or (not piece and self._left > 0):
            raise CutOff("not the declared size")
        self._refuse_more()
        return piece

    def _refuse_more(self) -> None:
        if self._left == 0 and self._part.read(1):
            raise CutOff("not the declared size")


class RequestReader:
    """The bytes of a request. `read` raises CutOff if the body ends too early."""

    def __init__(self, request: HttpRequest, length_bytes: int) -> None:
        self._request = request
        self._left = length_bytes

    def read(self, size: int, /) -> bytes:
        try:
            piece = self._request.read(min(size, self._left))
        except UnreadablePostError as error:
            raise CutOff("the sender stalled") from error
        self._left -= len(piece)
        if not piece and self._left:
            raise CutOff("the sender went away")
        return piece


def read_parts(request: HttpRequest, length_bytes: int) -> Iterator[FormPart]:
    boundary = (request.content_params or {}).get("boundary", "")
    if request.content_type != "multipart/form-data" or not 0 < len(boundary) <= 200:
        raise UnreadableForm("no multipart body")
    body = LazyStream(ChunkIter(cast("Any", RequestReader(request, length_bytes)), PIECE_BYTES))
    parser: Any = Parser(body, boundary.encode("ascii", "replace"))
    try:
        for _kind, headers, stream in parser:
            part = read_part(headers, stream)
            if part is not None:
                yield part
            while next(stream, b""):
                pass
    except (MultiPartParserError, TypeError) as error:
        # Python's parser raises TypeError if numbered and plain parameters have one name.
        raise UnreadableForm("a broken multipart body") from error


def read_part(headers: dict[str, Any], stream: Iterator[bytes]) -> FormPart | None:
    _value, parameters = headers.get("content-disposition", ("", {}))
    if "name" not in parameters:
        return None
    name, filename = (decode(parameters.get(key)) for key in ("name", "filename"))
    return FormPart(name, basename(filename), "filename" in parameters, stream)


def decode(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")


def basename(filename: str) -> str:
    """Drop the path that some browsers send. Quotes and line ends come percent-encoded."""
    name = filename.replace("\\", "/").rpartition("/")[2]
    return name.replace("%22", '"').replace("%0D", " ").replace("%0A", " ")
