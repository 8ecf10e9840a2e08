"""What every request of the site passes through, besides Django's own middleware."""

import logging
from collections.abc import Callable

from django.conf import settings
from django.contrib.sessions.backends.base import UpdateError
from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, UnreadablePostError
from django.middleware.gzip import GZipMiddleware
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin

from common.storage.outages import outage_of
from webui.connection import connection
from webui.errors import answers as error_answers
from webui.http import bodies
from webui.http.content_types import PAGE
from webui.http.requests import Answer, is_own_https, middleware
from webui.shell.context import drafts_key
from webui.v1.errors import Failure

View = Callable[..., HttpResponseBase]

log = logging.getLogger("ferry.requests")

SECURE_SUFFIX = "_s"
STRANGERS_BYTES = 64 * 1024
PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
# Dropped from 204 responses, which are the most frequent and consist of headers only.
ABOUT_CONTENT = ("Content-Length", "Content-Language", "Vary")


@middleware
def set_headers(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Set security headers on all responses, and the content policies on documents."""
    response = get_response(request)
    headers = {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        # Back after signing out must show nothing private, and no proxy may cache it.
        "Cache-Control": "private, no-store",
    }
    # Never from our own https port: a device that lost our authority could go back to http only.
    if request.is_secure() and settings.HSTS_SECONDS and not is_own_https(request):
        headers["Strict-Transport-Security"] = f"max-age={settings.HSTS_SECONDS}"
    if response.headers.get("Content-Type", "").startswith("text/html"):
        headers |= {"Content-Security-Policy": PAGE, "Permissions-Policy": PERMISSIONS}
        if request.is_secure():
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    if response.status_code == 204:
        for name in ABOUT_CONTENT:
            response.headers.pop(name, None)
    return response


class CompressPages(GZipMiddleware):
    """Compression of documents only, since files must keep their length and ranges. Django pads
    each response randomly, so that its size reveals nothing about the secrets in it."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if response.streaming or not is_page:
            return response
        return super().process_response(request, response)


@middleware
def cookies_by_scheme(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Keep the cookies of https apart from those of http, and make them Secure.

    Browsers don't let an http page replace a Secure cookie of the same host. If both had one name,
    anyone who had used https once could no longer sign in over http on the LAN.
    """
    if not request.is_secure():
        return get_response(request)
    request.COOKIES = {
        name.removesuffix(SECURE_SUFFIX): value
        for name, value in request.COOKIES.items()
        if name.endswith(SECURE_SUFFIX)
    }
    response = get_response(request)
    for name in list(response.cookies):
        morsel = response.cookies.pop(name)
        morsel.set(name + SECURE_SUFFIX, morsel.value, morsel.coded_value)
        morsel["secure"] = True
        response.cookies[name + SECURE_SUFFIX] = morsel
    return response


class BodyLimit(MiddlewareMixin):
    """A middleware that refuses oversized forms before anything reads them, and unreadable ones.

    Django's CSRF check reads the whole body of any request, including files. Strangers' forms are
    short and have no files. Views that are exempt from that check limit their bodies themselves.
    """

    def process_view(
        self, request: HttpRequest, view: View, _args: object, _kwargs: object
    ) -> HttpResponseBase | None:
        if getattr(view, "csrf_exempt", False):
            return None
        length = request.META.get("CONTENT_LENGTH") or "0"
        size_bytes = int(length) if length.isdecimal() else float("inf")
        is_multipart = request.content_type == "multipart/form-data"
        if size_bytes > STRANGERS_BYTES or is_multipart:
            is_known = request.user.is_authenticated
            if size_bytes > (settings.DATA_UPLOAD_MAX_MEMORY_SIZE if is_known else STRANGERS_BYTES):
                log.warning("too large path=%s bytes=%s", request.path, length[:20])
                return error_answers.plain(request, 413)
            if is_multipart and size_bytes and not is_known:
                log.warning("multipart form of a stranger path=%s", request.path)
                return error_answers.plain(request, 400)
        bodies.read_form(request)  # Django's check reads it next, and would fail on it.
        return None


@middleware
def prefer_chosen_language(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Prefer the language that a person chose to the one their browser requests."""
    if request.session.session_key and request.user.is_authenticated:
        chosen = request.user.language
        if chosen in dict(settings.LANGUAGES):
            translation.activate(chosen)
            request.LANGUAGE_CODE = chosen
    return get_response(request)


@middleware
def name_person(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Tell the service worker whose page this is, so that it shows no one's lists to others."""
    response = get_response(request)
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    if response.status_code == 200 and is_page and (person := drafts_key(request)):
        response.headers["X-Person"] = person
    return response


@middleware
def answering(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Tell our own service which request the site is answering: its links lead to the same host."""
    token = connection.outer.set(request)
    try:
        return get_response(request)
    finally:
        connection.outer.reset(token)


class Errors(MiddlewareMixin):
    """A middleware that turns exceptions and bare 405 responses into pages or toasts."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        is_bare = isinstance(response, HttpResponse) and not response.content
        if response.status_code == 405 and is_bare:
            page = error_answers.plain(request, 405)
            page["Allow"] = response["Allow"]
            return page
        return response

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        if isinstance(exception, Failure):
            return error_answers.service_failed(request, exception)
        answered_by_django = (Http404, PermissionDenied, SuspiciousOperation, BadRequest)
        if settings.DEBUG or isinstance(exception, answered_by_django):
            return None
        if isinstance(exception, UnreadablePostError):  # Its sender left or stalled.
            return error_answers.bad_request(request, exception)
        # When saving a session fails, Django replaces the database's error with an UpdateError.
        cause = (isinstance(exception, UpdateError) and exception.__context__) or exception
        # The site's caches and drafts are on the disk, too.
        if isinstance(cause, DatabaseError | InterfaceError) or outage_of(cause):
            return error_answers.database_failed(request, cause)
        return error_answers.error_with_reference(request, exception)
