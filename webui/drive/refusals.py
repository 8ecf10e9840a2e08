"""What the drive answers to programs when it can't do something."""

import logging
from dataclasses import dataclass

from django.http import HttpResponse

from webui.http.requests import plain_text
from webui.uploads.receiving import UploadRefused
from webui.v1.errors import Failure, Forbidden
from webui.words.failures import message_of

log = logging.getLogger("ferry.drive")

XML = "application/xml; charset=utf-8"
XML_BEGIN = '<?xml version="1.0" encoding="utf-8"?>\n'
RETRY_SECONDS = 30


@dataclass
class Refused(Exception):  # noqa: N818  Errors are nouns here.
    """`condition` is the name of a condition that WebDAV defines."""

    status: int
    words: str = ""
    condition: str = ""

    def answer(self) -> HttpResponse:
        if not self.condition:
            return plain_text(self.words or f"{self.status}", self.status)
        body = f'{XML_BEGIN}<D:error xmlns:D="DAV:"><D:{self.condition}/></D:error>'
        return HttpResponse(body, status=self.status, content_type=XML)


def answer_to(trouble: Exception) -> HttpResponse:
    match trouble:
        case Refused():
            return trouble.answer()
        case UploadRefused():
            # Programs know 507 as a full disk, where browsers know 413.
            status = 507 if trouble.status in (413, 503) else trouble.status
            return plain_text(trouble.reason, status)
        case Failure():
            return of_failure(trouble)
    return plain_text("The body broke off.", 400)


def of_failure(failure: Failure) -> HttpResponse:
    log.info("failed reason=%s", failure)
    message = message_of(failure)
    status = {413: 507}.get(message.status, message.status)
    response = plain_text(message.words, 403 if isinstance(failure, Forbidden) else status)
    if status == 503:
        response["Retry-After"] = str(round(failure.retry_after_seconds or RETRY_SECONDS))
    return response
