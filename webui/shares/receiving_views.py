"""Links by which people without an account send files to a folder."""

import logging

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from webui.activity import events
from webui.activity.events import Kind
from webui.files.uploads import (
    ENVELOPE_BYTES,
    UploadRefused,
    add_content,
    broken_off_words,
    content_of,
    declared_bytes,
    files_in,
    length_of,
    refusal_for_script,
    refuse_beyond_disk,
    refuse_forged,
)
from webui.http import multipart
from webui.http.multipart import FormPart
from webui.http.requests import Request, asks_and_acts, is_script
from webui.http.roles import open_to_strangers
from webui.models import Share
from webui.shares import links, screen
from webui.shares.receiving_page import receiving_page

log = logging.getLogger("ferry.sharing")


@csrf_exempt
@asks_and_acts
@open_to_strangers
def receive(request: Request, token: str) -> HttpResponse:
    """Show the page, or receive files. Django's CSRF check would read the whole body:
    webui.http.csrf replaces it."""
    share = screen.find_page(request, token)
    is_open = share and share.takes_files and screen.is_inside(request, share)
    if share is None or not is_open:
        return refusal(request, token, UploadRefused(404, screen.ended_words()))
    if request.method != "POST":
        return shown(request, share, token)
    try:
        names = received(request, share)
    except UploadRefused as refused:
        return refusal(request, token, refused, share)
    if is_script(request):
        return JsonResponse({"ok": True, "name": names[0]})
    return shown(request, share, token, names=names)


def received(request: Request, share: Share) -> list[str]:
    refuse_forged(request)
    length_bytes = length_of(request)
    if share.most_bytes is not None:
        left_bytes = share.most_bytes - share.received_bytes
        # Before a plain form fills our disk.
        if length_bytes - ENVELOPE_BYTES > left_bytes:
            raise too_much()
    if declared_bytes(request) is None:
        refuse_beyond_disk(length_bytes)
    names: list[str] = []
    try:
        names.extend(add(request, share, part) for part in files_in(request, length_bytes))
    except multipart.CutOff as cut:
        log.info("upload cut off: %s", cut)
        raise UploadRefused(400, broken_off_words(len(names))) from cut
    except multipart.UnreadableForm as unreadable:
        raise UploadRefused(400, _("This isn't an upload.")) from unreadable
    if not names:
        raise UploadRefused(422, _("Choose a file first."))
    return names


def too_much() -> UploadRefused:
    return UploadRefused(413, _("This link can't receive that much. Ask for a new one."))


def add(request: Request, share: Share, part: FormPart) -> str:
    """Add one file within the limit of the link, and return the name that it came with: the one in
    the folder would say what else is there."""
    with content_of(request, part) as (content, size_bytes):
        if not links.take_bytes(share, size_bytes):
            raise too_much()
        try:
            add_content(request, share.folder, part.filename, content, size_bytes)
        except BaseException:
            links.give_back_bytes(share, size_bytes)
            raise
    log.info("received file share=%s bytes=%s", share.pk, size_bytes)
    address = request.META["REMOTE_ADDR"]
    events.record_outsider(Kind.FILE_RECEIVED, share.user.username, part.filename, address)
    return part.filename


def shown(
    request: Request, share: Share, token: str, names: list[str] | None = None, error: str = ""
) -> HttpResponse:
    action = reverse("share-receive", args=[token])
    page = receiving_page(str(share), action, names or [], error)
    status = 422 if error else 200
    return render(request, "shares/receive.html", {"page": page}, status=status)


def refusal(
    request: Request, token: str, refused: UploadRefused, share: Share | None = None
) -> HttpResponse:
    if is_script(request):
        return refusal_for_script(request, refused)
    if share is None:
        return redirect("share-page", token)
    return shown(request, share, token, error=refused.reason)
