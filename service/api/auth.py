"""Authenticate by HTTP Basic, and check that the account has access to the API."""

import base64
import binascii
from urllib.parse import urlsplit

from django.conf import settings

from service.accounts import accounts, credentials
from service.api.requests import AccountRequest
from service.http.refusals import AccessDenied, ForeignPage, PremiumRequired
from service.models import Account

UNKNOWN_ADDRESS = "0.0.0.0"  # noqa: S104  Of a Unix socket, where all share the limit of tries.


def refuse_foreign_page(request: AccountRequest) -> None:
    """A browser that was told a password here sends it with the forms of any site, and says in
    `Origin` whose form it is. Raises ForeignPage."""
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("Host", ""):
        raise ForeignPage


def account_of(request: AccountRequest) -> Account:
    """Raises AccessDenied, PremiumRequired, TooManyTries."""
    email, password = pair_of(request.headers.get("Authorization", ""))
    address = request.META.get("REMOTE_ADDR") or UNKNOWN_ADDRESS
    account = credentials.verify(email, password, address, request.now)
    if account is None:
        raise AccessDenied
    if not accounts.is_paid_now(account, request.now, settings.FREE_ACCESS_UNTIL):
        raise PremiumRequired
    return account


def pair_of(authorization: str) -> tuple[str, str]:
    """E-mail and password, which may contain colons; UTF-8, or Latin-1 from older clients."""
    scheme, _, encoded = authorization.partition(" ")
    try:
        pair = base64.b64decode(encoded.strip())
    except (binascii.Error, ValueError) as unreadable:
        raise AccessDenied from unreadable
    email, colon, password = _decoded(pair).partition(":")
    # NUL is in no address, and no text that a database takes.
    if scheme.lower() != "basic" or not colon or "\0" in email:
        raise AccessDenied
    return email, password


def _decoded(pair: bytes) -> str:
    try:
        return pair.decode()
    except UnicodeDecodeError:
        return pair.decode("latin-1")
