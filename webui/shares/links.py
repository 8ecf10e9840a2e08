"""Links for other people: what each opens, for how long, and how often."""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.hashers import check_password, make_password
from django.db.models import F, Q
from django.utils.crypto import constant_time_compare

from webui.library.bounds import Bounds
from webui.library.entries import FOLDER, Entry
from webui.models import Share, User, digest_of
from webui.shares.terms import Terms

LIFETIME = timedelta(hours=24)  # of a link for other players
MOST_EACH = 100
LONGEST_NAME = 255


class TooManyShares(Exception):  # noqa: N818  Errors are nouns here.
    """So many links are valid at once that something must be wrong."""


def make(user: User, service: str, entry: Entry, now: datetime) -> str:
    """Return the token of a new link for other players."""
    return _add(
        user,
        now,
        service=service,
        kind=entry.kind,
        entry_id=entry.id,
        name=entry.name[:LONGEST_NAME],
        expires_at=now + LIFETIME,
    )


def make_page(user: User, service: str, bounds: Bounds, terms: Terms, now: datetime) -> str:
    """Return the token of a new link to a page."""
    return _add(
        user,
        now,
        service=service,
        kind=FOLDER,
        entry_id=bounds.top,
        folder=bounds.top,
        only=None if bounds.only is None else sorted(bounds.only),
        name=bounds.name[:LONGEST_NAME],
        label=terms.label,
        password=make_password(terms.password) if terms.password else "",
        most_uses=terms.most_uses,
        takes_files=terms.takes_files,
        most_bytes=terms.most_bytes,
        expires_at=None if terms.lasts is None else now + terms.lasts,
    )


def _add(user: User, now: datetime, **facts: object) -> str:
    """Add a link, and return its token: 256 random bits that only the link contains."""
    if len(of(user, now)) >= MOST_EACH:
        raise TooManyShares
    token = secrets.token_urlsafe(32)
    password = user.get_session_auth_hash()
    Share.objects.create(digest=digest_of(token), user=user, password_mark=password, **facts)
    return token


def find_share(token: str, service: str, now: datetime) -> Share | None:
    """Return the link of a page or for players, unless it has ended."""
    rows = Share.objects.filter(
        is_valid(now), digest=digest_of(token), service=service, user__is_active=True
    )
    share = rows.select_related("user").first()
    return share if share and is_of_password(share, share.user) else None


def is_valid(now: datetime) -> Q:
    return Q(expires_at=None) | Q(expires_at__gt=now)


def is_of_password(share: Share, user: User) -> bool:
    """Return whether the password is unchanged. A new one ends earlier links, whatever set it."""
    return constant_time_compare(share.password_mark, user.get_session_auth_hash())


def bounds_of(share: Share) -> Bounds:
    only = None if share.only is None else frozenset(share.only)
    return Bounds(share.folder, share.label or share.name, only)


def of(user: User, now: datetime) -> list[Share]:
    """Return the valid links, the newest first."""
    rows = Share.objects.filter(is_valid(now), user=user).order_by("-pk")
    return [share for share in rows if is_of_password(share, user)]


def is_password(share: Share, password: str) -> bool:
    return check_password(password, share.password)


def use(share: Share) -> bool:
    """Count a use. Return False if the limit was reached: of two people who open the link at once,
    one may be too late."""
    rows = Share.objects.filter(pk=share.pk)
    if share.most_uses is not None:
        rows = rows.filter(uses__lt=share.most_uses)
    return rows.update(uses=F("uses") + 1) > 0


def take_bytes(share: Share, size_bytes: int) -> bool:
    """Count the bytes of a file that is about to be received. Return False if they are too many."""
    rows = Share.objects.filter(pk=share.pk)
    if share.most_bytes is not None:
        rows = rows.filter(received_bytes__lte=share.most_bytes - size_bytes)
    return rows.update(received_bytes=F("received_bytes") + size_bytes) > 0


def give_back_bytes(share: Share, size_bytes: int) -> None:
    rows = Share.objects.filter(pk=share.pk)
    rows.update(received_bytes=F("received_bytes") - size_bytes)


def revoke(user: User, share: int) -> str | None:
    """Delete a link. Return the name of the entry it opened, or None if there is no such link."""
    row = Share.objects.filter(user=user, pk=share).first()
    if row is None:
        return None
    row.delete()
    return str(row)


def prune(now: datetime) -> None:
    Share.objects.filter(expires_at__lte=now).delete()
