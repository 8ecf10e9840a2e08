"""Check an upload before its body is read, and read the body as it arrives."""

import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Self

from django.conf import settings
from django.db.models import Sum
from django.http import JsonResponse
from django.middleware.csrf import get_token
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.http import multipart
from common.http.multipart import Part
from common.names import find_name_error
from webui.http import bodies, csrf
from webui.http.bodies import CutOff, Exactly
from webui.http.csrf import TOKEN_FIELD
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.models import ResumableUpload
from webui.storage_meter import gauge_of
from webui.uploads import new_files
from webui.v1.errors import Failure, Outcome
from webui.words import reasons
from webui.words.failures import message_of
from webui.words.formatting import count_words, size_words

log = logging.getLogger("ferry.uploads")

ENVELOPE_BYTES = 64 * 1024
SPARE_BYTES = 64 * 2**20
# No service accepts a larger torrent, so a larger file is treated like any other file.
MOST_TORRENT_BYTES = 10 * 2**20
FILE_FIELD = "file"


@dataclass
class UploadRefused(Exception):  # noqa: N818  Errors are nouns here.
    status: int
    reason: str


@dataclass
class ServiceRefused(UploadRefused):
    """The service didn't take the file. The reason is for people who know the service."""

    outcome: Outcome

    @classmethod
    def of(cls, name: str, failure: Failure) -> Self:
        message = message_of(failure)
        return cls(message.status, f"{name}: {message.words}", failure.outcome)


def refuse_forged(request: Request) -> None:
    token = request.headers.get("X-CSRFToken", "")
    if token and csrf.is_forged(request, token):
        raise out_of_date()


def out_of_date() -> UploadRefused:
    return UploadRefused(403, _("This page was out of date. Open it again."))


def length_of(request: Request) -> int:
    length_bytes = parse_bytes(request.META.get("CONTENT_LENGTH") or "")
    if length_bytes is None:
        raise UploadRefused(411, _("Your browser didn't say how large the upload is."))
    return length_bytes


def parse_bytes(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def refuse_without_room(request: Request, length_bytes: int) -> None:
    size_bytes = max(length_bytes - ENVELOPE_BYTES, declared_bytes(request) or 0)
    # A torrent waits for space; the service refuses other small files itself.
    if size_bytes > MOST_TORRENT_BYTES:
        refuse_beyond_space(request, size_bytes)
    if declared_bytes(request) is None:
        refuse_beyond_disk(length_bytes)


def refuse_beyond_space(request: Request, size_bytes: int, but: int = 0) -> None:
    """Refuse what doesn't fit beside what others promise. `but` is the upload's own row, if any."""
    used_bytes, most = folders.store().space(service_of(request).key)
    if used_bytes is None or most is None:
        return
    if size_bytes > most - used_bytes:
        gauge = gauge_of(used_bytes, most)
        words = _("There isn't enough space for this. You have %(free)s free.")
        raise UploadRefused(413, words % {"free": gauge.free if gauge else ""})
    others = ResumableUpload.find_unfinished(timezone.now()).exclude(pk=but)
    mine = others.filter(service=service_of(request).key)
    promised_bytes = mine.aggregate(bytes=Sum("size_bytes", default=0))["bytes"]
    if size_bytes > most - used_bytes - promised_bytes:
        words = _(
            "There isn't enough space for this, since unfinished uploads need %(size)s. "
            "Finish or cancel some of them."
        )
        raise UploadRefused(413, words % {"size": size_words(promised_bytes)})


def refuse_beyond_disk(size_bytes: int, status: int = 503) -> None:
    if size_bytes > shutil.disk_usage(settings.DATA_DIR).free - SPARE_BYTES:
        raise disk_full(status)


def disk_full(status: int) -> UploadRefused:
    words = _("Ferry's own disk doesn't have enough space for this right now.")
    return UploadRefused(status, words)


def files_in(request: Request, length_bytes: int) -> Iterator[Part]:
    """Yield the files as they arrive. The token of a plain form comes before them."""
    is_checked = not csrf.is_forged(request, request.headers.get("X-CSRFToken", ""))
    for part in bodies.parts_of(request, length_bytes):
        if not part.is_file:
            if part.name == TOKEN_FIELD and not is_checked:
                is_checked = not csrf.is_forged(request, part.text())
        elif not is_checked:
            raise out_of_date()
        elif part.name == FILE_FIELD and part.file_name:
            if error := find_name_error(part.file_name):
                raise UploadRefused(422, f"{part.file_name[:80]}: {reasons.find(error).text}")
            yield part
    if not is_checked:
        raise out_of_date()


def receive_files(
    request: Request, length_bytes: int, add_part: Callable[[Part], str]
) -> list[str]:
    """Add each file as it arrives, and return their names. Raises UploadRefused."""
    names: list[str] = []
    try:
        names.extend(add_part(part) for part in files_in(request, length_bytes))
    except CutOff as cut:
        log.info("upload cut off: %s", cut)
        raise UploadRefused(400, broken_off_words(len(names))) from cut
    except multipart.MalformedBody as unreadable:
        raise UploadRefused(400, _("This isn't an upload.")) from unreadable
    return names


def add(request: Request, folder: str, part: Part, *, as_file: bool = False) -> str:
    """Pass a file on to the service, and return its name there."""
    service, name = service_of(request), part.file_name
    try:
        with content_of(request, part) as (content, size_bytes):
            added = new_files.add(service, folder, name, content, size_bytes, as_file=as_file)
    except Failure as failure:
        raise ServiceRefused.of(name, failure) from failure
    folders.mark_changed(service, [folder])
    return added.name or name


def broken_off_words(arrived: int) -> str:
    if not arrived:
        return _("The upload was interrupted, and Ferry saved nothing.")
    words = ngettext(
        "The upload was interrupted. Ferry saved %(count)s file that had already arrived. "
        "Send the others again.",
        "The upload was interrupted. Ferry saved %(count)s files that had already arrived. "
        "Send the others again.",
        arrived,
    )
    return words % {"count": count_words(arrived)}


@contextmanager
def content_of(request: Request, part: Part) -> Iterator[tuple[Exactly | BinaryIO, int]]:
    """Open a part with its size, which v1 needs first. A script declares the size; a plain form
    doesn't, so its file is saved to our disk first."""
    declared_size = declared_bytes(request)
    if declared_size is not None:
        yield Exactly(part, declared_size), declared_size
        return
    folder = settings.DATA_DIR / "uploads"
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as draft:
        while piece := part.read(multipart.PIECE_BYTES):
            refuse_beyond_disk(len(piece), status=507)
            draft.write(piece)
        size_bytes = draft.tell()
        draft.seek(0)
        yield draft, size_bytes


def declared_bytes(request: Request) -> int | None:
    return parse_bytes(request.headers.get("X-File-Size", ""))


def refusal_for_script(request: Request, refused: UploadRefused) -> JsonResponse:
    """Refuse a script's request. Signing in again in another tab invalidates the tokens of all open
    pages, so the refusal contains a new token. Browsers let no other site read it."""
    answer: dict[str, object] = {"ok": False, "reason": refused.reason}
    if refused.status == 403:
        answer["token"] = get_token(request)
    return JsonResponse(answer, status=refused.status)
