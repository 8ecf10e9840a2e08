"""Error responses: one layout for all of them, and a toast for htmx."""

import logging
import math
import secrets
import sys
from dataclasses import replace
from typing import cast

from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from common.storage.outages import outage_of
from webui.errors.page import Action, ErrorPage, database_page, error_page, unwritable_page
from webui.http.requests import form_page_url
from webui.library.addresses import folder_url
from webui.library.folders import FolderGone
from webui.models import Role
from webui.v1.errors import Failure, TooMany, Unauthorized, Unavailable
from webui.words.failures import message_of

log = logging.getLogger("ferry.errors")
# Without letters and digits that look alike, since people read references out over the phone.
REFERENCE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"


def answer(request: HttpRequest, page: ErrorPage, status: int) -> HttpResponse:
    if getattr(request, "htmx", None):
        response = render(request, "errors/_toast.html", {"page": page}, status=status)
        response["HX-Retarget"] = "#toasts"
        response["HX-Reswap"] = "beforeend"
        response["HX-Push-Url"] = response["HX-Replace-Url"] = "false"
        return response
    return render(request, "errors/show.html", {"page": page}, status=status)


def plain(request: HttpRequest, status: int, *, title: str = "", text: str = "") -> HttpResponse:
    return answer(request, error_page(status, [home()], title=title, text=text), status)


def home() -> Action:
    return Action(url=reverse("files"), label=_("Go to your files"), is_primary=True)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer bad requests. Django also reports a session that it can't save as interrupted."""
    unwritten = exception.__context__ and exception.__context__.__context__
    # Django raises a bare DatabaseError if the row is gone: the person has just signed out.
    has_failed = isinstance(unwritten, DatabaseError) and type(unwritten) is not DatabaseError
    if isinstance(exception, SessionInterrupted) and has_failed:
        return database_failed(request, cast("DatabaseError", unwritten))
    log.warning("refused %s: %s", request.path, type(exception).__name__)
    is_too_large = isinstance(exception, RequestDataTooBig | TooManyFilesSent)
    return plain(request, 413 if is_too_large else 400)


def foreign_host(request: HttpRequest) -> HttpResponse:
    """Refuse an unknown host name. The page has no links, since they would contain that name."""
    title = _("Ferry doesn't recognize this host name")
    text = _(
        "The host name in the address bar isn't one of Ferry's. To use it, an owner opens Ferry "
        "at another address, and adds it under Server, “Name and addresses”."
    )
    return answer(request, error_page(400, [], title=title, text=text), 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    other = Action(f"{reverse('signin')}?switch", _("Sign in as someone else"), is_primary=False)
    return answer(request, error_page(403, [home(), other]), 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Refuse a form that failed Django's CSRF check: from another site, or open for too long."""
    log.warning("refused form path=%s reason=%r", request.path, reason)
    text = _("This page was open for too long, or another site sent the form. Open the page again.")
    return plain(request, 403, title=_("This page is out of date"), text=text)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer with plain text unless the browser asked for a page. Browsers request icons beside the
    very first page: an error page with a form would set another CSRF cookie, and the form of that
    first page would then be refused."""
    is_of_a_page = getattr(request, "htmx", None)
    if is_of_a_page or "text/html" in request.headers.get("Accept", "text/html"):
        return plain(request, 404)
    title = error_page(404, []).title
    return HttpResponse(title, status=404, content_type="text/plain; charset=utf-8")


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer without looking up the reader, as pages do, since that may be what broke."""
    error = sys.exc_info()[1]
    if isinstance(error, DatabaseError | InterfaceError):
        return database_failed(request, error)
    return bare_answer(request, error_page(500, [home()]))


def bare_answer(request: HttpRequest, page: ErrorPage, status: int = 500) -> HttpResponse:
    if getattr(request, "htmx", None):
        return answer(request, page, status)
    return HttpResponse(render_to_string("errors/show.html", {"page": page}), status=status)


def error_with_reference(request: HttpRequest, error: BaseException) -> HttpResponse:
    reference = "".join(secrets.choice(REFERENCE_LETTERS) for _place in range(4))
    log.error("broken reference=%s path=%s", reference, request.path, exc_info=error)
    return bare_answer(request, error_page(500, [home()], reference=reference))


def database_failed(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer when Ferry's own database, with people, sessions, and sent transfers, fails."""
    match outage_of(error):
        case "database_busy" | "database_crowded":
            page = error_page(503, [home()])
        case "disk_full" | "disk_read_only" | "disk_error":
            page = unwritable_page([home()])
        case "database_away" | "database_damaged":
            page = database_page([home()])
        case _:
            return error_with_reference(request, error)
    log.error("database trouble path=%s: %s", request.path, error, extra={"trouble": error})
    response = bare_answer(request, page, 503)
    response["Retry-After"] = "30"
    return response


def service_failed(request: HttpRequest, failure: Failure) -> HttpResponse:
    """Explain a failure of the service in plain words, and offer what to do next."""
    log.warning(
        "service failed path=%s kind=%s reason=%s", request.path, type(failure).__name__, failure
    )
    message = message_of(failure)
    actions = next_actions(request, failure)
    page = error_page(message.status, actions, title=message.title, text=message.text)
    response = answer(request, page, message.status)
    if message.status == 503:
        response["Retry-After"] = str(math.ceil(failure.retry_after_seconds or 30))
    return response


def next_actions(request: HttpRequest, failure: Failure) -> list[Action]:
    if isinstance(failure, FolderGone) and failure.parent:
        above = Action(folder_url(failure.parent), _("Open the parent folder"), is_primary=True)
        return [above, replace(home(), is_primary=False)]
    if failure.outcome == "unknown":
        return [place_to_check(request)]
    is_passing = isinstance(failure, Unavailable | TooMany) and request.method in ("GET", "HEAD")
    is_signed_out = isinstance(failure, Unauthorized)
    if not (is_passing or is_signed_out or failure.outcome == "unseen"):
        return [home()]
    again = Action(form_page_url(request), _("Try again"), is_primary=True)
    if is_signed_out and getattr(request.user, "role", "") == Role.OWNER:
        url = reverse("account-server", fragment="connection")
        return [again, Action(url, _("Enter the password again"), is_primary=False)]
    return [again, replace(home(), is_primary=False)]


def place_to_check(request: HttpRequest) -> Action:
    """Link to where a change shows if it was made: its folder, or the page with its button."""
    match = request.resolver_match
    folder = match.kwargs.get("folder") if match else None
    url = folder_url(folder) if folder else form_page_url(request)
    return Action(url, _("Check now"), is_primary=True)
