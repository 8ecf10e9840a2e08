"""Read the body of a request: whole as a form, or part by part as it arrives."""

from collections.abc import Iterator

from django.core.exceptions import BadRequest
from django.http import HttpRequest, QueryDict, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from common.http import multipart
from common.http.multipart import Part


class CutOff(ConnectionResetError):  # noqa: N818  Errors are nouns here.
    """The sender disconnected or stalled before the end."""


def read_form(request: HttpRequest) -> QueryDict:
    """Return the fields that Django reads, or raise BadRequest if they are malformed or cut off."""
    try:
        return request.POST
    # Python's parser raises TypeError if numbered and plain parameters have one name.
    except (MultiPartParserError, UnreadablePostError, TypeError) as unreadable:
        raise BadRequest from unreadable


def parts_of(request: HttpRequest, length_bytes: int) -> Iterator[Part]:
    """Yield the parts of a multipart body. Raises multipart.MalformedBody and CutOff."""
    if request.content_type != "multipart/form-data":
        raise multipart.MalformedBody
    boundary = (request.content_params or {}).get("boundary", "")
    return multipart.parts(RequestReader(request, length_bytes), boundary)


class RequestReader:
    """The bytes of a request. `read` raises CutOff if the body ends too early. The web server
    detects the end of one without a length."""

    def __init__(self, request: HttpRequest, length_bytes: int | None) -> None:
        self._source = request if length_bytes is not None else request.META["wsgi.input"]
        self._left = length_bytes

    def read(self, size: int, /) -> bytes:
        try:
            piece: bytes = self._source.read(size if self._left is None else min(size, self._left))
        except (OSError, ValueError) as error:
            raise CutOff("the sender stalled") from error
        if self._left is not None:
            self._left -= len(piece)
            if not piece and self._left:
                raise CutOff("the sender went away")
        return piece


class Exactly:
    """A part of a declared size. `read` raises CutOff if the part is longer or shorter, and returns
    the last piece only once the part has ended with it."""

    def __init__(self, part: Part, size_bytes: int) -> None:
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
