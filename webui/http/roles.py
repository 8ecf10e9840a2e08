"""Which roles may open a view, and by which methods. A test checks the roles of all views."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_http_methods

from webui.http.requests import Request, sign_in_first
from webui.models import Role

Params = ParamSpec("Params")
SiteView = Callable[Concatenate[Request, Params], HttpResponseBase]
DjangoView = Callable[Concatenate[HttpRequest, Params], HttpResponseBase]


def open_to(role: Role, *methods: str) -> Callable[[SiteView[Params]], DjangoView[Params]]:
    """Open a view to people with this role or a higher one, and to these methods, if any."""

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

        return _limit(cast("DjangoView[Params]", wrapper), role, methods)

    return decorate


def open_to_strangers(
    *methods: str,
) -> Callable[[SiteView[Params] | DjangoView[Params]], DjangoView[Params]]:
    """Open a view to everyone, and to these methods, or to all if none is named."""

    def decorate(view: SiteView[Params] | DjangoView[Params]) -> DjangoView[Params]:
        return _limit(cast("DjangoView[Params]", view), None, methods)

    return decorate


def _limit(
    view: DjangoView[Params], role: Role | None, methods: tuple[str, ...]
) -> DjangoView[Params]:
    cast("Any", view).open_to = role
    if not methods:
        return view
    # Whatever answers GET also answers HEAD.
    return require_http_methods([*methods, *(["HEAD"] if "GET" in methods else [])])(view)
