"""Uploads: judged by their head alone, then passed on to the service as they come."""

import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt

from webui import folders, forgery, names, parts
from webui.http import Request, asks_and_acts, is_script
from webui.models import Role
from webui.pages.addresses import folder_url
from webui.pages.changes import upload_page
from webui.pages.entries import ROOT
from webui.pages.errors import trouble_of
from webui.pages.gauge import gauge_of
from webui.parts import Exactly, Part
from webui.roles import open_to
from webui.v1.errors import Failure, NoRoom
from webui.views import errors, files

log = logging.getLogger("ferry.uploads")

ENVELOPE_BYTES = 64 * 1024
SPARE_BYTES = 64 * 2**20
TOKEN_FIELD, FILE_FIELD = "csrfmiddlewaretoken", "file"


@dataclass
class Refused(Exception):  # noqa: N818  Errors are nouns here.
    status: int
    reason: str


@csrf_exempt
@asks_and_acts
@open_to(Role.MEMBER)
def upload(request: Request, folder: str) -> HttpResponse:
    """Exempt from Django's check, which would read the whole body: see webui.forgery."""
    if request.method != "POST":
        return show(request, folder)
    try:
        refuse_forged(request)
        length_bytes = length_of(request)
        refuse_without_room(request, length_bytes)
        sent = list(received(request, folder, length_bytes))
    except Refused as refused:
        return refusal(request, folder, refused)
    except parts.CutOff as cut:
        log.info("upload cut off: %s", cut)
        return refusal(request, folder, Refused(400, _("The upload broke off. Nothing was kept.")))
    except parts.Unreadable:
        return refusal(request, folder, Refused(400, _("That is no upload.")))
    return accepted(request, folder, sent)


def show(request: Request, folder: str) -> HttpResponse:
    snapshot = files.read(request, folder).snapshot
    gauge = gauge_of(snapshot.space_used_bytes, snapshot.space_max_bytes)
    page = upload_page(
        snapshot,
        gauge.free if gauge else "",
        gauge.total if gauge else "",
        takes_folder=request.service.takes_folder,
    )
    return render(request, "files/upload.html", {"page": page})


# Before the body is read


def refuse_forged(request: Request) -> None:
    token = request.headers.get("X-CSRFToken", "")
    if token and forgery.is_forged(request, token):
        raise out_of_date()


def out_of_date() -> Refused:
    return Refused(403, _("This page was out of date. Open it again."))


def length_of(request: Request) -> int:
    length = request.META.get("CONTENT_LENGTH") or ""
    if not (length.isascii() and length.isdigit() and len(length) < 19):
        raise Refused(411, _("The browser didn't say how long the upload is."))
    return int(length)


def refuse_without_room(request: Request, length_bytes: int) -> None:
    used, most = folders.store().space(request.service.key)
    least_bytes = max(length_bytes - ENVELOPE_BYTES, told_bytes(request) or 0)
    if used is not None and most is not None and least_bytes > most - used:
        raise Refused(
            413, _("There is no room for this: %(free)s are free.") % {"free": free(used, most)}
        )
    if (
        told_bytes(request) is None
        and length_bytes > shutil.disk_usage(settings.DATA_DIR).free - SPARE_BYTES
    ):
        raise Refused(503, _("Ferry's own disk has no room for this just now."))


def free(used: int, most: int) -> str:
    gauge = gauge_of(used, most)
    return gauge.free if gauge else ""


# The body


def received(request: Request, folder: str, length_bytes: int) -> Iterator[str]:
    """Names of what was sent on. The token of a plain form comes before its files."""
    is_checked = not forgery.is_forged(request, request.headers.get("X-CSRFToken", ""))
    for part in parts.parts_of(request, length_bytes):
        if not part.is_file:
            if part.name == TOKEN_FIELD and not is_checked:
                is_checked = not forgery.is_forged(request, part.text())
        elif not is_checked:
            raise out_of_date()
        elif part.name == FILE_FIELD and part.filename:
            yield passed_on(request, folder, part)
    if not is_checked:
        raise out_of_date()


def passed_on(request: Request, folder: str, part: Part) -> str:
    trouble = names.trouble_with(part.filename)
    if trouble:
        raise Refused(422, f"{part.filename[:80]}: {trouble}")
    target = folder if request.service.takes_folder and folder != ROOT else None
    try:
        with content_of(request, part) as (content, size_bytes):
            added = request.v1.add_file(part.filename, content, size_bytes, target)
    except Failure as failure:
        raise Refused(status_of(failure), reason_of(failure, part.filename)) from failure
    folders.changed(request.service, [folder])
    return added.name or part.filename


@contextmanager
def content_of(request: Request, part: Part) -> Iterator[tuple[Exactly | BinaryIO, int]]:
    """v1 wants to know the size first. A script tells it; a plain form doesn't, and its file
    waits on our disk until it is whole."""
    told = told_bytes(request)
    if told is not None:
        yield Exactly(part, told), told
        return
    folder = settings.DATA_DIR / "uploads"
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as draft:
        while piece := part.read(parts.PIECE_BYTES):
            draft.write(piece)
        size_bytes = draft.tell()
        draft.seek(0)
        yield draft, size_bytes


def told_bytes(request: Request) -> int | None:
    size = request.headers.get("X-File-Size", "")
    return int(size) if size.isascii() and size.isdigit() and len(size) < 19 else None


def status_of(failure: Failure) -> int:
    return 413 if isinstance(failure, NoRoom) else trouble_of(failure).status


def reason_of(failure: Failure, name: str) -> str:
    return f"{name}: {trouble_of(failure).words}"


# The answer


def refusal(request: Request, folder: str, refused: Refused) -> HttpResponse:
    if is_script(request):
        return refusal_for_script(request, refused)
    if refused.status == 403:
        return errors.forged(request, refused.reason)
    messages.error(request, refused.reason)
    return redirect(folder_url(folder))


def refusal_for_script(request: Request, refused: Refused) -> JsonResponse:
    """To sign in again in another tab takes the worth from the token of every page left open. The
    new one comes with the refusal, which browsers let no page of another site read."""
    answer: dict[str, object] = {"ok": False, "reason": refused.reason}
    if refused.status == 403:
        answer["token"] = get_token(request)
    return JsonResponse(answer, status=refused.status)


def accepted(request: Request, folder: str, sent: list[str]) -> HttpResponse:
    if is_script(request):
        if not sent:
            return refusal(request, folder, Refused(422, _("Choose a file first.")))
        return JsonResponse({"ok": True, "name": sent[0]})
    if not sent:
        messages.error(request, _("Choose a file first."))
        return redirect("files-upload", folder)
    words = ngettext("%(count)s file uploaded", "%(count)s files uploaded", len(sent))
    messages.success(request, words % {"count": len(sent)})
    return redirect(folder_url(folder))
