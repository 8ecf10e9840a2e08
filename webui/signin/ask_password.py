"""Ask for the password again before what opens Ferry to others.

A browser that was left unlocked, or a stolen session, should not be enough to let people or
programs in for good. What was typed is not lost: it waits in the page, sealed, and is done as soon
as the password is there. A form that htmx sends is sent again as a page by the browser.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render

from webui import attempts, sealing
from webui.confirmation import is_fresh, note_password
from webui.forms import CurrentPassword
from webui.http import Request
from webui.views.signin import count_own_failure, limited_own

Params = ParamSpec("Params")
View = Callable[Concatenate[Request, Params], HttpResponseBase]

SEALED = "sealed_form"


def always(_request: Request) -> bool:
    return True


def confirmed(
    is_needed: Callable[[Request], bool] = always,
) -> Callable[[View[Params]], View[Params]]:
    """Let a POST through for ten minutes after the password was typed; else ask for it first."""

    def decorate(view: View[Params]) -> View[Params]:
        @wraps(view)
        def guarded(
            request: Request, *args: Params.args, **kwargs: Params.kwargs
        ) -> HttpResponseBase:
            if request.method != "POST":
                return view(request, *args, **kwargs)
            if SEALED in request.POST:
                refusal = resume(request)
                return refusal or view(request, *args, **kwargs)
            if is_fresh(request) or not is_needed(request):
                return view(request, *args, **kwargs)
            return ask(request, seal(request), CurrentPassword(request.user))

        return cast("View[Params]", guarded)

    return decorate


def ask(request: Request, sealed: str, form: CurrentPassword, status: int = 200) -> HttpResponse:
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Trigger": "ferry:send-as-page"})
    context = {"form": form, "sealed": sealed, "name": request.user.username}
    return render(request, "account/confirm.html", context, status=status)


def resume(request: Request) -> HttpResponse | None:
    """Put back the form that waited; return an answer instead where the password isn't right."""
    limits = attempts.limits_for_session(request.session.session_key or "")
    wait = attempts.take(limits)
    if wait:
        return limited_own(request, wait)
    sealed = request.POST[SEALED]
    form = CurrentPassword(request.user, request.POST)
    is_valid = form.is_valid()
    if form.has_error("current_password", "wrong"):
        count_own_failure(request)
    else:
        attempts.give_back(limits)
    if not is_valid:
        return ask(request, sealed, form, status=422)
    note_password(request)
    try:
        waiting = unseal(request, sealed)
    except sealing.Broken:
        return redirect("account")
    request.POST = cast("Any", waiting)
    return None


def seal(request: Request) -> str:
    """For this person and this address only: a password for another service may be in it."""
    return sealing.seal(json.dumps([request.user.pk, request.path, request.POST.urlencode()]))


def unseal(request: Request, sealed: str) -> QueryDict:
    person, path, body = json.loads(sealing.unseal(sealed))
    if [person, path] != [request.user.pk, request.path]:
        raise sealing.Broken
    return QueryDict(body)
