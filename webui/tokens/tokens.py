"""Tokens that let a person's programs in, each for one purpose."""

import logging
import secrets
from datetime import datetime, timedelta

from django.db.models import Q

from webui.library.bounds import Bounds
from webui.models import Role, Token, User, digest_of
from webui.optional_writes import optional_write

log = logging.getLogger("ferry.tokens")

PREFIX = "ferry_"
MOST_TOKENS = 20
LONGEST_NAME = 60
USED_EVERY = timedelta(minutes=1)
Purpose = Token.Purpose


def create(  # noqa: PLR0913  As many facts as a token has.
    user: User,
    name: str,
    now: datetime,
    purpose: Purpose = Purpose.SEND,
    *,
    may_write: bool = True,
    service: str = "",
    bounds: Bounds | None = None,
) -> str:
    """Return a new token, which can't be recovered later. `service` is the one with the folder."""
    token = PREFIX + secrets.token_urlsafe(32)
    row = Token(user=user, name=name, digest=digest_of(token), created_at=now, purpose=purpose)
    row.may_write = may_write or purpose == Purpose.SEND
    if bounds:
        row.service, row.folder, row.folder_name = service, bounds.top, bounds.name[:255]
    row.save()
    return token


def find(token: str) -> Token | None:
    """Return the row of a token, unless it was revoked or its person may not sign in."""
    return find_by_digest(digest_of(token))


def find_by_digest(digest: str) -> Token | None:
    rows = Token.objects.filter(digest=digest, user__is_active=True)
    return rows.select_related("user").first()


def bounds_of(row: Token) -> Bounds | None:
    return Bounds(row.folder, row.folder_name) if row.folder else None


def may_do(role: Role, purpose: str, *, writes: bool) -> bool:
    """Return whether a person with this role may do what a token is for: guests only look."""
    return role.includes(Role.MEMBER) or (purpose == Purpose.DRIVE and not writes)


def note_use(row: Token, now: datetime) -> None:
    """Record that a token is in use, at most once a minute."""
    # After the clock was set back, the last use may be in the future.
    earliest, latest = now - USED_EVERY, now + USED_EVERY
    if row.used_at and earliest < row.used_at < latest:
        return
    is_due = Q(used_at=None) | Q(used_at__lte=earliest) | Q(used_at__gte=latest)
    with optional_write(log, f"use not noted token={row.pk}"):
        Token.objects.filter(is_due, pk=row.pk).update(used_at=now)


def find_revocable(user: User, token: int) -> Token | None:
    """Return a token that this person may revoke: owners revoke all tokens."""
    rows = Token.objects.select_related("user").filter(pk=token)
    is_owner = Role(user.role).includes(Role.OWNER)
    return (rows if is_owner else rows.filter(user=user)).first()


def revoke_excess(person: User, role: Role) -> None:
    """Revoke the tokens that a person's new role doesn't allow, since the old role may come back.
    An owner's token for other programs also opened v1."""
    for row in Token.objects.filter(user=person):
        was_owners = row.purpose == Purpose.PROGRAMS and role != Role.OWNER
        if was_owners or not may_do(role, row.purpose, writes=row.may_write):
            row.delete()
