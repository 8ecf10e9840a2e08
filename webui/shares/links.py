"""Links for other people: what each opens, for how long, and how often."""

import logging
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, Sum
from django.utils.crypto import constant_time_compare

from webui import encryption
from webui.library.bounds import Bounds
from webui.library.entries import FOLDER, Entry
from webui.models import HeldBytes, Role, Share, User, digest_of, token_purpose
from webui.optional_writes import optional_write

log = logging.getLogger("ferry.sharing")

LIFETIME = timedelta(hours=24)  # of a link for other players
MOST_EACH = 100  # So many at once mean that something is wrong.
LONGEST_NAME = 255
TERMS = ("label", "password", "expires_at", "most_uses", "takes_files", "most_bytes")
USED_EVERY = timedelta(minutes=1)
# Senders that pause for a minute are cut off.
HELD_FOR = timedelta(minutes=2)


def make(user: User, service: str, entry: Entry, now: datetime) -> str | None:
    """Return the token of a new link for other players, or None if the person has too many."""
    share = Share(kind=entry.kind, entry_id=entry.id, name=entry.name, expires_at=now + LIFETIME)
    return _add(share, user, service, now)


def make_page(user: User, service: str, bounds: Bounds, terms: Share, now: datetime) -> str | None:
    """Return the token of a new link to a page with these terms, or None like `make`."""
    terms.kind, terms.entry_id, terms.folder = FOLDER, bounds.top, bounds.top
    terms.only = None if bounds.only is None else sorted(bounds.only)
    terms.name = bounds.name
    return _add(terms, user, service, now)


def _add(share: Share, user: User, service: str, now: datetime) -> str | None:
    """Add a link, and return its token: 256 random bits that only the link contains."""
    if len(list_valid(now, user=user)) >= MOST_EACH:
        return None
    token = secrets.token_urlsafe(32)
    share.digest, share.user, share.service = digest_of(token), user, service
    share.name, share.password_mark = share.name[:LONGEST_NAME], user.get_session_auth_hash()
    share.sealed = encryption.encrypt(token, token_purpose(share.digest))
    share.save()
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


def list_valid(now: datetime, **facts: object) -> list[Share]:
    """Return all valid links with these facts, the newest first."""
    rows = Share.objects.filter(is_valid(now), user__is_active=True, **facts)
    rows = rows.select_related("user").order_by("-pk")
    return [share for share in rows if is_of_password(share, share.user)]


def change(share: Share, terms: Share, keeps: Collection[str], now: datetime) -> bool:
    """Change the terms for everyone at once. Return False if the link has just ended."""
    columns = {name: getattr(terms, name) for name in TERMS if name not in keeps}
    return Share.objects.filter(is_valid(now), pk=share.pk).update(**columns) > 0


def use(share: Share) -> bool:
    """Count a use. Return False if the limit was reached: of two people who open the link at once,
    one may be too late."""
    rows = Share.objects.filter(pk=share.pk)
    if share.most_uses is not None:
        rows = rows.filter(uses__lt=share.most_uses)
    return rows.update(uses=F("uses") + 1) > 0


def note_use(share: Share, now: datetime) -> None:
    """Record that a link is in use, at most once a minute."""
    # After the clock was set back, the last use may be in the future.
    earliest, latest = now - USED_EVERY, now + USED_EVERY
    if share.last_used_at and earliest < share.last_used_at < latest:
        return
    is_due = Q(last_used_at=None) | Q(last_used_at__lte=earliest) | Q(last_used_at__gte=latest)
    with optional_write(log, f"use not noted share={share.pk}"):
        Share.objects.filter(is_due, pk=share.pk).update(last_used_at=now)


def has_room(share: Share, size_bytes: int, now: datetime, *, beside: int = 0) -> bool:
    """Return whether the link may receive so much, beside what others are sending."""
    row = Share.objects.select_for_update().filter(pk=share.pk).first()
    if row is None or row.most_bytes is None:
        return row is not None
    others = row.held.filter(until__gt=now).exclude(pk=beside)
    held_bytes: int = others.aggregate(sum=Sum("size_bytes", default=0))["sum"]
    return row.received_bytes + held_bytes + size_bytes <= row.most_bytes


def hold_bytes(held: HeldBytes, now: datetime) -> bool:
    """Hold bytes of the link's limit, or more than before. Return False if it has fewer left."""
    with transaction.atomic():
        if has_room(held.share, held.size_bytes, now, beside=held.pk or 0):
            held.until = now + HELD_FOR
            held.save()
            return True
    return False


def receive_bytes(held: HeldBytes, size_bytes: int) -> None:
    """Count a file that has arrived. What was held for it is free."""
    with transaction.atomic():
        rows = Share.objects.filter(pk=held.share_id)
        rows.update(received_bytes=F("received_bytes") + size_bytes)
        held.delete()


def find_own(user: User, share: int, now: datetime) -> Share | None:
    """Return a link that this person made, unless it has ended."""
    return next(iter(list_valid(now, user=user, pk=share)), None)


def find_revocable(user: User, share: int, now: datetime) -> Share | None:
    """Return a link that this person may revoke, unless it has ended: owners revoke all links."""
    facts = {} if Role(user.role).includes(Role.OWNER) else {"user": user}
    return next(iter(list_valid(now, pk=share, **facts)), None)


def revoke(share: Share) -> bool:
    """Delete a link. Return False if someone else was faster."""
    deleted, _by_model = Share.objects.filter(pk=share.pk).delete()
    return deleted > 0


def prune(now: datetime) -> None:
    Share.objects.filter(expires_at__lte=now).delete()
    HeldBytes.objects.filter(until__lte=now).delete()
