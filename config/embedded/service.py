"""Route the service's requests through little middleware, and always answer in JSON."""

import logging
import re
from functools import cache
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.core.handlers.wsgi import WSGIHandler
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    UnreadablePostError,
)
from django.utils.module_loading import import_string

from common.storage.outages import Outage, outage_of
from host.web import front
from service.errors import DiskFull
from service.http.responses import IN_PROCESS, busy, refusal, refuse
from webui.connection import connection
from webui.http.requests import Answer, middleware

log = logging.getLogger("ferry.service")

PATHS = re.compile(r"/+(?:rest(?:/.*)?|content/.*)", re.DOTALL)
# A 304 with the length 0 would describe an empty file.
WITHOUT_LENGTH = (204, 304)
SLASHES = re.compile(r"/{2,}")


def is_for_service(path: str) -> bool:
    return PATHS.fullmatch(path) is not None


@cache
def handler() -> "Handler":
    return Handler()


class Handler(WSGIHandler):
    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        """Load the middleware; Django's own method would add error responses in HTML to each."""
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        chain = in_json(self._get_response)  # type: ignore[attr-defined]
        for name in reversed(settings.SERVICE_MIDDLEWARE):
            chain = in_json(import_string(name)(chain))
        self._middleware_chain = chain


def fold_slashes(environ: dict[str, Any]) -> None:
    """Remove double slashes, and a slash at the end of v1's paths.

    Some clients join an address that ends in a slash with a path that begins with one, and some
    add a slash to every path of v1.
    """
    path = SLASHES.sub("/", environ.get("PATH_INFO", ""))
    environ["PATH_INFO"] = path.removesuffix("/") if path.startswith("/rest/") else path


def mount(environ: dict[str, Any], prefix: str) -> None:
    """Mount Ferry below its prefix, whether or not the proxy in front has removed the prefix."""
    path = environ.get("PATH_INFO", "")
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        path = path[len(prefix) :]
    environ["PATH_INFO"] = path or "/"
    environ["SCRIPT_NAME"] = prefix


@middleware
def in_json(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    try:
        return get_response(request)
    except Http404:
        return refuse(404, "not_found")
    except UnreadablePostError:
        # The sender disconnected, or stalled and was cut off; few clients read this response.
        return refuse(400, "body_cut_off")
    except (SuspiciousOperation, BadRequest):
        return refuse(400, "bad_request")
    except Exception as trouble:
        log.exception("broken path=%s", request.path)
        return answer_to(outage_of(trouble))


def answer_to(outage: Outage | None) -> HttpResponseBase:
    """Return the response to an outage; what is broken or locked may work again in a minute."""
    match outage:
        case Outage.DISK_FULL:
            return refusal(DiskFull())
        case Outage.READ_ONLY | Outage.DISK_ERROR:
            return busy("disk_error")
        case Outage.BUSY | Outage.CROWDED:
            return busy()
        case Outage.AWAY | Outage.DAMAGED:
            return busy(after_seconds=30)
        case None:
            return refuse(500, "internal_error")


@middleware
def set_headers(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Set the length of every complete response, and forbid guessing its type."""
    response = get_response(request)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Cache-Control", "private, no-store")
    if isinstance(response, HttpResponse):
        if response.status_code not in WITHOUT_LENGTH:
            response.headers.setdefault("Content-Length", str(len(response.content)))
        if request.method == "HEAD":
            response.content = b""
    return response


@middleware
def only_embedded(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Answer 404 to everyone while the site shows another service.

    The site's own calls pass: the site reads the connection's row, so it may learn of a change
    sooner.
    """
    if IN_PROCESS in request.META or connection.is_embedded():
        return get_response(request)
    return refuse(404, "not_found")


@middleware
def refuse_foreign_host(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Refuse foreign hosts as `host.web.front` does, but in JSON."""
    if not front.is_ours(request.META.get("HTTP_HOST", "")):
        return refuse(400, "unknown_host")
    return get_response(request)
