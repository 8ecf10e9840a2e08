"""What arrives to be sent on: typed lines, and files, which are passed on as they come."""

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO

from django.utils.translation import gettext as _

from webui import fields, folders, forgery, intake, names, parts, sending
from webui.http import Request
from webui.pages.entries import ROOT
from webui.pages.verdicts import SentFile, Verdict
from webui.parts import Body, Part
from webui.sending import Errand
from webui.v1.uploads import Readable
from webui.views import uploads
from webui.views.uploads import FILE_FIELD, TOKEN_FIELD, Refused

# A larger one is no torrent to any service, but a file whose name ends so.
MOST_TORRENT_BYTES = 10 * 2**20
MOST_FORM_BYTES = 3 * intake.MOST_BYTES  # Percent-encoding trebles what it touches.
MOST_FIELDS = 2 * intake.MOST_LINES
TEXT_FIELDS = ("text", "line", "magnet", "url")
TITLE_FIELD, FOLDER_FIELD = "title", "folder"

Commission = Callable[[str], Errand]
"""Gives the errand to the folder that the parcel names."""


@dataclass
class Parcel:
    """Lines as they were typed, and verdicts on the files, which are on their way already."""

    folder: str = ""
    title: str = ""
    lines: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    size_bytes: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def take(self, name: str, value: str) -> None:
        if name in TEXT_FIELDS:
            self.size_bytes += len(value.encode(errors="replace"))
            if self.size_bytes > intake.MOST_BYTES:
                raise too_much()
            self.lines.append(value)
        elif name == TITLE_FIELD:
            self.title = value
        elif name == FOLDER_FIELD:
            self.folder = value


class OutOfDate(Refused):
    """The form may be another site's. Nothing of it was sent; what was typed is not lost."""

    def __init__(self, parcel: Parcel) -> None:
        words = _("This page was out of date, so nothing was added. Look at it, then press Add.")
        super().__init__(403, words)
        self.parcel = parcel


def too_much() -> Refused:
    return Refused(413, _("That is too much text at once. Ferry takes 10 MB: send it in parts."))


def unpacked(request: Request, commission: Commission, *, is_trusted: bool = False) -> Parcel:
    """Raises Refused. `is_trusted`: the sender was known by more than a browser's cookie."""
    if not is_trusted:
        uploads.refuse_forged(request)
    length_bytes = uploads.length_of(request)
    try:
        if request.content_type == "multipart/form-data":
            return parcel_of_parts(request, length_bytes, commission, is_trusted=is_trusted)
        return parcel_of_form(request, length_bytes, is_trusted=is_trusted)
    except parts.TooLong as refused:
        raise too_much() from refused
    except parts.CutOff as cut:
        raise Refused(400, _("The upload broke off. Send it again.")) from cut
    except parts.Unreadable as unreadable:
        raise Refused(400, _("What was sent can't be read.")) from unreadable


def parcel_of_parts(
    request: Request, length_bytes: int, commission: Commission, *, is_trusted: bool
) -> Parcel:
    """The token of a plain form comes first, the folder before the files."""
    if length_bytes > MOST_FORM_BYTES or uploads.told_bytes(request):
        uploads.refuse_without_room(request, length_bytes)
    parcel = Parcel(folder=request.GET.get(FOLDER_FIELD, ""))
    is_checked = is_trusted or is_ours(request, request.headers.get("X-CSRFToken", ""))
    for number, part in enumerate(parts.parts_of(request, length_bytes)):
        if number > MOST_FIELDS:
            raise too_much()
        if part.name == TOKEN_FIELD and not part.is_file:
            is_checked = is_checked or is_ours(request, part.text())
        elif not part.is_file:
            parcel.take(part.name, part.text(intake.MOST_BYTES))
        elif not is_checked:
            break
        elif part.name == FILE_FIELD and part.filename:
            parcel.verdicts.append(passed_on(request, commission(parcel.folder), part))
    if not is_checked:
        raise OutOfDate(parcel)
    return parcel


def parcel_of_form(request: Request, length_bytes: int, *, is_trusted: bool) -> Parcel:
    if request.content_type != "application/x-www-form-urlencoded":
        raise parts.Unreadable("no form")
    if length_bytes > MOST_FORM_BYTES:
        raise too_much()
    sent = fields_of(request, length_bytes)
    token = dict(sent).get(TOKEN_FIELD) or request.headers.get("X-CSRFToken", "")
    parcel = Parcel(folder=request.GET.get(FOLDER_FIELD, ""))
    for name, value in sent:
        parcel.take(name, value)
    if not is_trusted and not is_ours(request, token):
        raise OutOfDate(parcel)
    return parcel


def fields_of(request: Request, length_bytes: int) -> list[tuple[str, str]]:
    body, pieces = Body(request, length_bytes), []
    while piece := body.read(parts.PIECE_BYTES):
        pieces.append(piece)
    try:
        return list(fields.fields_of(b"".join(pieces), MOST_FIELDS))
    except ValueError as too_many:
        raise parts.TooLong("too many fields") from too_many


def is_ours(request: Request, token: str) -> bool:
    return not forgery.is_forged(request, token)


# Files


def passed_on(request: Request, errand: Errand, part: Part) -> Verdict:
    trouble = names.trouble_with(part.filename)
    if trouble:
        return Verdict(SentFile(part.filename), "refused", trouble)
    with uploads.content_of(request, part) as (content, size_bytes):
        if part.filename.lower().endswith(".torrent") and size_bytes <= MOST_TORRENT_BYTES:
            torrent = whole(content)
            return sending.send_file(errand, part.filename, BytesIO(torrent), size_bytes, torrent)
        verdict = sending.send_file(errand, part.filename, content, size_bytes, None)
    if verdict.is_well:
        folders.changed(errand.service, [errand.folder_id or ROOT])
    return verdict


def whole(content: Readable) -> bytes:
    pieces = []
    while piece := content.read(parts.PIECE_BYTES):
        pieces.append(piece)
    return b"".join(pieces)
