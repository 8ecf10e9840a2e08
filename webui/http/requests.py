"""What every view knows of HTTP and htmx, so that none spells a header."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from webui.connection import Service
from webui.models import User
from webui.v1.client import Client

# What a middleware asks for its answer.
Answer = Callable[[HttpRequest], HttpResponseBase]
# A form on a page of its own: GET shows it, POST acts.
asks_and_acts = require_http_methods(["GET", "HEAD", "POST"])


class Request(HttpRequest):
    """A request of somebody who is signed in."""

    user: User
    htmx: HtmxDetails
    service: Service
    v1: Client


def is_script(request: HttpRequest) -> bool:
    return request.headers.get("X-Requested-With") == "ferry"


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """Leads to the sign-in page as a whole page, also from a fragment of a page left open."""
    htmx = getattr(request, "htmx", None)
    if not htmx:
        return redirect_to_login(request.get_full_path())
    page = urlsplit(htmx.current_url or "")
    wanted = page.path + (f"?{page.query}" if page.query else "") or resolve_url("files")
    return HttpResponseClientRedirect(redirect_to_login(wanted).url)


def safe_next(request: HttpRequest, wanted: str) -> str:
    """The page that somebody wanted before signing in, if it is one of ours; else the first."""
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours and wanted.startswith("/") else resolve_url("files")


def leave_for(request: HttpRequest, page: str) -> HttpResponse:
    """After an act: a redirect, which htmx follows as a whole page."""
    if getattr(request, "htmx", None):
        return HttpResponseClientRedirect(resolve_url(page))
    return redirect(page)


def unchanged() -> HttpResponse:
    """What pages that are left open get most of the time; no cache on the way answers for us."""
    response = HttpResponse(status=204, headers={"Cache-Control": "no-store"})
    del response["Content-Type"]
    return response


def respond(  # noqa: PLR0913  What both kinds of readers need.
    request: Request,
    template: str,
    context: dict[str, object],
    *,
    page: str,
    said: str,
    retarget: str = "",
) -> HttpResponse:
    """After an act: the fresh partial for htmx, else a redirect to a page that says it."""
    if not request.htmx:
        messages.success(request, said)
        return redirect(page)
    response = render(request, template, context)
    if retarget:
        response["HX-Retarget"] = retarget
        response["HX-Reswap"] = "outerHTML"
    return response
