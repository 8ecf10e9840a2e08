"""Read a multipart body part by part, in constant memory."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from django.utils.http import parse_header_parameters

from common.http.forms import decode

PIECE_BYTES = 2**18
LONGEST_FIELD_BYTES = 2**16
MOST_HEAD_BYTES = 2**13
MOST_PADDING_BYTES = 2**7
BOUNDARY = re.compile("[ -~]{0,200}[!-~]")
DRIVE = re.compile(r"[A-Za-z]:\\")
FOLD = re.compile(r"\r\n[ \t]+")


class MalformedBody(Exception):  # noqa: N818  Errors are nouns here.
    """The body isn't multipart, or is malformed or cut off."""


class TooLong(MalformedBody):
    """A field exceeds its size limit."""


class Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass
class Part:
    """A field or a file. Read its content before the next part."""

    name: str
    is_file: bool
    file_name: str  # empty if no file was chosen
    content: Iterator[bytes]
    _unread: bytes = b""

    def read(self, size: int, /) -> bytes:
        self._read_ahead(1)
        piece, self._unread = self._unread[:size], self._unread[size:]
        return piece

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, or all that are left. They can still be read."""
        self._read_ahead(size)
        return self._unread[:size]

    def _read_ahead(self, size: int) -> None:
        while len(self._unread) < size and (piece := next(self.content, None)) is not None:
            self._unread += piece

    def text(self, most_bytes: int = LONGEST_FIELD_BYTES) -> str:
        value = bytearray(self._unread)
        for piece in self.content:
            value += piece
            if len(value) > most_bytes:
                raise TooLong
        return decode(bytes(value))


class MultipartReader:
    """A reader of the parts' heads and contents.

    Guarantee: a delimiter is a whole line, as in RFC 2046. The boundary anywhere else, even at the
    beginning of a longer line, is content, and passes unchanged.
    """

    def __init__(self, source: Source, boundary: bytes) -> None:
        self.has_ended = False
        self._source = source
        # As if a line came before: the first delimiter may be the body's first bytes.
        self._buffer = b"\r\n"
        self._at = 0
        self._delimiter = re.compile(
            rb"\r\n--%b(?:(?P<last>--)|[ \t]{0,%d}(?=\r\n))"
            % (re.escape(boundary), MOST_PADDING_BYTES)
        )
        self._longest = len(boundary) + MOST_PADDING_BYTES + len("\r\n--\r\n")

    def head(self) -> bytes:
        """Return the bytes before the first empty line."""
        while (end := self._buffer.find(b"\r\n\r\n", self._at)) < 0:
            self._refuse_long_head(len(self._buffer))
            self._read_on()
        self._refuse_long_head(end)
        return self._take(end, skipped=len("\r\n\r\n"))

    def _refuse_long_head(self, end: int) -> None:
        if end - self._at > MOST_HEAD_BYTES:
            raise MalformedBody

    def content(self) -> Iterator[bytes]:
        """Yield the bytes before the next delimiter."""
        while not (match := self._delimiter.search(self._buffer, self._at)):
            # The next bytes may complete a delimiter that begins in these.
            certain = len(self._buffer) - self._longest
            if certain > self._at:
                yield self._take(certain)
            self._read_on()
        yield self._take(match.start(), skipped=len(match[0]))
        self.has_ended = match["last"] is not None

    def _take(self, end: int, skipped: int = 0) -> bytes:
        piece = self._buffer[self._at : end]
        self._at = end + skipped
        return piece

    def _read_on(self) -> None:
        piece = self._source.read(PIECE_BYTES)
        if not piece:
            raise MalformedBody
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0


def parts(source: Source, boundary: str) -> Iterator[Part]:
    if not BOUNDARY.fullmatch(boundary):
        raise MalformedBody
    reader = MultipartReader(source, boundary.encode())
    try:
        drop(reader.content())
    except MalformedBody:
        return  # There is no part.
    while not reader.has_ended:
        headers = headers_of(reader.head())
        content = reader.content()
        if part := part_of(headers, content):
            yield part
        drop(content)
    drop(iter(lambda: source.read(PIECE_BYTES), b""))


def drop(pieces: Iterator[bytes]) -> None:
    for _piece in pieces:
        pass


def headers_of(head: bytes) -> dict[str, str]:
    lines = FOLD.sub(" ", decode(head)).split("\r\n")
    headers = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _colon, value in headers}


def part_of(headers: dict[str, str], content: Iterator[bytes]) -> Part | None:
    """Return the part, or None if its headers name no field."""
    try:
        _kind, words = parse_header_parameters(headers.get("content-disposition", ""))
    except (TypeError, ValueError):
        # Python's parser raises TypeError if numbered and plain parameters have one name.
        return None
    if "name" not in words:
        return None
    if headers.get("content-transfer-encoding", "").lower() == "base64":
        content = from_base64(content)
    name, file_name = unescape(words["name"].strip()), words.get("filename", "")
    return Part(name, "filename" in words, file_name and last_component(file_name), content)


def from_base64(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    try:
        for piece in pieces:
            rest += b"".join(piece.split())
            whole = len(rest) // 4 * 4
            yield b64decode(rest[:whole], validate=True)
            rest = rest[whole:]
        yield b64decode(rest, validate=True)
    except NotBase64 as not_base64:
        raise MalformedBody from not_base64


def last_component(file_name: str) -> str:
    """Return a name without the path that old browsers send."""
    separator = r"[/\\]" if DRIVE.match(file_name) else "/"
    return unescape(re.split(separator, file_name)[-1]) or "upload"


def unescape(text: str) -> str:
    """Decode the quote that HTML forms escape, and make the line ends, which no file may have in
    its name, spaces."""
    return text.replace("%22", '"').replace("%0D", " ").replace("%0A", " ")
