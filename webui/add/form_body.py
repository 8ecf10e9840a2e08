"""Read a form, and send its items: files as they arrive, and then the typed lines."""

from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO

from django.utils import timezone
from django.utils.translation import gettext as _

from common.http import forms, multipart
from common.http.multipart import Part
from common.names import find_name_error
from webui.add import parse, send
from webui.add.pages.outcomes import ItemResult, SentFile
from webui.add.send import SendContext, SendResult
from webui.http import bodies, csrf
from webui.http.bodies import CutOff, RequestReader
from webui.http.csrf import TOKEN_FIELD
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.bounds import bounds_of
from webui.library.entries import ROOT
from webui.models import User
from webui.transfers import actions
from webui.uploads import receiving as uploads
from webui.uploads.receiving import ENVELOPE_BYTES, FILE_FIELD, MOST_TORRENT_BYTES, UploadRefused
from webui.v1.uploads import Readable
from webui.words import reasons

# For urlencoded forms, which take several times their size in memory. Ferry's own pages send
# multipart, which is read part by part.
MOST_FORM_BYTES = 2**20
MOST_FIELDS = 2 * parse.MOST_LINES
TEXT_FIELDS = ("text", "line", "magnet", "url")
TITLE_FIELD, FOLDER_FIELD, CHOOSE_FIELD, SITE_FIELD = "title", "folder", "choose", "from"


@dataclass
class FormInput:
    """The lines as they were typed, and the outcomes of the files, which were already sent."""

    folder: str = ""
    title: str = ""
    site: str = ""
    is_choosing: bool = False
    lines: list[str] = field(default_factory=list)
    results: list[ItemResult] = field(default_factory=list)
    size_bytes: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def take(self, name: str, value: str) -> None:
        if name in TEXT_FIELDS:
            self.size_bytes += len(value.encode(errors="replace"))
            if self.size_bytes > parse.MOST_BYTES:
                raise too_much()
            self.lines.append(value)
        elif name == TITLE_FIELD:
            self.title = value
        elif name == FOLDER_FIELD:
            self.folder = value
        elif name == CHOOSE_FIELD:
            self.is_choosing = True
        elif name == SITE_FIELD:
            self.site = value


class OutOfDate(UploadRefused):
    """The form may be another site's, so nothing was sent. The typed lines are not lost."""

    def __init__(self, form_input: FormInput) -> None:
        words = _(
            "This page was out of date, so Ferry didn't add anything. Check the list, "
            "then select Add."
        )
        super().__init__(403, words)
        self.form_input = form_input


def too_much() -> UploadRefused:
    return UploadRefused(
        413, _("That's too much text at once. Ferry accepts up to 10 MB. Send it in parts.")
    )


def deliver_items(request: Request, bearer: User | None = None) -> SendResult:
    """Send what a form contains. Raises UploadRefused."""
    form_input = read_form_input(request, bearer)
    parsed_text = parse.parse_lines(form_input.text)
    items = parsed_text.items
    if len(items) == 1:
        items = [parse.add_name(items[0], form_input.title)]
    context = send_context_of(request, form_input, bearer)
    send_result = send.send(context, items)
    results = form_input.results + send_result.results
    if any(result.is_well for result in results):
        actions.mark_changed(context.service)
    left = send_result.left + parsed_text.rest.splitlines()
    folder, site = form_input.folder, form_input.site
    return replace(send_result, folder=folder, site=site, results=results, left=left)


def nothing_words() -> str:
    return _("Paste a link or choose a file first.")


def read_form_input(
    request: Request, bearer: User | None = None, *, takes_files: bool = True
) -> FormInput:
    """Read a form, and send its files. Raises UploadRefused.

    `bearer`: whose token came with the form. Others are identified by a cookie alone, which
    browsers send along with any site's form.
    """
    if bearer is None:
        uploads.refuse_forged(request)
    length_bytes = uploads.length_of(request)
    try:
        if request.content_type == "multipart/form-data":
            return read_multipart(request, length_bytes, bearer, takes_files=takes_files)
        return read_form(request, length_bytes, bearer)
    except multipart.TooLong as refused:
        raise too_much() from refused
    except CutOff as cut:
        raise UploadRefused(400, _("The upload was interrupted. Send it again.")) from cut
    except multipart.MalformedBody as unreadable:
        raise UploadRefused(400, _("Ferry couldn't read the request.")) from unreadable


