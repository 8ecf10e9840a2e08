"""The shape of every answer: one for what went well, one for what was refused."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags

from service import errors as service
from service.api import errors
from service.api.auth import CHALLENGE
from service.api.records import wish_record

STATUS_OF: dict[type[service.Refusal], int] = {
    errors.AccessDenied: 401,
    errors.PremiumRequired: 403,
    errors.ForeignPage: 403,
    errors.NothingPassed: 400,
    errors.Missing: 400,
    errors.Unreadable: 422,
    errors.BodyCutOff: 400,
    errors.BodyMalformed: 400,
    errors.TooLarge: 413,
    errors.LengthRequired: 411,
    service.NotFound: 404,
    service.NameTaken: 409,
    service.BadName: 422,
    service.TooDeep: 422,
    service.RootStays: 422,
    service.NoRoom: 413,
    service.BadMagnet: 422,
    service.BadAddress: 422,
    service.NotATorrent: 400,
    service.NotNow: 413,
    service.TooManyTries: 429,
    service.CannotConvert: 422,
    service.Busy: 503,
}


class Record(HttpResponse):
    """Facts, written as JSON once somebody asks for bytes. A caller in this process takes the
    facts themselves: writing and reading 10,000 entries costs 60 ms."""

    def __init__(self, facts: dict[str, Any], status: int = 200) -> None:
        super().__init__(status=status, content_type="application/json")
        self._facts = facts
        self._is_written = False

    @property
    def facts(self) -> dict[str, Any]:
        return self._facts

    def written(self) -> str:
        return encoded(self._facts)

    def __iter__(self) -> Iterator[bytes]:
        return iter([self.content])

    @property
    def content(self) -> bytes:
        if not self._is_written:
            self.content = self.written()
        return super().content

    @content.setter
    def content(self, value: Any) -> None:
        HttpResponse.content.fset(self, value)  # type: ignore[attr-defined]
        self._is_written = True


def record(facts: dict[str, Any], status: int = 200) -> HttpResponse:
    return Record(facts, status)


def encoded(facts: Any) -> str:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def changed() -> HttpResponse:
    """After a rename or a delete."""
    return record({"success": True, "result": True, "code": 200})


def leads_to(request: HttpRequest, link: str) -> HttpResponse:
    """The content is at `link`, a path of this server, under the name that the client uses."""
    response = empty(302)
    response["Location"] = request.build_absolute_uri(link)
    return response


def empty(status: int) -> HttpResponse:
    """Of no type: Django would call it HTML."""
    response = HttpResponse(status=status)
    del response["Content-Type"]
    return response


def unless_known(
    request: HttpRequest, etag: str, answer: Callable[[], HttpResponse]
) -> HttpResponse:
    """What can be asked for again at little cost: an `etag` names this answer and no other."""
    response = empty(304) if is_known(request, etag) else answer()
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


def is_known(request: HttpRequest, etag: str) -> bool:
    known = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in known or any(each.removeprefix("W/") == etag for each in known)


def refused(status: int, reason: str, **more: Any) -> HttpResponse:
    facts = {
        "result": False,
        "success": False,
        "code": status,
        "status_code": status,
        "reason_phrase": reason,
        "error": reason,
    }
    return record(facts | more, status)


def refusal(refusal: service.Refusal) -> HttpResponse:
    response = refused(_status_of(refusal), refusal.reason, **_details_of(refusal))
    if isinstance(refusal, errors.AccessDenied):
        response["WWW-Authenticate"] = CHALLENGE
    if isinstance(refusal, service.TooManyTries):
        response["Retry-After"] = str(math.ceil(refusal.wait.total_seconds()))
    if isinstance(refusal, service.Busy):
        response["Retry-After"] = "5"
    return response


def _status_of(refusal: service.Refusal) -> int:
    return next(STATUS_OF[kind] for kind in type(refusal).__mro__ if kind in STATUS_OF)


def _details_of(refusal: service.Refusal) -> dict[str, Any]:
    match refusal:
        case service.NotNow(wish=wish):
            # The word in `result` too: what older clients read, samples/ours.
            return {"result": refusal.reason} | ({"wt": wish_record(wish)} if wish else {})
        case errors.BadEntry(index=index, why=why):
            return {"entry": index, "message": f"archive_arr[{index}]: {why}"}
        case service.CannotConvert(why=why) if why:
            return {"message": why}
        case service.NoWorker():
            return {"message": "Media are made by Ferry's worker, and none is running."}
    return {}


def wrong_method(allowed: Iterable[str]) -> HttpResponse:
    response = refused(405, "method_not_allowed")
    response["Allow"] = ", ".join(allowed)
    return response


def busy(reason: str = "busy", after_seconds: int = 1) -> HttpResponse:
    response = refused(503, reason)
    response["Retry-After"] = str(after_seconds)
    return response
