"""Begin a session, check a person's own password within it, and remember when they entered it."""

import logging
import math
from datetime import timedelta
from typing import cast

from django.contrib.auth import login
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.activity import events
from webui.errors import answers as error_answers
from webui.http import known_devices
from webui.http.requests import Request, keep_cookie, leave_for
from webui.models import User
from webui.signin import devices, throttle

log = logging.getLogger("ferry.signin")

FRESH = timedelta(minutes=10)
ENTERED_AT = "password_entered_at"


def too_many_tries(wait: timedelta) -> str:
    seconds = math.ceil(wait.total_seconds())
    if seconds < 60:
        return ngettext(
            "Too many attempts. Wait %(seconds)s second, then try again.",
            "Too many attempts. Wait %(seconds)s seconds, then try again.",
            seconds,
        ) % {"seconds": seconds}
    minutes = math.ceil(seconds / 60)
    return ngettext(
        "Too many attempts. Wait %(minutes)s minute, then try again.",
        "Too many attempts. Wait %(minutes)s minutes, then try again.",
        minutes,
    ) % {"minutes": minutes}


def retry_after(response: HttpResponse, wait: timedelta) -> HttpResponse:
    response["Retry-After"] = str(math.ceil(wait.total_seconds()))
    return response


def ask_to_wait(request: HttpRequest, wait: timedelta) -> HttpResponse:
    return retry_after(error_answers.plain(request, 429, text=too_many_tries(wait)), wait)


def check_own_password(request: Request, form: Form, field: str) -> HttpResponse | None:
    """Validate a form with the signed-in person's password. Return a response if too many were
    wrong, since a stranger may be guessing on an unlocked device."""
    name, address = request.user.username, request.META["REMOTE_ADDR"]
    key = throttle.key_for_session("password", request.session.session_key or "")
    if wait := throttle.take(key):
        note_failure("limited", name, address)
        return ask_to_wait(request, wait)
    if form.has_error(field, "wrong"):
        throttle.count([throttle.key_for_name(name)])
        note_failure("failed", name, address)
    else:
        throttle.give_back(key)
    return None


def note_failure(what: str, name: str, address: str) -> None:
    """Record and log a wrong or refused password, in the line that fail2ban reads."""
    username = events.record_failure(name, address) or "unknown"
    log.warning("%s name=%r address=%s", what, username, address)


def note_password(request: HttpRequest) -> None:
    """Record that the right password was just entered in this session."""
    request.session[ENTERED_AT] = timezone.now().timestamp()


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the password was entered recently. After the clock was set back, an entry in
    the future doesn't count."""
    entered_at: float = request.session.get(ENTERED_AT, 0)
    return 0 <= timezone.now().timestamp() - entered_at < FRESH.total_seconds()


def welcome_in(
    request: HttpRequest, user: User, page: str = "files", *, by_password: bool = False
) -> HttpResponse:
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    if by_password:
        note_password(request)
    request.session.save()
    devices.note(cast("Request", request), timezone.now())
    events.record(request, events.Kind.SIGNED_IN if by_password else events.Kind.PAIRED)
    response = leave_for(request, page)
    remember_device(response, user)
    return response


def remember_device(response: HttpResponse, user: User) -> None:
    """Set a cookie that exempts this device from waits caused by strangers' password guesses."""
    value = known_devices.cookie_of(user)
    keep_cookie(response, known_devices.COOKIE, value, known_devices.COOKIE_AGE)


def count_guess(request: HttpRequest) -> HttpResponse:
    """Count an invalid link as a guess, and slow guesses down. A valid link never waits."""
    if wait := throttle.take(throttle.key_for_network("links", request.META["REMOTE_ADDR"])):
        return ask_to_wait(request, wait)
    return error_answers.plain(request, 404, text=_("This link has expired or was already used."))
