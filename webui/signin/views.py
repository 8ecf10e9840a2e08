"""Sign in and out, and welcome the first owner."""

import logging
from datetime import timedelta

from django.contrib.auth import authenticate, logout
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from webui.activity import events
from webui.errors import answers as error_answers
from webui.errors.page import Action, error_page
from webui.forms import Join, SignIn
from webui.http import known_devices, unsent_forms
from webui.http.requests import Request, leave_for, safe_next
from webui.http.roles import open_to, open_to_strangers
from webui.models import OneTimeLink, Role, User
from webui.signin import devices, one_time_links, throttle
from webui.signin.session import note_failure, retry_after, too_many_tries, welcome_in

log = logging.getLogger("ferry.signin")

BUSY = timedelta(seconds=5)


@sensitive_post_parameters("password")
@open_to_strangers("GET", "POST")
def signin(request: HttpRequest) -> HttpResponse:
    next_url = request.POST.get("next") or request.GET.get("next", "")
    form = SignIn(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        if request.user.is_authenticated and "switch" not in request.GET:
            return redirect(safe_next(request, next_url))
        return show(request, form, next_url)
    if not form.is_valid():
        return show(request, form, next_url, status=422)
    return _try(request, form, next_url)


def _try(request: HttpRequest, form: SignIn, next_url: str) -> HttpResponse:
    name, address = form.cleaned_data["username"], request.META["REMOTE_ADDR"]
    password = form.cleaned_data["password"]
    guess = throttle.guess_at(name, address, request.COOKIES.get(known_devices.COOKIE))
    try:
        wait, user = throttle.try_password(
            guess, password, lambda: authenticate(request, username=name, password=password)
        )
    except TimeoutError:
        refusal = _("Too many people are signing in right now. Try again in a few seconds.")
        return show(request, form, next_url, refusal=refusal, status=503, wait=BUSY)
    if wait:
        note_failure("limited", name, address)
        refusal = too_many_tries(wait)
        return show(request, form, next_url, refusal=refusal, status=429, wait=wait)
    if user is None:
        note_failure("failed", name, address)
        refusal = _("The name or password is wrong. Check both and try again.")
        return show(request, form, next_url, refusal=refusal, status=422)
    page = safe_next(request, next_url)
    response = welcome_in(request, user, page, by_password=True)
    waiting = unsent_forms.decrypt_form(request.POST.get(unsent_forms.FIELD, ""), user)
    if waiting is None:
        return response
    answer = render(request, "signin/unsent.html", {"unsent": waiting, "page_url": page})
    answer.cookies = response.cookies
    return answer


def show(  # noqa: PLR0913  The page's words, and the status and headers for programs.
    request: HttpRequest,
    form: SignIn,
    next_url: str,
    *,
    refusal: str = "",
    status: int = 200,
    wait: timedelta | None = None,
) -> HttpResponse:
    context = {
        "form": form,
        "next": next_url,
        "unsent": request.POST.get(unsent_forms.FIELD, ""),
        "refusal": refusal,
        "has_people": User.objects.exists(),
        "has_to_wait": status == 429,
    }
    response = render(request, "signin/show.html", context, status=status)
    return retry_after(response, wait) if wait else response


@open_to(Role.GUEST, "POST")
def signout(request: Request) -> HttpResponse:
    log.info("signed out name=%r address=%s", request.user.username, request.META["REMOTE_ADDR"])
    devices.sign_out(request.user.devices.filter(session_key=request.session.session_key))
    logout(request)
    return leave_for(request, "signin")


# The first owner


@sensitive_post_parameters()
@open_to_strangers("GET", "POST")
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Create the first owner. A GET, as scanners and previews send, doesn't use up the link."""
    if not one_time_links.find(OneTimeLink.WELCOME, token, timezone.now()):
        return unusable(request)
    form = Join(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        owner = make_owner(token, form)
        if owner is None:
            return unusable(request)
        response = welcome_in(request, owner, by_password=True)
        events.record(request, events.Kind.OWNER_MADE, owner.username)
        return response
    status = 422 if form.is_bound else 200
    return render(request, "signin/welcome.html", {"form": form}, status=status)


def unusable(request: HttpRequest) -> HttpResponse:
    """Say why the link doesn't work. The response is the same for used and guessed links."""
    if User.objects.has_owner():
        actions = [Action(reverse("signin"), _("Sign in"), is_primary=True)]
        title = _("Ferry already has an owner")
        text = _("A welcome link works once. Sign in, or ask the owner to invite you.")
    else:
        actions = []
        title = _("This link has expired")
        text = _("Restart Ferry. It prints a new link each time it starts, until it has an owner.")
    return error_answers.answer(request, error_page(404, actions, title=title, text=text), 404)


def make_owner(token: str, form: Join) -> User | None:
    """Create the first owner, or return None if someone else was first."""
    with transaction.atomic():
        is_first = one_time_links.consume(OneTimeLink.WELCOME, token, timezone.now())
        if not is_first or User.objects.has_owner():
            return None
        return User.objects.create_user(
            form.cleaned_data["username"], form.cleaned_data["password"], Role.OWNER
        )
