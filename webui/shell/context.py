"""The frame around every page: navigation and appearance."""

import re
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db.utils import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.functional import SimpleLazyObject
from django.utils.translation import get_language, get_language_bidi

from common.host import host
from webui import owner_settings
from webui.health.page import finding_words
from webui.http.requests import can_be_secured, keep_cookie, service_of
from webui.library import folders
from webui.library.bounds import bounds_of
from webui.models import Role
from webui.storage_meter import Gauge, gauge_of
from webui.transfers import poll
from webui.v1.errors import Failure

THEMES = ("system", "light", "dark")
THEME_COOKIE = f"ferry_theme_{settings.PORT}"
TELEVISION_COOKIE = f"ferry_television_{settings.PORT}"
LOOK_AGE = timedelta(days=365)
# The words by which browsers of televisions and of boxes beside them say what they are.
TELEVISIONS = re.compile(
    r"SMART-?TV|Web0S|AppleTV|BRAVIA|HbbTV|NetCast|VIDAA|\bAFT[A-Z]|\b(?:Google |Android )?TV\b",
    re.IGNORECASE,
)
LONGEST_AGENT = 300
TROUBLES = (Failure, sqlite3.Error, DatabaseError)


@dataclass(frozen=True)
class Shell:
    language: str
    direction: str
    theme_choice: str
    role: str = ""  # empty for strangers
    screen: str = ""
    running: int = 0
    gauge: Gauge | None = None
    warning: str = ""
    person: str = ""
    server_name: str = ""
    is_https: bool = False
    is_television: bool = False
    can_be_secured: bool = False
    is_visit: bool = False  # by a link, whose page has nothing of the site around it

    @property
    def theme(self) -> str:
        """Return the theme that the page sets, or an empty string to follow the system."""
        return "" if self.theme_choice == "system" else self.theme_choice


def context(request: HttpRequest) -> dict[str, object]:
    """Give templates the frame. Fragments have none, so nothing is looked up for them."""
    return {"shell": SimpleLazyObject(partial(shell_of, request))}


def shell_of(request: HttpRequest) -> Shell:
    shell = Shell(
        language=get_language() or settings.LANGUAGE_CODE,
        direction="rtl" if get_language_bidi() else "ltr",
        theme_choice=theme_of(request),
        server_name=server_name(),
        person=drafts_key(request),
        is_https=request.is_secure(),
        is_television=is_television(request),
        can_be_secured=can_be_secured(request),
    )
    if bounds_of(request):
        return replace(shell, is_visit=True, server_name="")
    return replace(
        shell,
        role=role_of(request) or "",
        screen=screen_of(request),
        running=running_for(request),
        gauge=gauge_for(request),
        warning=warning_for(request),
    )


def server_name() -> str:
    """Return the name that owners gave this server. Error pages must not fail over it."""
    try:
        return owner_settings.server_name()
    except DatabaseError:
        return owner_settings.DEFAULT_NAME


def warning_for(request: HttpRequest) -> str:
    """Return a warning for owners, except on the Health page, which says more."""
    if role_of(request) != Role.OWNER or request.path == reverse("account-health"):
        return ""
    with suppress(DatabaseError, OSError):
        finding = host().find_library_trouble()
        return finding_words(finding)[0] if finding else ""
    return ""


def drafts_key(request: HttpRequest) -> str:
    """Return a key that distinguishes the people of one browser, so that their drafts don't mix,
    and reveals nothing else."""
    if not role_of(request):
        return ""
    return salted_hmac("webui.drafts", str(request.user.pk)).hexdigest()[:16]


def running_for(request: HttpRequest) -> int:
    """Return the last known number of running transfers: no page asks the service just for it."""
    with suppress(*TROUBLES):
        return poll.running(service_of(request)) if role_of(request) else 0
    return 0


def gauge_for(request: HttpRequest) -> Gauge | None:
    """Return the meter from cached listings: no page asks the service just for it. A failure hides
    it, since error pages must not fail over it."""
    with suppress(*TROUBLES):
        if role_of(request):
            return gauge_of(*folders.store().space(service_of(request).key))
    return None


def role_of(request: HttpRequest) -> str | None:
    """Return None for strangers. Early error pages precede the lookup of the person."""
    role: str | None = getattr(getattr(request, "user", None), "role", None)
    return role


def screen_of(request: HttpRequest) -> str:
    """Return the screen of a page: `account-password` belongs to `account`."""
    match = request.resolver_match
    return (match.url_name or "").split("-")[0] if match else ""


def theme_of(request: HttpRequest) -> str:
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "system"


def keep_theme(response: HttpResponse, chosen: str) -> None:
    theme = chosen if chosen in THEMES else "system"
    keep_cookie(response, THEME_COOKIE, theme, LOOK_AGE)


def is_television(request: HttpRequest) -> bool:
    """Return whether people sit far away and have a remote: as they chose, or by the browser."""
    chosen = request.COOKIES.get(TELEVISION_COOKIE, "")
    agent = request.headers.get("User-Agent", "")[:LONGEST_AGENT]
    return chosen == "yes" if chosen else TELEVISIONS.search(agent) is not None


def keep_television(response: HttpResponse, chosen: str) -> None:
    keep_cookie(response, TELEVISION_COOKIE, "yes" if chosen == "yes" else "no", LOOK_AGE)
