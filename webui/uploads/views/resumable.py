"""Resumable uploads, by the tus protocol 1.0.0 with creation, expiration, and termination."""

import base64
import logging
from datetime import UTC, datetime
from email.utils import format_datetime

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from common.names import find_name_error
from webui.http import csrf
from webui.http.bodies import RequestReader
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.addresses import folder_url
from webui.models import ResumableUpload, Role
from webui.uploads import receiving
from webui.uploads import resumable as resumable_uploads
from webui.uploads.receiving import ServiceRefused, UploadRefused
from webui.uploads.resumable import Overtaken
from webui.v1.errors import Failure
from webui.words import reasons

log = logging.getLogger("ferry.uploads")

VERSION = "1.0.0"
EXTENSIONS = "creation,expiration,termination"
CONTENT_TYPE = "application/offset+octet-stream"
LONGEST_METADATA = 8 * 1024


@csrf_exempt
@open_to(Role.MEMBER, "POST", "OPTIONS")
def begin(request: Request, folder: str) -> HttpResponse:
    if request.method == "OPTIONS":
        return with_version(HttpResponse(status=204), **{"Tus-Extension": EXTENSIONS})
    try:
        refuse_other_protocols(request)
        name, size_bytes = name_of(request), number_of(request, "Upload-Length")
        receiving.refuse_beyond_disk(size_bytes)
        upload = begin_within_space(request, folder, name, size_bytes)
    except UploadRefused as refused:
        return with_version(receiving.refusal_for_script(request, refused))
    response = HttpResponse(status=201)
    response["Location"] = reverse("files-resumable", args=[upload.key])
    return with_version(response, **expiry_of(upload))


def begin_within_space(
    request: Request, folder: str, name: str, size_bytes: int
) -> ResumableUpload:
    """Begin an upload, and only then count what others promise: two at once see each other."""
    upload = resumable_uploads.begin(request.user, service_of(request), folder, name, size_bytes)
    try:
        receiving.refuse_beyond_space(request, size_bytes, but=upload.pk)
        receiving.refuse_beyond_disk(resumable_uploads.missing_bytes())
    except UploadRefused:
        resumable_uploads.forget(upload)
        raise
    return upload


@csrf_exempt
@open_to(Role.MEMBER, "HEAD", "PATCH", "DELETE")
def resumable(request: Request, key: str) -> HttpResponse:
    """Report how much of the upload has arrived, take its next bytes, or cancel it.

    Django's CSRF check would read the whole body: webui.http.csrf replaces it.
    """
    try:
        refuse_other_protocols(request)
        if request.method == "DELETE":
            resumable_uploads.forget(find(request, key))
            return with_version(HttpResponse(status=204))
        upload, offset = find_here(request, key)
        if request.method == "HEAD":
            return with_version(HttpResponse(), **facts_of(upload, offset))
        return with_version(append_body(request, upload, offset))
    except UploadRefused as refused:
        return with_version(receiving.refusal_for_script(request, refused))


@open_to(Role.MEMBER, "POST")
def cancel(request: Request, key: str) -> HttpResponse:
    """Cancel an interrupted upload, which no script may be following anymore."""
    upload = resumable_uploads.find(request.user, service_of(request), key)
    if upload is None:
        raise Http404
    resumable_uploads.forget(upload)
    messages.success(request, _("Upload canceled"))
    return redirect(folder_url(upload.folder))


def find(request: Request, key: str) -> ResumableUpload:
    upload = resumable_uploads.find(request.user, service_of(request), key)
    if upload is None:
        raise not_there()
    return upload


def find_here(request: Request, key: str) -> tuple[ResumableUpload, int]:
    """Return the upload, and how many of its bytes have arrived on this machine."""
    upload = find(request, key)
    if resumable_uploads.is_elsewhere(upload):
        # A proxy may lead the next try there.
        words = _("The upload continues on another machine of Ferry: %(name)s.")
        raise UploadRefused(421, words % {"name": upload.machine})
    if request.method == "HEAD":
        resumable_uploads.settle(upload)
    offset = resumable_uploads.offset_of(upload)
    if offset is None:
        raise not_there()
    return upload, offset


def not_there() -> UploadRefused:
    return UploadRefused(404, _("This upload has ended or expired. Begin it again."))


def append_body(request: Request, upload: ResumableUpload, offset: int) -> HttpResponse:
    if request.content_type != CONTENT_TYPE:
        raise UploadRefused(415, _("This isn't an upload."))
    length_bytes = receiving.length_of(request)
    if number_of(request, "Upload-Offset") != offset:
        raise Overtaken
    if length_bytes > upload.size_bytes - offset:
        raise UploadRefused(413, _("The file has changed. Choose it again."))
    if length_bytes:
        receiving.refuse_beyond_disk(length_bytes)
        try:
            body = RequestReader(request, length_bytes)
            offset = resumable_uploads.append(upload, body, offset)
        except OSError as error:
            log.warning("can't save an upload: %s", error)
            raise receiving.disk_full(507) from error
    if offset == upload.size_bytes and upload.state != ResumableUpload.State.DONE:
        hand_over(request, upload)
    return HttpResponse(status=204, headers=facts_of(upload, offset))


def hand_over(request: Request, upload: ResumableUpload) -> None:
    try:
        added = resumable_uploads.hand_over(upload, service_of(request))
    except Failure as failure:
        raise ServiceRefused.of(upload.name, failure) from failure
    if added is not None:
        folders.mark_changed(service_of(request), [upload.folder])


# The protocol


def refuse_other_protocols(request: Request) -> None:
    is_safe = request.method == "HEAD"
    if not is_safe and csrf.is_forged(request, request.headers.get("X-CSRFToken", "")):
        raise receiving.out_of_date()
    if request.headers.get("Tus-Resumable") != VERSION:
        raise UploadRefused(412, _("This isn't an upload."))


def number_of(request: Request, header: str) -> int:
    number = receiving.parse_bytes(request.headers.get(header, ""))
    if number is None:
        raise UploadRefused(400, _("This isn't an upload."))
    return number


def name_of(request: Request) -> str:
    """Return the file's name from the metadata: pairs of a key and its value in Base64."""
    metadata = request.headers.get("Upload-Metadata", "")[:LONGEST_METADATA]
    pairs = dict(pair.strip().partition(" ")[::2] for pair in metadata.split(","))
    try:
        name = base64.b64decode(pairs.get("filename", ""), validate=True).decode()
    except ValueError:  # It isn't Base64, or isn't text.
        name = ""
    if error := find_name_error(name):
        raise UploadRefused(422, f"{name[:80]}: {reasons.find(error).text}")
    return name


def facts_of(upload: ResumableUpload, offset: int) -> dict[str, str]:
    return {
        "Upload-Offset": str(offset),
        "Upload-Length": str(upload.size_bytes),
        "Cache-Control": "no-store",
        **expiry_of(upload),
    }


def expiry_of(upload: ResumableUpload) -> dict[str, str]:
    expires_at: datetime = upload.expires_at
    return {"Upload-Expires": format_datetime(expires_at.astimezone(UTC), usegmt=True)}


def with_version(response: HttpResponse | JsonResponse, **headers: str) -> HttpResponse:
    response["Tus-Resumable"] = response["Tus-Version"] = VERSION
    for name, value in headers.items():
        response[name] = value
    return response
