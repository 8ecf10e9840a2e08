"""Selections for a ZIP: the entries that a person chose, kept until the download link expires."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from webui.library.entries import Entry
from webui.models import Selection, User
from webui.v1.errors import TooMany

LIFETIME = timedelta(hours=6)
LONGEST_KEY = 43
MOST_OF_VISITORS = 100


def save(  # noqa: PLR0913  So much decides which selection it is.
    user: User,
    service: str,
    folder: str,
    chosen: Sequence[Entry],
    *,
    is_whole: bool,
    share: int = 0,
) -> Selection:
    """Save a selection. An equal one lasts longer instead, since each is a large row.

    `share`: the link whose visitors chose, who have a limit for each link. Raises TooMany.
    """
    now, sizes = timezone.now(), [entry.size_bytes for entry in chosen]
    prefix = f"{share}." if share else ""
    live = Selection.objects.filter(user=user, key__startswith=prefix, expires_at__gt=now)
    facts = {
        "service": service,
        "folder": folder,
        "entries": [[entry.kind, entry.id, entry.name] for entry in chosen],
        "is_whole": is_whole,
    }
    selection = live.filter(**facts).first()
    if selection is None:
        if share and live.count() >= MOST_OF_VISITORS:
            raise TooMany("archives", retry_after_seconds=60)
        selection = Selection(key=prefix + secrets.token_urlsafe(24), user=user, **facts)
    selection.size_bytes = None if None in sizes else sum(filter(None, sizes))
    selection.expires_at = now + LIFETIME
    selection.save()
    return selection


def find(user: User, service: str, key: str, now: datetime) -> Selection | None:
    return Selection.objects.filter(
        key=key[:LONGEST_KEY], user=user, service=service, expires_at__gt=now
    ).first()


def prune(now: datetime) -> None:
    Selection.objects.filter(expires_at__lte=now).delete()
