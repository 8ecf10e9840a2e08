"""Visits: what a browser keeps after it has opened a link with a password or a number of uses."""

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from webui.http.requests import keep_cookie
from webui.models import Share

COOKIE = f"ferry_visit_{settings.PORT}"
SALT = "ferry.visit"
LIFETIME = timedelta(hours=12)


def begin(response: HttpResponse, share: Share, token: str) -> None:
    """Let this browser in for some hours. Its cookie goes to the pages of this link only."""
    value, path = signing.dumps(digest_of(share), salt=SALT), reverse("share-page", args=[token])
    keep_cookie(response, COOKIE, value, LIFETIME, path)


def is_inside(request: HttpRequest, share: Share) -> bool:
    """Return whether the visitor has opened the link, if it asks first."""
    if not share.asks_first:
        return True
    try:
        digest = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=LIFETIME)
    except signing.BadSignature:
        return False
    return isinstance(digest, str) and constant_time_compare(digest, digest_of(share))


def digest_of(share: Share) -> str:
    return salted_hmac(SALT, f"{share.digest} {share.password}").hexdigest()
