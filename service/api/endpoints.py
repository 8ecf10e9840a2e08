"""An endpoint: one path, a view for each method, and JSON whatever happens."""

import errno
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

from django.core.exceptions import SuspiciousOperation
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from service.api import answers
from service.api.auth import account_of, refuse_foreign_page
from service.api.http import Request
from service.errors import DiskFull, NotFound, Refusal

View = Callable[..., HttpResponseBase]

log = logging.getLogger("ferry.api")

# As SQLite and as PostgreSQL (classes 25, 40, 53 and 55 of SQLSTATE) call it. What is read-only
# now may be mended in a minute, as what is locked.
FULL = re.compile("SQLITE_FULL|53100|.*disk is full")
READ_ONLY = re.compile("SQLITE_READONLY|25006")
AWAY = re.compile(
    "SQLITE_(CANTOPEN|CORRUPT|NOTADB)|08|57P0|.*(unable to open|malformed|not a database|"
    "could not connect|connection (failed|refused|is closed|already closed|is lost)|"
    "closed the connection)"
)
BUSY = re.compile("SQLITE_(BUSY|LOCKED)|40001|40P01|55P03|.*locked|.*busy")


@dataclass(frozen=True, eq=False)
class Endpoint:
    views: Mapping[str, View]
    needs_account: bool = True

    # The interface reads no cookie; what a foreign page could abuse is in `refuse_foreign_page`.
    csrf_exempt: ClassVar[bool] = True

    @property
    def allowed(self) -> list[str]:
        return [*self.views, *(["HEAD"] if "GET" in self.views else [])]

    def __call__(self, request: HttpRequest, **ids: int) -> HttpResponseBase:
        asked = cast("Request", request)
        asked.now = timezone.now()
        response = self._safely(asked, ids)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    def _safely(self, request: Request, ids: Mapping[str, int]) -> HttpResponseBase:
        try:
            return self._answer(request, ids)
        except Refusal as refusal:
            return answers.refusal(refusal)
        except SuspiciousOperation:
            return answers.refused(400, "bad_request")
        except (DatabaseError, InterfaceError) as trouble:
            log.exception("database trouble path=%s", request.path)
            return trouble_answer(trouble)
        except Exception as trouble:
            log.exception("broken path=%s", request.path)
            if isinstance(trouble, OSError) and trouble.errno == errno.EROFS:
                return answers.busy("disk_error")
            return answers.refused(500, "internal_error")

    def _answer(self, request: Request, ids: Mapping[str, int]) -> HttpResponseBase:
        method = "GET" if request.method == "HEAD" else request.method or ""
        if method != "GET":
            refuse_foreign_page(request)
        if self.needs_account:
            request.account = account_of(request)
        if method not in self.views:
            return answers.wrong_method(self.allowed)
        return self.views[method](request, **ids)


def trouble_answer(trouble: Exception) -> HttpResponseBase:
    cause = trouble.__cause__
    told = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    word = told or str(trouble)
    if FULL.match(word):
        return answers.refusal(DiskFull())
    if READ_ONLY.match(word):
        return answers.busy("disk_error")
    if BUSY.match(word):
        return answers.busy()
    if AWAY.match(word):
        return answers.busy(after_seconds=30)
    return answers.refused(500, "internal_error")


def endpoint(**views: View) -> Endpoint:
    """`endpoint(GET=show, POST=create)`; HEAD comes with GET."""
    return Endpoint(views)


def open_endpoint(**views: View) -> Endpoint:
    """For those without an account too."""
    return Endpoint(views, needs_account=False)


class Nowhere(Endpoint):
    """Whatever the method, and whoever asks."""

    def _answer(self, _request: Request, _ids: Mapping[str, int]) -> HttpResponseBase:
        raise NotFound
