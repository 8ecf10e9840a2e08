"""The pages of the site for visitors, limited to what their link shows.

Each link is a small site at its own address. Its URLs are a few of the site's, below `/s/<token>/`,
so that all links on its pages stay there.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from django import urls
from django.contrib.auth.hashers import check_password
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import ResolverMatch, get_script_prefix, resolve, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from webui.errors import answers as error_answers
from webui.errors.page import Action, error_page
from webui.files import screen as files_screen
from webui.forms import LONGEST_PASSWORD
from webui.http.requests import Request, leave_for, service_of
from webui.http.roles import open_to, open_to_strangers
from webui.http.url_converters import Id
from webui.library.addresses import Addresses, parse_view_options
from webui.library.bounds import bounds_of
from webui.library.entries import FILE, Entry
from webui.models import Role, Share, User
from webui.player import subtitles
from webui.shares import links, screen, visits
from webui.shares.page import uses_left_words
from webui.signin import throttle
from webui.signin.session import retry_after, too_many_tries
from webui.v1.errors import Failure, NotFound

log = logging.getLogger("ferry.sharing")

URLS = "webui.visitor_urls"
# Their URLs name no folder: the front, archives that a visitor has packed, and sealed addresses.
WITHOUT_FOLDER = {"files", "files-archive", "files-archive-download", "stream-part"}
FOLDER_ID = re.compile(Id.regex)


@open_to_strangers()
@screen.hide_from_search
def show(request: Request, token: str, path: str = "") -> HttpResponseBase:
    """Show a page of the link, or the form that opens it."""
    share = screen.find_page(request, token)
    if share is None:
        return refuse_link(request)
    is_opening = request.method == "POST" and not path
    if not visits.is_inside(request, share):
        answer = open_link if is_opening else ask
        return answer(request, share, token)
    if share.takes_files:
        return redirect("share-receive", token)
    if is_opening:
        return redirect("share-page", token)
    links.note_use(share, timezone.now())
    with visiting(request, share, token):
        return show_within_bounds(request, path)


def show_within_bounds(request: Request, path: str) -> HttpResponseBase:
    """Show a page within bounds. Strangers learn nothing about what is beyond them."""
    try:
        with suppress(Http404, NotFound):
            match = resolve(f"/{path}", URLS)
            if is_within(request, match):
                response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
                return response
    except Failure as failure:
        log.warning("link failed kind=%s reason=%s", type(failure).__name__, failure)
        return unavailable(request)
    return not_here(request)


def is_within(request: Request, match: ResolverMatch) -> bool:
    if match.url_name in WITHOUT_FOLDER:
        return True
    bounds, service, now = bounds_of(request), service_of(request), timezone.now()
    folder = match.kwargs.get("folder") or request.GET.get("in", "")
    if bounds is None or not FOLDER_ID.fullmatch(folder):
        return False
    keys = [f"{FILE}-{match.kwargs['file']}"] if "file" in match.kwargs else []
    if not bounds.include(service, folder, now, keys):
        return False
    return "sub" not in match.kwargs or has_subtitles(request, **match.kwargs)


def has_subtitles(request: Request, folder: str, *, file: str, sub: str, **_others: str) -> bool:
    """Return whether these are a film's subtitles, which may be in a folder beside it."""
    snapshot = files_screen.read(request, folder).snapshot
    film = snapshot.contents.find(f"{FILE}-{file}")
    beside = subtitles.of(service_of(request), snapshot, film, timezone.now()) if film else []
    return any(each.id == sub for each in beside)


@contextmanager
def visiting(request: Request, share: Share, token: str) -> Iterator[None]:
    """Act for a visitor, at the URLs of the link. A visitor is no person of the database."""
    person, conf, prefix = request.user, urls.get_urlconf(), get_script_prefix()
    here = reverse("share-page", args=[token])
    request.user = User(pk=-share.pk, role=Role.GUEST)
    vars(request).update(bounds=links.bounds_of(share), maker=share.user)
    urls.set_urlconf(URLS)
    urls.set_script_prefix(here)
    try:
        yield
    finally:
        urls.set_script_prefix(prefix)
        urls.set_urlconf(conf)
        request.user = person
        for name in ("bounds", "maker"):
            del vars(request)[name]