def empty_input(request: Request) -> FormInput:
    """Return the input so far: scripts send it with the URL, before the body."""
    query = request.GET
    return FormInput(folder=query.get(FOLDER_FIELD, ""), is_choosing=CHOOSE_FIELD in query)


def read_multipart(
    request: Request, length_bytes: int, bearer: User | None, *, takes_files: bool
) -> FormInput:
    """Read the parts in order: a plain form sends its token first, and the folder before files."""
    if length_bytes > parse.MOST_BYTES + ENVELOPE_BYTES or uploads.declared_bytes(request):
        uploads.refuse_without_room(request, length_bytes)
    form_input = empty_input(request)
    token = request.headers.get("X-CSRFToken", "")
    is_checked = bearer is not None or not csrf.is_forged(request, token)
    for number, part in enumerate(bodies.parts_of(request, length_bytes)):
        if number > MOST_FIELDS:
            raise too_much()
        if part.name == TOKEN_FIELD and not part.is_file:
            is_checked = is_checked or not csrf.is_forged(request, part.text())
        elif not part.is_file:
            is_text = part.name in TEXT_FIELDS
            most_bytes = parse.MOST_BYTES if is_text else multipart.LONGEST_FIELD_BYTES
            form_input.take(part.name, part.text(most_bytes))
        elif not is_checked:
            break
        elif takes_files and part.name == FILE_FIELD and part.file_name:
            context = send_context_of(request, form_input, bearer)
            form_input.results.append(passed_on(request, context, part))
    if not is_checked:
        raise OutOfDate(form_input)
    return form_input


def read_form(request: Request, length_bytes: int, bearer: User | None) -> FormInput:
    if request.content_type != "application/x-www-form-urlencoded":
        raise multipart.MalformedBody
    if length_bytes > MOST_FORM_BYTES:
        words = _("That's too much for this kind of form. Send it as multipart/form-data.")
        raise UploadRefused(413, words)
    body = whole(RequestReader(request, length_bytes))
    try:
        sent = forms.read_fields(body, MOST_FIELDS)
    except ValueError as too_many:
        raise multipart.TooLong from too_many
    token = dict(sent).get(TOKEN_FIELD) or request.headers.get("X-CSRFToken", "")
    form_input = empty_input(request)
    for name, value in sent:
        form_input.take(name, value)
    if bearer is None and csrf.is_forged(request, token):
        raise OutOfDate(form_input)
    return form_input


# Files


def send_context_of(request: Request, form_input: FormInput, bearer: User | None) -> SendContext:
    service, bounds = service_of(request), bounds_of(request)
    folder = bounds.top if bounds else form_input.folder
    is_elsewhere = service.takes_folder and folder not in ("", ROOT)
    folder_id = folder if is_elsewhere else None
    by, choice = bearer or request.user, form_input.is_choosing
    return SendContext(service, by, folder_id, timezone.now(), is_choosing=choice)


def passed_on(request: Request, context: SendContext, part: Part) -> ItemResult:
    if error := find_name_error(part.file_name):
        return ItemResult(SentFile(part.file_name), "refused", reasons.find(error).text)
    with uploads.content_of(request, part) as (content, size_bytes):
        if part.file_name.lower().endswith(".torrent") and size_bytes <= MOST_TORRENT_BYTES:
            torrent = whole(content)
            return send.send_file(context, part.file_name, BytesIO(torrent), size_bytes, torrent)
        result = send.send_file(context, part.file_name, content, size_bytes, None)
    if result.is_well:
        folders.mark_changed(context.service, [context.folder_id or ROOT])
    return result


def whole(content: Readable) -> bytes:
    return b"".join(iter(partial(content.read, multipart.PIECE_BYTES), b""))
