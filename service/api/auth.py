"""Authenticate by HTTP Basic, check access to the API, and refuse calls for foreign pages."""

import base64
import binascii
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest

from common.host import host
from common.http.forms import decode
from service.accounts import accounts, credentials
from service.http.refusals import AccessDenied, ForeignPage, PremiumRequired
from service.models import Account

UNKNOWN_ADDRESS = "0.0.0.0"  # noqa: S104  For a Unix socket, whose clients share one limit.


class AccountRequest(HttpRequest):
    """A request that every view of the API receives, with its account and its beginning."""

    account: Account
    now: datetime


def refuse_foreign_page(request: AccountRequest) -> None:
    """Raise ForeignPage if the form of another site sent the request.

    A browser that knows a password for Ferry sends it with forms of any site, which `Origin` names.
    """
    origin = request.headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("Host", ""):
        raise ForeignPage


def account_of(request: AccountRequest) -> Account:
    """Authenticate a request. Raises AccessDenied, NotPermitted, PremiumRequired, TooManyTries,
    Busy.

    Tokens of the site open the site's own account.
    """
    if host().admit_to_v1(request):
        return accounts.find(host().embedded.account)
    email, password = pair_of(request.headers.get("Authorization", ""))
    address = request.META.get("REMOTE_ADDR") or UNKNOWN_ADDRESS
    account = credentials.verify(email, password, address, request.now)
    if account is None:
        raise AccessDenied
    if not accounts.is_paid_now(account, request.now, settings.FREE_ACCESS_UNTIL):
        raise PremiumRequired
    return account


def pair_of(authorization: str) -> tuple[str, str]:
    """Return email and password, which may contain colons; older clients send Latin-1."""
    scheme, _, encoded = authorization.partition(" ")
    try:
        pair = base64.b64decode(encoded.strip())
    except (binascii.Error, ValueError) as unreadable:
        raise AccessDenied from unreadable
    email, colon, password = decode(pair).partition(":")
    # No email address contains NUL, and databases refuse it in text.
    if scheme.lower() != "basic" or not colon or "\0" in email:
        raise AccessDenied
    return email, password
