import logging
from datetime import timedelta

from django.contrib.auth import authenticate, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from webui.forms import SignIn
from webui.http import known_devices, unsent_forms
from webui.http.requests import Request, asks_and_acts, leave_for, safe_next
from webui.http.roles import open_to, open_to_strangers
from webui.models import Role, User
from webui.signin import devices, throttle
from webui.signin.session import note_failure, retry_after, too_many_tries, welcome_in

log = logging.getLogger("ferry.signin")
BUSY = timedelta(seconds=5)


@sensitive_post_parameters("password")
@asks_and_acts
@open_to_strangers
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


@require_POST
@open_to(Role.GUEST)
def signout(request: Request) -> HttpResponse:
    log.info("signed out name=%r address=%s", request.user.username, request.META["REMOTE_ADDR"])
    devices.sign_out(request.user.devices.filter(session_key=request.session.session_key))
    logout(request)
    return leave_for(request, "signin")
