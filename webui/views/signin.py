import logging
import math
from datetime import timedelta
from typing import cast

from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from webui import activity, attempts, devices
from webui.activity import Kind
from webui.confirmation import note_password
from webui.forms import SignIn
from webui.http import Request, asks_and_acts, leave_for, safe_next
from webui.models import Role, User
from webui.roles import open_to, open_to_strangers
from webui.views import errors

log = logging.getLogger("ferry.signin")
DEVICE_COOKIE = f"ferry_device_{settings.PORT}"


@sensitive_post_parameters("password")
@asks_and_acts
@open_to_strangers
def signin(request: HttpRequest) -> HttpResponse:
    wanted = request.POST.get("next") or request.GET.get("next", "")
    form = SignIn(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        if request.user.is_authenticated and "switch" not in request.GET:
            return redirect(safe_next(request, wanted))
        return show(request, form, wanted)
    if not form.is_valid():
        return show(request, form, wanted, status=422)
    return _try(request, form, wanted)


def _try(request: HttpRequest, form: SignIn, wanted: str) -> HttpResponse:
    name, address = form.cleaned_data["username"], request.META["REMOTE_ADDR"]
    device = request.COOKIES.get(DEVICE_COOKIE)
    limits = attempts.limits_for(name, address, device)
    wait = attempts.take(limits)
    if wait:
        log.warning("limited name=%r address=%s", known(name), address)
        activity.record_failure(name, address)
        response = show(request, form, wanted, refusal=too_many_tries(wait), status=429)
        response["Retry-After"] = str(math.ceil(wait.total_seconds()))
        return response
    user = authenticate(request, username=name, password=form.cleaned_data["password"])
    if not isinstance(user, User):
        log.warning("wrong name=%r address=%s", known(name), address)
        activity.record_failure(name, address)
        refusal = _("That name and password don't match. Check both and try again.")
        return show(request, form, wanted, refusal=refusal, status=422)
    attempts.give_back(limits)
    return welcome_in(request, user, safe_next(request, wanted), by_password=True)


def known(name: str) -> str:
    """For the log: some type their password where the name belongs."""
    return name if User.objects.filter(username__iexact=name).exists() else "unknown"


def too_many_tries(wait: timedelta) -> str:
    minutes = math.ceil(wait.total_seconds() / 60)
    return ngettext(
        "Too many tries. Wait %(minutes)s minute, then try again.",
        "Too many tries. Wait %(minutes)s minutes, then try again.",
        minutes,
    ) % {"minutes": minutes}


def limited(request: HttpRequest, wait: timedelta) -> HttpResponse:
    response = errors.plain(request, 429, text=too_many_tries(wait))
    response["Retry-After"] = str(math.ceil(wait.total_seconds()))
    return response


def welcome_in(
    request: HttpRequest, user: User, page: str, *, by_password: bool = False
) -> HttpResponse:
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    if by_password:
        note_password(request)
    request.session.save()
    devices.note(cast("Request", request), timezone.now())
    log.info("signed in name=%r address=%s", user.username, request.META["REMOTE_ADDR"])
    activity.record(request, Kind.SIGNED_IN if by_password else Kind.PAIRED)
    response = redirect(page)
    response.set_cookie(
        DEVICE_COOKIE,
        attempts.device_cookie(user),
        max_age=attempts.DEVICE_COOKIE_AGE,
        path=settings.SESSION_COOKIE_PATH,
        httponly=True,
        samesite="Lax",
    )
    return response


def show(
    request: HttpRequest, form: SignIn, wanted: str, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    has_owner = User.objects.has_owner()
    context = {"form": form, "next": wanted, "refusal": refusal, "has_owner": has_owner}
    return render(request, "signin/show.html", context, status=status)


@require_POST
@open_to(Role.GUEST)
def signout(request: Request) -> HttpResponse:
    log.info("signed out name=%r address=%s", request.user.username, request.META["REMOTE_ADDR"])
    devices.sign_out(request.user.devices.filter(session_key=request.session.session_key))
    logout(request)
    return leave_for(request, "signin")
