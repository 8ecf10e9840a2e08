"""Read what clients send, within bounds: a query, a form, a multipart body, or JSON."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar, cast

from django.http import HttpRequest
from msgspec import Struct, inspect

from common.http import multipart
from common.http.forms import decode, read_fields
from common.http.multipart import Part
from service.errors import NotFound
from service.http.refusals import (
    BodyCutOff,
    LengthRequired,
    MissingField,
    TooLarge,
    UnreadableField,
)
from service.models import LARGEST_ID

MOST_BYTES = 2**20
BLOCK_BYTES = 2**16
MOST_BYTES_OF_FIELDS = 2**22
MOST_FIELDS = 25_000
MOST_PARTS = 12_000
DIGITS = re.compile("[0-9]{1,30}")

Pairs = Sequence[tuple[str, Any]]
Input = TypeVar("Input", bound=Struct)


class Fields:
    """The fields of a request.

    A name in the body hides the same name in the query. Of equal names, the last counts, unless
    they form a list.
    """

    def __init__(self, body: Pairs, query: Pairs = ()) -> None:
        in_body = {name for name, _value in body}
        self.pairs = [*(pair for pair in query if pair[0] not in in_body), *body]

    def read(self, record: type[Input]) -> Input:
        """Read a record from the fields. Raises MissingField, UnreadableField, NotFound.

        msgspec reads forms too, but reports errors as sentences, not with v1's words.
        """
        by_name = dict(self.pairs)
        values = {}
        for field in fields_of_record(record):
            # All fields are annotated, at least with a description.
            annotated = cast("inspect.Metadata", field.type)
            if isinstance(annotated.type, inspect.AnyType):
                continue  # A file is a part of a multipart body.
            extra = annotated.extra or {}
            is_text = isinstance(annotated.type, inspect.StrType)
            missing = (None,) if is_text else (None, "")
            names = [field.name, extra.get("or", field.name)]
            name = next((each for each in names if by_name.get(each) not in missing), None)
            if name is not None:
                values[field.name] = (text if is_text else number)(by_name[name], name)
            elif field.required:
                raise extra.get("missing") or MissingField(field.name)
        return record(**values)


@cache
def fields_of_record(record: type[Struct]) -> tuple[inspect.Field, ...]:
    return cast("inspect.StructType", inspect.type_info(record)).fields


def text(value: Any, name: str) -> str:
    """Return a value if it is valid text, or raise UnreadableField.

    JSON may hold any type, and can spell lone surrogates, which no database accepts.
    """
    try:
        if isinstance(value, str) and value.encode() is not None:
            return value
    except UnicodeEncodeError:
        pass
    raise UnreadableField(name)


def number(value: Any, name: str) -> int:
    """Return an id from a number or digits. Raises NotFound if it is too large for any id."""
    if isinstance(value, str) and DIGITS.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UnreadableField(name)
    if value > LARGEST_ID:
        raise NotFound
    return value


class LimitedStream:
    """The bytes of a body, never more than `most_bytes`, whatever length was declared.

    Raises TooLarge, and BodyCutOff if the connection ends or stalls before the declared length.
    """

    def __init__(self, request: HttpRequest, most_bytes: int) -> None:
        self.length_bytes = length_of(request)
        if (self.length_bytes or 0) > most_bytes:
            raise TooLarge
        self._most_bytes = most_bytes
        self._received_bytes = 0
        # Django returns nothing of a body without a length.
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
    """Return the body's length, or None if it comes in chunks, whose end the server detects."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal():
        return int(length)
    if "HTTP_TRANSFER_ENCODING" not in request.META:
        return 0
    if request.META.get("wsgi.input_terminated"):
        return None
    raise LengthRequired


def fields_of(request: HttpRequest, most_bytes: int = MOST_BYTES) -> Fields:
    stream = LimitedStream(request, most_bytes)
    if request.content_type == "multipart/form-data":
        # Files are ignored: none is expected.
        body: Pairs = parts_of(request, stream, lambda _file: None)
    else:
        body = _parse(stream.read_all(), request.content_type or "")
    return Fields(body, query_of(request))


def query_of(request: HttpRequest) -> Pairs:
    return form(request.META.get("QUERY_STRING", "").encode("latin-1"))


def parts_of(request: HttpRequest, stream: LimitedStream, take: Callable[[Part], None]) -> Pairs:
    """Return the plain fields of a multipart body; its files go to `take` as they come."""
    boundary = (request.content_params or {}).get("boundary", "")
    try:
        return _fields_among(multipart.parts(stream, boundary), take)
    except multipart.TooLong as too_long:
        raise TooLarge from too_long
    except multipart.MalformedBody as unreadable:
        raise UnreadableField("body") from unreadable


def _fields_among(parts: Iterable[Part], take: Callable[[Part], None]) -> Pairs:
    fields: list[tuple[str, str]] = []
    remaining_bytes = MOST_BYTES_OF_FIELDS
    for count, part in enumerate(parts):
        if count >= MOST_PARTS:
            raise TooLarge
        if part.file_name:
            take(part)
            continue
        value = part.text(remaining_bytes - len(part.name))
        fields.append((part.name, value))
        remaining_bytes -= len(part.name) + len(value)
    return fields


def _parse(content: bytes, content_type: str) -> Pairs:
    """Parse JSON or a form; some clients send JSON with a form's type, and forms with none."""
    is_json = content_type.endswith("json") or content.lstrip()[:1] == b"{"
    if not is_json or not content.strip():
        return form(content)
    values = json_value(decode(content), "body")
    if not isinstance(values, dict):
        raise UnreadableField("body")
    return list(values.items())


def json_value(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as unreadable:
        raise UnreadableField(name) from unreadable


def form(content: bytes) -> Pairs:
    try:
        return read_fields(content, MOST_FIELDS)
    except ValueError as too_many:
        raise TooLarge from too_many
