"""Issue links that work once, and use them up: invitations and the welcome."""

import secrets
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet

from webui.models import OneTimeLink, Role, User, digest_of


def issue(
    purpose: str,
    now: datetime,
    lifetime: timedelta,
    role: str = "",
    made_by: User | None = None,
) -> str:
    token = secrets.token_urlsafe(32)
    OneTimeLink.objects.create(
        digest=digest_of(token),
        purpose=purpose,
        role=role,
        made_by=made_by,
        epoch=made_by.epoch if made_by else "",
        expires_at=now + lifetime,
    )
    return token


def find(purpose: str, token: str, now: datetime) -> OneTimeLink | None:
    return _good_ones(purpose, token, now).first()


def consume(purpose: str, token: str, now: datetime) -> bool:
    """Use up a link, and return True to exactly one of any number of concurrent callers."""
    deleted, _by_model = _good_ones(purpose, token, now).delete()
    return deleted == 1


def invitations(now: datetime) -> QuerySet[OneTimeLink]:
    """Return the invitations whose maker is still an owner, in the same epoch."""
    is_of_owner = Q(made_by__role=Role.OWNER, made_by__epoch=F("epoch"))
    return OneTimeLink.objects.filter(
        is_of_owner, purpose=OneTimeLink.INVITATION, expires_at__gt=now
    )


def prune(now: datetime) -> None:
    OneTimeLink.objects.filter(expires_at__lte=now).delete()


def _good_ones(purpose: str, token: str, now: datetime) -> QuerySet[OneTimeLink]:
    if purpose == OneTimeLink.INVITATION:
        return invitations(now).filter(digest=digest_of(token))
    return OneTimeLink.objects.filter(digest=digest_of(token), purpose=purpose, expires_at__gt=now)
