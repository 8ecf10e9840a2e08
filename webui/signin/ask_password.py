"""Ask for the password again before what opens Ferry to others.

A browser that was left unlocked, or a stolen session, should not be enough to let people or
programs in for good. What was typed is not lost: it waits in the page, sealed, and is done as soon
as the password is there. A form that htmx sends is sent again as a page by the browser.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, cast

from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from webui import encryption
from webui.forms import CurrentPassword
from webui.http.requests import Request
from webui.signin.confirmation import is_fresh, note_password
from webui.signin.session import check_own_password

Params = ParamSpec("Params")
View = Callable[Concatenate[Request, Params], HttpResponseBase]

SEALED = "sealed_form"


def always(_request: Request) -> bool:
    return True


class Home(NamedTuple):
    """Where a form stands, and where those go who don't continue."""

    page: str
    section: str

    @property
    def url(self) -> str:
        return reverse(self.page, fragment=self.section)


def confirmed(
    page: str, section: str, is_needed: Callable[[Request], bool] = always
) -> Callable[[View[Params]], View[Params]]:
    """Let a POST through for ten minutes after the password was typed; else ask for it first."""
    home = Home(page, section)

    def decorate(view: View[Params]) -> View[Params]:
        @wraps(view)
        def guarded(
            request: Request, *args: Params.args, **kwargs: Params.kwargs
        ) -> HttpResponseBase:
            if request.method != "POST":
                return view(request, *args, **kwargs)
            if SEALED in request.POST:
                refusal = resume(request, home)
                return refusal or view(request, *args, **kwargs)
            if is_fresh(request) or not is_needed(request):
                return view(request, *args, **kwargs)
            return ask(request, encrypt_form(request), CurrentPassword(request.user), home)

        return cast("View[Params]", guarded)

    return decorate


def ask(
    request: Request, sealed: str, form: CurrentPassword, home: Home, status: int = 200
) -> HttpResponse:
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Trigger": "ferry:send-as-page"})
    context = {"form": form, "sealed": sealed, "name": request.user.username, "home": home}
    return render(request, "signin/confirm.html", context, status=status)


def resume(request: Request, home: Home) -> HttpResponse | None:
    """Put back the form that waited; return an answer instead where the password isn't right."""
    sealed = request.POST[SEALED]
    form = CurrentPassword(request.user, request.POST)
    refusal = check_own_password(request, form, "current_password")
    if refusal:
        return refusal
    if not form.is_valid():
        return ask(request, sealed, form, home, status=422)
    note_password(request)
    try:
        waiting = unseal(request, sealed)
    except encryption.CannotDecrypt:
        return redirect(home.url)
    request.POST = cast("Any", waiting)
    return None


def encrypt_form(request: Request) -> str:
    """For this person and this address only: a password for another service may be in it."""
    return encryption.seal(json.dumps([request.user.pk, request.path, request.POST.urlencode()]))


def unseal(request: Request, sealed: str) -> QueryDict:
    person, path, body = json.loads(encryption.unseal(sealed))
    if [person, path] != [request.user.pk, request.path]:
        raise encryption.CannotDecrypt
    return QueryDict(body)