@open_to(Role.GUEST, "GET")
def front(request: Request) -> HttpResponse:
    """Show what the link leads to. A single file, such as a film with its subtitles, opens."""
    bounds = bounds_of(request)
    if bounds is None:
        raise Http404
    if bounds.only is not None:
        entries = files_screen.read(request, bounds.top).snapshot.contents.entries
        # The way back from one of several files would otherwise lead to it.
        may_open = len(entries) == 1 or not is_on_the_way_back(request)
        if may_open and (key := only_file(entries)):
            return redirect(Addresses(bounds.top, parse_view_options(request.GET)).preview(key))
    return files_screen.render_page(request, files_screen.page_of(request, bounds.top))


def is_on_the_way_back(request: HttpRequest) -> bool:
    """Return whether a page of the link led here, other than the form that opens it."""
    front, came_from = get_script_prefix(), urlsplit(request.headers.get("Referer", "")).path
    return bool(request.GET) or (came_from.startswith(front) and came_from != front)


def only_file(entries: Sequence[Entry]) -> str:
    """Return the key of the only entry besides subtitles, or of the only entry, if it is a file."""
    others = [each for each in entries if each.look != "captions"] or entries
    return others[0].key if len(others) == 1 and not others[0].is_folder else ""


# Links that ask first


def ask(request: Request, share: Share, token: str, error: str = "") -> HttpResponse:
    """Ask for the password, or whether to use the link. Only a form that is sent counts as a use:
    scanners and previews open every link that they see."""
    if share.most_uses is not None and share.uses >= share.most_uses:
        return refuse_link(request, used_up())
    action = reverse("share-page", args=[token])
    if request.htmx:
        return leave_for(request, action)
    page = {
        "action": action,
        "asks_password": bool(share.password),
        "uses_text": uses_left_words(share),
        "error": error,
    }
    return render(request, "shares/open.html", {"page": page}, status=422 if error else 200)


@sensitive_post_parameters()
def open_link(request: Request, share: Share, token: str) -> HttpResponse:
    if share.password and (refusal := refuse_password(request, share, token)):
        return refusal
    if not links.use(share):
        return refuse_link(request, used_up())
    response = redirect("share-page", token)
    visits.begin(response, share, token)
    return response


def refuse_password(request: Request, share: Share, token: str) -> HttpResponse | None:
    password = request.POST.get("password", "")[:LONGEST_PASSWORD]
    guess = throttle.guess_at_share(share.pk, request.META["REMOTE_ADDR"])
    try:
        wait, is_right = throttle.try_password(
            guess, password, lambda: check_password(password, share.password)
        )
    except TimeoutError:
        return unavailable(request)
    if wait:
        response = ask(request, share, token, too_many_tries(wait))
        response.status_code = 429
        return retry_after(response, wait)
    if is_right:
        return None
    return ask(request, share, token, _("That's not the password of this link."))


# Instead of pages


def used_up() -> str:
    return _("This link has reached its limit and can't be opened again.")


def refuse_link(request: Request, text: str = "") -> HttpResponse:
    words = text or screen.ended_words()
    page = error_page(404, [], title=_("This link doesn't work"), text=words)
    return error_answers.answer(request, page, 404)


def not_here(request: HttpRequest) -> HttpResponse:
    """Answer with plain text if the request isn't for a page: pictures, films, and subtitles."""
    if "text/html" in request.headers.get("Accept", "text/html"):
        page = error_page(404, [back()], text=_("The link doesn't include this."))
        return error_answers.answer(request, page, 404)
    return HttpResponse(status=404)


def unavailable(request: HttpRequest) -> HttpResponse:
    text = _("Ferry can't show this right now. Try again in a minute.")
    actions = [back()] if bounds_of(request) else []
    response = error_answers.answer(request, error_page(503, actions, text=text), 503)
    response["Retry-After"] = "30"
    return response


def back() -> Action:
    return Action(reverse("files"), _("Open what was shared"), is_primary=True)
