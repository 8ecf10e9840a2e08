"""Read and write HTTP and htmx headers, so that no view spells them out."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import split_domain_port
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from common.host import host
from webui.connection import connection
from webui.connection.connection import Service
from webui.http import unsent_forms
from webui.models import User

# What a middleware calls for the response.
Answer = Callable[[HttpRequest], HttpResponseBase]


def middleware(
    act: Callable[[Answer, HttpRequest], HttpResponseBase],
) -> Callable[[Answer], Answer]:
    """Make a middleware of a function, which also gets what answers the request next."""
    return lambda get_response: partial(act, get_response)


class Request(HttpRequest):
    """A request from a person who is signed in."""

    user: User
    htmx: HtmxDetails


def service_of(request: HttpRequest) -> Service:
    """Return the service that the site shows, looked up once for each request."""
    attributes = vars(request)
    if "service" not in attributes:
        attributes["service"] = connection.service()
    service: Service = attributes["service"]
    return service


def person_behind(request: Request) -> User:
    """Return the person responsible for the request; for a visitor, the maker of the link."""
    person: User = vars(request).get("maker") or request.user
    return person


def is_reload(request: HttpRequest) -> bool:
    """Return whether the reader pressed Reload, so that no cached facts will do."""
    return request.headers.get("Cache-Control") in ("max-age=0", "no-cache")


def is_script(request: HttpRequest) -> bool:
    return request.headers.get("X-Requested-With") == "ferry"


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """Redirect the whole page to sign-in, even if a page left open requested only a fragment."""
    htmx = getattr(request, "htmx", None)
    if not htmx:
        page_url = form_page_url(request)
        is_form = request.method == "POST" and not is_script(request)
        waiting = is_form and unsent_forms.sign_in_first(request, page_url)
        return waiting or redirect_to_login(page_url)
    target = path_and_query(htmx.current_url or "") or resolve_url("files")
    return HttpResponseClientRedirect(redirect_to_login(target).url)


def form_page_url(request: HttpRequest) -> str:
    """Return the URL of the page with the submitted form, whose target may not allow GET."""
    page_url = request.headers.get("Referer", "")
    if request.method != "POST" or urlsplit(page_url).netloc != request.get_host():
        return request.get_full_path()
    return path_and_query(page_url)


def path_and_query(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def safe_next(request: HttpRequest, page: str) -> str:
    """Return the page requested before sign-in, if it's on this site; else the Files screen."""
    is_ours = url_has_allowed_host_and_scheme(
        page, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return page if is_ours and page.startswith("/") else resolve_url("files")


def leave_for(request: HttpRequest, page: str) -> HttpResponse:
    """Redirect after an action. htmx loads the target as a whole page."""
    htmx = getattr(request, "htmx", None)
    if not htmx:
        return redirect(page)
    url = resolve_url(page)
    response = HttpResponseClientRedirect(url)
    path, _hash, fragment = url.partition("#")
    if fragment and urlsplit(htmx.current_url or "").path == path:
        # Browsers would only scroll to a section of the current page.
        response["HX-Refresh"] = "true"
    return response


def plain_text(words: str, status: int) -> HttpResponse:
    """Answer a program, or a request that isn't for a page."""
    return HttpResponse(f"{words}\n", status=status, content_type="text/plain; charset=utf-8")


def no_content() -> HttpResponse:
    """Answer 204, as most polls of open pages get, and let no cache answer for us."""
    response = HttpResponse(status=204, headers={"Cache-Control": "no-store"})
    del response["Content-Type"]
    return response


def keep_cookie(
    response: HttpResponse, name: str, value: str, age: timedelta, path: str = ""
) -> None:
    """Keep a value that only Ferry reads in this browser, for the whole site or a part of it."""
    path = path or settings.SESSION_COOKIE_PATH
    response.set_cookie(name, value, max_age=age, path=path, httponly=True, samesite="Lax")


def respond(  # noqa: PLR0913  With and without htmx, each needs some.
    request: Request,
    template: str,
    context: dict[str, object],
    *,
    page: str,
    message: str,
    retarget: str = "",
) -> HttpResponse:
    """Answer an action: a fresh partial for htmx, else a redirect to a page with the message."""
    if not request.htmx:
        messages.success(request, message)
        return redirect(page)
    response = render(request, template, context)
    if retarget:
        response["HX-Retarget"] = retarget
        response["HX-Reswap"] = "outerHTML"
    return response


def is_secure_context(request: HttpRequest) -> bool:
    """Return whether browsers see a secure context: https, or this machine itself."""
    own = ("localhost", "127.0.0.1", "[::1]")
    return request.is_secure() or split_domain_port(request.get_host())[0] in own


def can_be_secured(request: HttpRequest) -> bool:
    """Return whether this browser would gain from Ferry's own https."""
    return host().https.port() is not None and not is_secure_context(request)


def own_https_origin(request: HttpRequest) -> str | None:
    """Return where Ferry itself serves https; None if it doesn't, or if a proxy serves https."""
    port = host().https.port()
    if port is None or (request.is_secure() and not is_own_https(request)):
        return None
    return f"https://{host().https.best_host(split_domain_port(request.get_host())[0])}:{port}"


def is_own_https(request: HttpRequest) -> bool:
    """Return whether Ferry itself decrypts this connection, rather than a proxy."""
    is_there = request.META.get("SERVER_PORT") == str(settings.HTTPS_PORT)
    return is_there and request.is_secure()
