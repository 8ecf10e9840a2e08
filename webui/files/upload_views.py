"""Uploads: checked by their headers alone, then streamed to the service."""

import logging
from collections.abc import Iterator

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt

from webui import reasons
from webui.errors import views as error_views
from webui.errors.page import message_of
from webui.files import screen
from webui.files.actions_page import upload_page
from webui.files.uploads import (
    FILE_FIELD,
    UploadRefused,
    content_of,
    length_of,
    out_of_date,
    refusal_for_script,
    refuse_forged,
    refuse_without_room,
)
from webui.formatting import count_words
from webui.http import csrf, multipart
from webui.http.csrf import TOKEN_FIELD
from webui.http.multipart import FormPart
from webui.http.requests import Request, asks_and_acts, is_script, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.addresses import folder_url
from webui.library.entries import ROOT
from webui.library.names import find_name_error
from webui.models import Role
from webui.storage_meter import gauge_of
from webui.v1.errors import Failure, NoRoom

log = logging.getLogger("ferry.uploads")


@csrf_exempt
@asks_and_acts
@open_to(Role.MEMBER)
def upload(request: Request, folder: str) -> HttpResponse:
    """Upload files. Django's CSRF check would read the whole body: webui.http.csrf replaces it."""
    if request.method != "POST":
        return show(request, folder)
    sent: list[str] = []
    try:
        refuse_forged(request)
        length_bytes = length_of(request)
        refuse_without_room(request, length_bytes)
        sent.extend(received(request, folder, length_bytes))
    except UploadRefused as refused:
        return refusal(request, folder, refused)
    except multipart.CutOff as cut:
        log.info("upload cut off: %s", cut)
        return refusal(request, folder, UploadRefused(400, broken_off_words(len(sent))))
    except multipart.UnreadableForm:
        return refusal(request, folder, UploadRefused(400, _("This isn't an upload.")))
    return accepted(request, folder, sent)


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


def show(request: Request, folder: str) -> HttpResponse:
    snapshot = screen.read(request, folder).snapshot
    gauge = gauge_of(snapshot.space_used_bytes, snapshot.space_max_bytes)
    page = upload_page(
        snapshot,
        gauge.free if gauge else "",
        gauge.total if gauge else "",
        takes_folder=service_of(request).takes_folder,
    )
    return render(request, "files/upload.html", {"page": page})


# The body


def received(request: Request, folder: str, length_bytes: int) -> Iterator[str]:
    """Pass files on, and yield their names. The token of a plain form comes before its files."""
    is_checked = not csrf.is_forged(request, request.headers.get("X-CSRFToken", ""))
    for part in multipart.read_parts(request, length_bytes):
        if not part.is_file:
            if part.name == TOKEN_FIELD and not is_checked:
                is_checked = not csrf.is_forged(request, part.text())
        elif not is_checked:
            raise out_of_date()
        elif part.name == FILE_FIELD and part.filename:
            yield passed_on(request, folder, part)
    if not is_checked:
        raise out_of_date()


def passed_on(request: Request, folder: str, part: FormPart) -> str:
    if error := find_name_error(part.filename):
        raise UploadRefused(422, f"{part.filename[:80]}: {reasons.find(error).text}")
    target = folder if service_of(request).takes_folder and folder != ROOT else None
    try:
        with content_of(request, part) as (content, size_bytes):
            added = service_of(request).v1.add_file(part.filename, content, size_bytes, target)
    except Failure as failure:
        raise UploadRefused(status_of(failure), reason_of(failure, part.filename)) from failure
    folders.changed(service_of(request), [folder])
    return added.name or part.filename


def status_of(failure: Failure) -> int:
    return 413 if isinstance(failure, NoRoom) else message_of(failure).status


def reason_of(failure: Failure, name: str) -> str:
    return f"{name}: {message_of(failure).words}"


# The answer


def refusal(request: Request, folder: str, refused: UploadRefused) -> HttpResponse:
    if is_script(request):
        return refusal_for_script(request, refused)
    if refused.status == 403:
        return error_views.csrf_failure(request, refused.reason)
    messages.error(request, refused.reason)
    return redirect(folder_url(folder))


def accepted(request: Request, folder: str, sent: list[str]) -> HttpResponse:
    if is_script(request):
        if not sent:
            return refusal(request, folder, UploadRefused(422, _("Choose a file first.")))
        return JsonResponse({"ok": True, "name": sent[0]})
    if not sent:
        messages.error(request, _("Choose a file first."))
        return redirect("files-upload", folder)
    words = ngettext("%(count)s file uploaded", "%(count)s files uploaded", len(sent))
    messages.success(request, words % {"count": len(sent)})
    return redirect(folder_url(folder))
