"""Uploads: checked by their headers alone, then streamed to the service."""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt

from webui.errors import answers as error_answers
from webui.http.requests import Request, is_reload, is_script, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.addresses import folder_url
from webui.models import Role
from webui.uploads import receiving
from webui.uploads.page import upload_page
from webui.uploads.receiving import UploadRefused


@csrf_exempt
@open_to(Role.MEMBER, "GET", "POST")
def upload(request: Request, folder: str) -> HttpResponse:
    """Upload files. Django's CSRF check would read the whole body: webui.http.csrf replaces it."""
    if request.method != "POST":
        return show(request, folder)
    try:
        receiving.refuse_forged(request)
        length_bytes = receiving.length_of(request)
        receiving.refuse_without_room(request, length_bytes)
        add_part = partial(receiving.add, request, folder)
        sent = receiving.receive_files(request, length_bytes, add_part)
    except UploadRefused as refused:
        return refusal(request, folder, refused)
    return answer_upload(request, folder, sent)


def show(request: Request, folder: str) -> HttpResponse:
    service, now = service_of(request), timezone.now()
    snapshot = folders.read(service, folder, now=now, at_once=is_reload(request)).snapshot
    page = upload_page(snapshot, takes_folder=service.takes_folder)
    return render(request, "files/upload.html", {"page": page})


# The answer


def refusal(request: Request, folder: str, refused: UploadRefused) -> HttpResponse:
    if is_script(request):
        return receiving.refusal_for_script(request, refused)
    if refused.status == 403:
        return error_answers.csrf_failure(request, refused.reason)
    messages.error(request, refused.reason)
    return redirect(folder_url(folder))


def answer_upload(request: Request, folder: str, sent: list[str]) -> HttpResponse:
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
