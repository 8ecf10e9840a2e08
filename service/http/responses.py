"""Build every response: one form for success, one for refusals."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags

from service import errors as service
from service.http import refusals
from service.http.records import Refusal, wish_record

# Set in the environ of calls that the site makes itself; no header can produce this key.
IN_PROCESS = "ferry.in_process"

encode = msgspec.json.encode


def in_json(record: Any, status: int = 200) -> HttpResponse:
    return json_response(encode(record), status)


def json_response(content: bytes, status: int = 200) -> HttpResponse:
    return HttpResponse(content, content_type="application/json", status=status)


def redirect_to(request: HttpRequest, link: str) -> HttpResponse:
    """Redirect to `link`, a path of this server, under the host name that the client uses."""
    response = empty(302)
    response["Location"] = request.build_absolute_uri(link)
    return response


def empty(status: int) -> HttpResponse:
    """Return an empty response without a content type, which Django would set to HTML."""
    response = HttpResponse(status=status)
    del response["Content-Type"]
    return response


def unless_known(
    request: HttpRequest, etag: str, answer: Callable[[], HttpResponse]
) -> HttpResponse:
    """Return 304 if the client has `etag`, which identifies this answer; else call `answer`."""
    etags = parse_etags(request.headers.get("If-None-Match", ""))
    is_known = "*" in etags or any(each.removeprefix("W/") == etag for each in etags)
    response = empty(304) if is_known else answer()
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


def refuse(status: int, reason: str, **more: Any) -> HttpResponse:
    refusal = Refusal(code=status, status_code=status, reason_phrase=reason, error=reason, **more)
    return in_json(refusal, status)


def refusal(refusal: service.Refusal) -> HttpResponse:
    response = refuse(refusal.status, refusal.reason, **_details_of(refusal))
    if isinstance(refusal, refusals.AccessDenied):
        response["WWW-Authenticate"] = 'Basic realm="Ferry", charset="UTF-8"'
    if isinstance(refusal, service.TooManyTries):
        response["Retry-After"] = str(math.ceil(refusal.wait.total_seconds()))
    if isinstance(refusal, service.Busy):
        response["Retry-After"] = "5"
    return response


def _details_of(refusal: service.Refusal) -> dict[str, Any]:
    match refusal:
        case service.NotNow(wish=wish):
            # Older clients read the word in `result` (see tests/samples/ours).
            return {"result": refusal.reason} | ({"wt": wish_record(wish)} if wish else {})
        case refusals.BadEntry(index=index, why=why):
            return {"entry": index, "message": f"archive_arr[{index}]: {why}"}
        case service.CannotConvert(why=why) if why:
            return {"message": why}
        case service.NoWorker():
            return {"message": "Media are made by Ferry's worker, and none is running."}
    return {}


def wrong_method(methods: Iterable[str]) -> HttpResponse:
    response = refuse(405, "method_not_allowed")
    response["Allow"] = ", ".join(methods)
    return response


def busy(reason: str = "busy", after_seconds: int = 1) -> HttpResponse:
    response = refuse(503, reason)
    response["Retry-After"] = str(after_seconds)
    return response
