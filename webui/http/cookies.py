"""Set the cookies that only Ferry itself reads."""

from datetime import timedelta

from django.conf import settings
from django.http import HttpResponse


def keep(response: HttpResponse, name: str, value: str, age: timedelta, path: str = "") -> None:
    """Keep a value in this browser, for the whole site or for a part of it."""
    path = path or settings.SESSION_COOKIE_PATH
    response.set_cookie(name, value, max_age=age, path=path, httponly=True, samesite="Lax")
