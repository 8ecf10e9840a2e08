"""Ask for the password again before actions that open Ferry to others, or change it for all.

An unlocked browser or a stolen session should not be enough to let people or programs in for good.
The form isn't lost: it waits in the page, encrypted, and continues once the password is entered. If
htmx sent the form, the browser sends it again as a page.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from webui import encryption
from webui.forms import CurrentPassword
from webui.http.requests import Request
from webui.http.roles import Params, SiteView
from webui.signin.session import check_own_password, is_fresh, note_password

FIELD = "sealed_form"
# The URL and name of the page of a form, to which people return if they don't continue.
Home = dict[str, Any]


def require_password(
    page: str, section: str, is_needed: Callable[[Request], bool] = lambda _request: True
) -> Callable[[SiteView[Params]], SiteView[Params]]:
    """Let a POST through for ten minutes after the password was entered; ask for it otherwise."""
    label = _("Account") if page == "account" else _("Server")
    home = {"url": reverse_lazy(page, fragment=section), "label": label}

    def decorate(view: SiteView[Params]) -> SiteView[Params]:
        @wraps(view)
        def wrapper(
            request: Request, *args: Params.args, **kwargs: Params.kwargs
        ) -> HttpResponseBase:
            refusal = None
            if FIELD in request.POST:
                refusal = resume(request, home)
            elif request.method == "POST" and is_needed(request) and not is_fresh(request):
                form = CurrentPassword(request.user)
                refusal = ask(request, encrypt_form(request), form, home)
            return refusal or view(request, *args, **kwargs)

        return cast("SiteView[Params]", wrapper)

    return decorate


def ask(
    request: Request, encrypted: str, form: CurrentPassword, home: Home, status: int = 200
) -> HttpResponse:
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Trigger": "ferry:send-as-page"})
    context = {"form": form, "encrypted": encrypted, "name": request.user.username, "home": home}
    return render(request, "signin/confirm.html", context, status=status)


def resume(request: Request, home: Home) -> HttpResponse | None:
    """Restore the form that waited, or return a response if the password isn't right."""
    encrypted = request.POST[FIELD]
    form = CurrentPassword(request.user, request.POST)
    refusal = check_own_password(request, form, "current_password")
    if refusal:
        return refusal
    if not form.is_valid():
        return ask(request, encrypted, form, home, status=422)
    note_password(request)
    try:
        waiting = decrypt_form(request, encrypted)
    except encryption.CannotDecrypt:
        return redirect(home["url"])
    request.POST = cast("Any", waiting)
    return None


def encrypt_form(request: Request) -> str:
    """Encrypt the form, which may contain another service's password. Only this person can use it,
    and only at this URL."""
    return encryption.encrypt(json.dumps([request.user.pk, request.path, request.POST.urlencode()]))


def decrypt_form(request: Request, encrypted: str) -> QueryDict:
    person, path, body = json.loads(encryption.decrypt(encrypted))
    if [person, path] != [request.user.pk, request.path]:
        raise encryption.CannotDecrypt
    return QueryDict(body)
