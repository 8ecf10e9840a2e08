"""Tokens with which scripts add items."""

import secrets
from datetime import datetime

from webui.models import SendToken, User, digest_of

PREFIX = "ferry_"


def create(user: User, name: str, now: datetime) -> str:
    """Return a new token, which can't be recovered later."""
    token = PREFIX + secrets.token_urlsafe(32)
    SendToken.objects.create(user=user, name=name, digest=digest_of(token), created_at=now)
    return token


def bearer_of(token: str, now: datetime) -> User | None:
    """Return the person whose token this is, unless it was revoked or they may not sign in."""
    rows = SendToken.objects.filter(digest=digest_of(token), user__is_active=True)
    row = rows.select_related("user").first()
    return row.user if row and rows.update(used_at=now) else None
