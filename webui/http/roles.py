"""Which roles may open a view. Each view has one decorator that says so; a test checks them all."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from webui.http.requests import Request, sign_in_first
from webui.models import Role

Params = ParamSpec("Params")
SiteView = Callable[Concatenate[Request, Params], HttpResponseBase]
DjangoView = Callable[Concatenate[HttpRequest, Params], HttpResponseBase]


def open_to(role: Role) -> Callable[[SiteView[Params]], DjangoView[Params]]:
    """Open a view to people with this role or a higher one."""

    def decorate(view: SiteView[Params]) -> DjangoView[Params]:
        @wraps(view)
        def wrapper(
            request: HttpRequest, *args: Params.args, **kwargs: Params.kwargs
        ) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return sign_in_first(request)
            if not Role(request.user.role).includes(role):
                raise PermissionDenied
            return view(cast("Request", request), *args, **kwargs)

        cast("Any", wrapper).open_to = role
        return cast("DjangoView[Params]", wrapper)

    return decorate


def open_to_strangers(view: SiteView[Params] | DjangoView[Params]) -> DjangoView[Params]:
    cast("Any", view).open_to = None
    return cast("DjangoView[Params]", view)
