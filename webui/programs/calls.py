"""Read the calls of other programs: fields and torrent files, in whichever form they come."""

from dataclasses import dataclass, field

from common.http import forms, multipart
from webui.http import bodies
from webui.http.bodies import CutOff, RequestReader
from webui.http.requests import Request
from webui.uploads.receiving import MOST_TORRENT_BYTES, parse_bytes

MOST_FIELDS = 200
MOST_FORM_BYTES = 2**20
MOST_BODY_BYTES = 3 * MOST_TORRENT_BYTES


@dataclass
class CannotDo(Exception):  # noqa: N818  Errors are nouns here.
    """Ferry can't do what a program wants. Programs show the words at best in a log, in English."""

    status: int
    words: str


@dataclass
class ProgramCall:
    request: Request
    fields: dict[str, str] = field(default_factory=dict)
    files: list[tuple[str, bytes]] = field(default_factory=list)

    def text(self, name: str) -> str:
        return self.fields.get(name, "")

    def flag(self, *names: str) -> bool:
        return any(self.text(name).strip().lower() in ("true", "1", "yes") for name in names)

    def number(self, name: str, default: int = 0) -> int:
        text = self.text(name).strip()
        digits = text.removeprefix("-")
        return int(text) if digits.isascii() and digits.isdigit() and len(text) < 16 else default

    def items(self, name: str, separator: str = "|") -> list[str]:
        return [item for each in self.text(name).split(separator) if (item := each.strip())]


def read_call(request: Request, most_bytes: int = MOST_BODY_BYTES) -> ProgramCall:
    """Read the query, and the form. Raises CannotDo."""
    call = ProgramCall(request)
    try:
        call.fields.update(forms.read_fields(request.META["QUERY_STRING"].encode(), MOST_FIELDS))
        if request.method == "POST":
            read_body(call, length_of(request, most_bytes))
    except (multipart.MalformedBody, CutOff, ValueError) as unreadable:
        raise CannotDo(400, "The request couldn't be read.") from unreadable
    return call


def length_of(request: Request, most_bytes: int) -> int:
    if request.headers.get("Transfer-Encoding"):
        raise CannotDo(411, "The request has no length.")
    length_bytes = parse_bytes(request.META.get("CONTENT_LENGTH") or "0")
    if length_bytes is None or length_bytes > most_bytes:
        raise CannotDo(413, "The request is too large.")
    return length_bytes


def read_body(call: ProgramCall, length_bytes: int) -> None:
    """Some programs call the part of a file `torrents`, others anything else."""
    if call.request.content_type == "multipart/form-data":
        for number, part in enumerate(bodies.parts_of(call.request, length_bytes)):
            if number > MOST_FIELDS:
                raise multipart.TooLong
            if part.is_file:
                call.files.append((part.file_name, read_file(part)))
            else:
                call.fields[part.name] = part.text(MOST_FORM_BYTES)
    elif length_bytes > MOST_FORM_BYTES:
        raise CannotDo(413, "The request is too large.")
    else:
        body = read_whole(call.request, length_bytes)
        call.fields.update(forms.read_fields(body, MOST_FIELDS))


def read_bytes(request: Request, most_bytes: int) -> bytes:
    """Return a body that isn't a form. Raises CannotDo."""
    try:
        return read_whole(request, length_of(request, most_bytes))
    except CutOff as cut:
        raise CannotDo(400, "The request broke off.") from cut


def read_whole(request: Request, length_bytes: int) -> bytes:
    body = RequestReader(request, length_bytes)
    return b"".join(iter(lambda: body.read(MOST_FORM_BYTES), b""))


def read_file(part: multipart.Part) -> bytes:
    content = part.peek(MOST_TORRENT_BYTES + 1)
    if len(content) > MOST_TORRENT_BYTES:
        raise CannotDo(413, "The torrent file is too large.")
    return content
