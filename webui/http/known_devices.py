"""Cookies of known devices: who last signed in there, and with which password."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.utils.crypto import constant_time_compare

from webui.models import User

SALT = "ferry.device"
COOKIE = f"ferry_device_{settings.PORT}"
COOKIE_AGE = timedelta(days=365)


def cookie_of(user: User) -> str:
    """Return a signed cookie with the user and a hash of their password, so that a new password
    makes all devices unknown."""
    facts = [user.pk, user.get_session_auth_hash(), secrets.token_urlsafe(12)]
    return signing.dumps(facts, salt=SALT)


def person_of(cookie: str) -> int | None:
    """Return the id of the person who last signed in on this device, whatever their password."""
    pk, _password = facts_in(cookie)
    return pk


def is_device_of(cookie: str, name: str) -> bool:
    pk, password = facts_in(cookie)
    user = User.objects.filter(pk=pk, username__iexact=name).first() if pk else None
    return user is not None and constant_time_compare(password, user.get_session_auth_hash())


def facts_in(cookie: str) -> tuple[int | None, str]:
    try:
        pk, password, _nonce = signing.loads(cookie, salt=SALT, max_age=COOKIE_AGE)
    except (signing.BadSignature, ValueError):
        return None, ""
    return int(pk), password
