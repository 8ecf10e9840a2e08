"""Links for players without cookies. A person makes each link, which lasts a day."""

import secrets
from datetime import datetime, timedelta

from django.utils.crypto import constant_time_compare

from webui.library.entries import Entry
from webui.models import Share, User, digest_of

LIFETIME = timedelta(hours=24)
MOST_EACH = 100
LONGEST_NAME = 255


class TooManyShares(Exception):  # noqa: N818  Errors are nouns here.
    """So many links are valid at once that something must be wrong."""


def make(user: User, service: str, entry: Entry, now: datetime) -> str:
    """Return the token of a new link, 256 random bits that only the link contains."""
    if len(of(user, now)) >= MOST_EACH:
        raise TooManyShares
    token = secrets.token_urlsafe(32)
    Share.objects.create(
        digest=digest_of(token),
        user=user,
        password_mark=user.get_session_auth_hash(),
        service=service,
        kind=entry.kind,
        entry_id=entry.id,
        name=entry.name[:LONGEST_NAME],
        expires_at=now + LIFETIME,
    )
    return token


def find_share(token: str, service: str, now: datetime) -> Share | None:
    rows = Share.objects.filter(
        digest=digest_of(token), service=service, expires_at__gt=now, user__is_active=True
    )
    share = rows.select_related("user").first()
    return share if share and is_of_password(share, share.user) else None


def is_of_password(share: Share, user: User) -> bool:
    """Return whether the password is unchanged. A new one ends earlier links, whatever set it."""
    return constant_time_compare(share.password_mark, user.get_session_auth_hash())


def of(user: User, now: datetime) -> list[Share]:
    """Return the valid links, the newest first."""
    rows = Share.objects.filter(user=user, expires_at__gt=now).order_by("-pk")
    return [share for share in rows if is_of_password(share, user)]


def revoke(user: User, share: int) -> str | None:
    """Delete a link. Return the name of the entry it opened, or None if there is no such link."""
    row = Share.objects.filter(user=user, pk=share).first()
    if row is None:
        return None
    row.delete()
    return row.name
