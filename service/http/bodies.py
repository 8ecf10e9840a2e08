"""What clients send: fields in a query, a form, a multipart body or JSON, read within bounds."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from service.api.errors import BodyCutOff, LengthRequired, TooLarge, Unreadable
from service.api.multipart import Part, decoded, parts
from service.errors import NotFound
from service.models import LARGEST_ID

MOST_BYTES = 2**20
BLOCK_BYTES = 2**16
MOST_BYTES_OF_FIELDS = 2**22
MOST_FIELDS = 25_000
MOST_PARTS = 12_000
# Of a long run at once, the matcher would remember each turn.
ESCAPES = re.compile(rb"(?:%[0-9A-Fa-f]{2}){1,999}")
DIGITS = re.compile("[0-9]{1,30}")


@dataclass(frozen=True)
class Fields:
    """Values by name. What came as JSON may be of any type, and is text where text is asked for."""

    values: Mapping[str, Any]

    def text(self, *names: str) -> str | None:
        """The first of these that was sent."""
        for name in names:
            value = self.values.get(name)
            if value is not None:
                return _checked_text(name, value)
        return None

    def folder_id(self) -> int:
        """Where a result goes; 0, the root, where nothing is said."""
        value = self.values.get("folder_id")
        return 0 if value in (None, "") else number(value, "folder_id")


def _checked_text(name: str, value: Any) -> str:
    """JSON can spell half a character, which no database takes."""
    try:
        if isinstance(value, str) and value.encode() is not None:
            return value
    except UnicodeEncodeError:
        pass
    raise Unreadable(name)


def number(value: Any, name: str) -> int:
    """An id, as a number or as digits; one that is too large for any is not found."""
    if isinstance(value, str) and DIGITS.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Unreadable(name)
    if value > LARGEST_ID:
        raise NotFound
    return value


class Stream:
    """The bytes of a body, and never more than `most_bytes`, whatever length was promised.

    A connection that ends or stalls before it should is told of.
    """

    def __init__(self, request: HttpRequest, most_bytes: int) -> None:
        self.length_bytes = length_of(request)
        if (self.length_bytes or 0) > most_bytes:
            raise TooLarge
        self._most_bytes = most_bytes
        self._received_bytes = 0
        # Django gives nothing of a body without a length.
        self._source = request if self.length_bytes is not None else request.META["wsgi.input"]

    def read(self, size: int = -1, /) -> bytes:
        try:
            chunk: bytes = self._source.read(size)
        except OSError as stalled:
            raise BodyCutOff from stalled
        self._received_bytes += len(chunk)
        if self._received_bytes > self._most_bytes:
            raise TooLarge
        if size and not chunk and self._received_bytes < (self.length_bytes or 0):
            raise BodyCutOff
        return chunk

    def read_all(self) -> bytes:
        return b"".join(iter(lambda: self.read(BLOCK_BYTES), b""))


def length_of(request: HttpRequest) -> int | None:
    """None: in chunks, of which the server knows the last."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal():
        return int(length)
    if "HTTP_TRANSFER_ENCODING" not in request.META:
        return 0
    if request.META.get("wsgi.input_terminated"):
        return None
    raise LengthRequired


def fields_of(request: HttpRequest, most_bytes: int = MOST_BYTES) -> Fields:
    """Those of the query too; what is in both counts as the body has it."""
    stream = Stream(request, most_bytes)
    if request.content_type == "multipart/form-data":
        values: Mapping[str, Any] = parts_of(request, stream, let_go)
    else:
        values = _parsed(stream.read_all(), request.content_type or "")
    return Fields({**query_of(request), **values})


def query_of(request: HttpRequest) -> dict[str, str]:
    return form(request.META.get("QUERY_STRING", "").encode("latin-1"))


def parts_of(request: HttpRequest, stream: Stream, take: Callable[[Part], None]) -> dict[str, str]:
    """The plain fields of a multipart body; its files go to `take` as they come."""
    values: dict[str, str] = {}
    left_bytes = MOST_BYTES_OF_FIELDS
    for count, part in enumerate(parts(stream, (request.content_params or {}).get("boundary", ""))):
        if count >= MOST_PARTS:
            raise TooLarge
        if part.file_name:
            take(part)
            continue
        values[part.name] = part.text(left_bytes - len(part.name))
        left_bytes -= len(part.name) + len(values[part.name])
    return values


def let_go(_file: Part) -> None:
    """No file belongs here."""


def _parsed(content: bytes, content_type: str) -> dict[str, Any]:
    """Some send JSON under the type of a form, and forms under none."""
    is_json = content_type.endswith("json") or content.lstrip()[:1] == b"{"
    return json_object(content) if is_json and content.strip() else form(content)


def json_object(content: bytes) -> dict[str, Any]:
    values = json_value(decoded(content), "body")
    if not isinstance(values, dict):
        raise Unreadable("body")
    return values


def json_value(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as unreadable:
        raise Unreadable(name) from unreadable


def form(content: bytes) -> dict[str, str]:
    """The last of equal names counts."""
    if content.count(b"&") >= MOST_FIELDS:
        raise TooLarge
    pairs = (field.replace(b"+", b" ").partition(b"=") for field in content.split(b"&") if field)
    return {_unescaped(name): _unescaped(value) for name, _, value in pairs}


def _unescaped(text: bytes) -> str:
    """`urllib.parse` would take 175 times the memory of a form that is all percent signs."""
    found, at = bytearray(), 0
    for run in ESCAPES.finditer(text):
        found += text[at : run.start()]
        found += bytes.fromhex(run[0].replace(b"%", b"").decode())
        at = run.end()
    return decoded(bytes(found + text[at:]))
