"""Refuse requests that a page of another site made a browser send."""

from service.api.requests import AccountRequest
from service.http.refusals import ForeignPage


def refuse_foreign_page(request: AccountRequest) -> None:
    """Raise ForeignPage if the form of another site sent the request.

    A browser that knows a password for Ferry sends it with forms of any site, which `Origin` names.
    """
    origin = request.headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("Host", ""):
        raise ForeignPage
