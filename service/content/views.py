"""The bytes of files and archives, by signed link: no account, no cookie."""

import hashlib
import logging
import os
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any, BinaryIO, Concatenate, NoReturn, ParamSpec, cast
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.cache import get_conditional_response

from common.http.content_types import LOCKED
from service import models
from service.content import archive_plans, signed_links
from service.content.archive import Archive, ArchiveBroken
from service.content.disposition import Presentation, presentation
from service.content.range_header import Span
from service.content.range_responses import InOneFile, StartedStream, answer, presentation_headers
from service.content.signed_links import BadLink, Delivery, LinkExpired
from service.errors import Busy, CannotConvert, NotFound
from service.http import responses
from service.library import library
from service.library.upkeep.database_match import refuse_other
from service.media.pictures import pictures
from service.store.blobs import Store, library_store

log = logging.getLogger("ferry.content")

Params = ParamSpec("Params")
View = Callable[Concatenate[HttpRequest, Params], HttpResponseBase]
ACCEL_PREFIX = "/ferry-accel/"
READING = ("GET", "HEAD")
# A download that takes longer continues: the store checks the time only when it begins.
REDIRECT_SECONDS = 600


def reading(view: View[Params]) -> View[Params]:
    @wraps(view)
    def respond(
        request: HttpRequest, *args: Params.args, **kwargs: Params.kwargs
    ) -> HttpResponseBase:
        if request.method not in READING:
            return responses.wrong_method(READING)
        try:
            return view(request, *args, **kwargs)
        except (BadLink, LinkExpired, NotFound, Busy, CannotConvert) as error:
            return responses.refusal(error)

    # No role of the site is needed: the signature decides.
    cast("Any", respond).open_to = None
    return cast("View[Params]", respond)


@reading
def file(request: HttpRequest, account_id: int, file_id: int, name: str) -> HttpResponseBase:
    """Serve a file under its current name; the `name` in the link is only for people."""
    account = signed_links.check(account_id, "file", str(file_id), request.GET, now=timezone.now())
    row = library.file(account, file_id)
    delivery = signed_links.delivery_of(request.GET)
    content = StoredFile(row, library_store(), inline=delivery is Delivery.INLINE)
    is_own_call = responses.IN_PROCESS in request.META
    if settings.ACCEL == "nginx" and not is_own_call:
        return content.hand_over()
    if delivery is Delivery.DIRECT and not is_own_call:
        return content.redirect(request.method or "GET") or answer(request, content)
    return answer(request, content)


@reading
def archive(request: HttpRequest, account_id: int, plan_id: str, name: str) -> HttpResponseBase:
    signed_links.check(account_id, "zip", plan_id, request.GET, now=timezone.now())
    return answer(request, PlannedArchive(account_id, plan_id, name, library_store()))


@reading
def picture(request: HttpRequest, account_id: int, file_id: int, size: str) -> HttpResponseBase:
    subject = str(file_id)
    account = signed_links.check(account_id, "picture", subject, request.GET, now=timezone.now())
    return picture_answer(request, library.file(account, file_id), size)


def picture_answer(request: HttpRequest, row: models.File, size: str) -> HttpResponseBase:
    """Return a whole picture, which browsers may keep forever; its tag is a hash of its bytes."""
    content = pictures.read(row, size)
    headers = presentation_headers(Presentation(pictures.type_of(content), "inline", LOCKED)) | {
        "ETag": f'"{hashlib.sha1(content, usedforsecurity=False).hexdigest()}"',
        "Cache-Control": "private, max-age=31536000, immutable",
    }
    response = HttpResponse(content, headers=headers)
    return get_conditional_response(request, headers["ETag"], None, response) or response


class StoredFile(InOneFile):
    def __init__(self, file: models.File, store: Store, *, inline: bool) -> None:
        self._blob = file.blob
        self._store = store
        self.size_bytes = file.size_bytes
        self.etag = f'"{file.sha1}-{file.size_bytes:x}"'
        self.modified_seconds: int | None = int(file.updated_at.timestamp())
        self.presentation = presentation(file.name, inline=inline)

    def hand_over(self) -> HttpResponse:
        """Let nginx send the file: it handles ranges and conditions, with its own tag and date."""
        if self._store.size(self._blob) != self.size_bytes:
            self._report_loss()
        inside = self._store.internal_path(self._blob)
        headers = presentation_headers(self.presentation) | {"Cache-Control": "private, no-cache"}
        headers["X-Accel-Redirect"] = ACCEL_PREFIX + quote(inside.as_posix())
        return HttpResponse(headers=headers)

    def redirect(self, method: str) -> HttpResponse | None:
        """Let the object store send the file, if clients can reach it.

        The signed URL has name and type. The store's response has no content policy, and needs
        none, since the browser saves the file.
        """
        content_type, disposition, _policy = self.presentation
        url = self._store.public_link(
            self._blob, method, disposition, content_type, REDIRECT_SECONDS
        )
        if url is None:
            return None
        headers = presentation_headers(self.presentation)
        return HttpResponse(
            status=302, headers=headers | {"Location": url, "Cache-Control": "private, no-store"}
        )

    def _open(self) -> BinaryIO:
        try:
            file = self._store.open(self._blob)
        except NotFound:
            self._report_loss()
        if file.seek(0, os.SEEK_END) != self.size_bytes:
            file.close()
            self._report_loss()
        return file

    def _report_loss(self) -> NoReturn:
        record_loss(self._store)
        log.error("blob missing or of another size blob=%s", self._blob)
        raise NotFound


def record_loss(store: Store) -> None:
    """Record that a blob is missing. Raises StoreAway if they all are."""
    refuse_other(store)
    store.record_loss()


class PlannedArchive:
    # Every new link changes the date of its plan, which a resuming download must not see.
    modified_seconds: int | None = None

    def __init__(self, account_id: int, plan_id: str, name: str, store: Store) -> None:
        plan = archive_plans.path(account_id, plan_id)
        self._store = store
        try:
            # Another machine may have made the link.
            if not plan.exists() and not store.fetch_published(plan):
                raise NotFound
            self._archive = Archive(plan, store.open, store.opens_ahead)
        except (FileNotFoundError, ArchiveBroken) as error:
            raise NotFound from error
        self.size_bytes = self._archive.size_bytes
        self.etag = self._archive.etag
        self.presentation = presentation(f"{name.removesuffix('.zip')}.zip", inline=False)

    def whole_or_part(self, span: Span) -> HttpResponseBase:
        """Read the first block beforehand: an archive that can't begin is 404, not half sent."""
        try:
            return StreamingHttpResponse(StartedStream(self.read(span)))
        except (ArchiveBroken, NotFound) as error:
            log.error("archive broken: %s", error)  # noqa: TRY400  No fault of the program.
            raise NotFound from error

    def read(self, span: Span) -> Generator[bytes, None, None]:
        try:
            yield from self._archive.read(*span)
        except (ArchiveBroken, NotFound):
            record_loss(self._store)
            raise


urlpatterns = [
    path("file/<int:account_id>/<int:file_id>/<path:name>", file, name="content-file"),
    path("picture/<int:account_id>/<int:file_id>/<slug:size>", picture, name="content-picture"),
    path("zip/<int:account_id>/<slug:plan_id>/<path:name>", archive, name="content-zip"),
]
