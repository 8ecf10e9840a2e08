"""Selections for a ZIP: the entries that a person chose, kept until the download link expires."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from webui.library.entries import Entry
from webui.models import Selection, User

LIFETIME = timedelta(hours=6)
LONGEST_KEY = 43


def save(
    user: User, service: str, folder: str, chosen: Sequence[Entry], *, is_whole: bool
) -> Selection:
    sizes = [entry.size_bytes for entry in chosen]
    return Selection.objects.create(
        key=secrets.token_urlsafe(32),
        user=user,
        service=service,
        folder=folder,
        entries=[[entry.kind, entry.id, entry.name] for entry in chosen],
        is_whole=is_whole,
        size_bytes=None if None in sizes else sum(filter(None, sizes)),
        expires_at=timezone.now() + LIFETIME,
    )


def find(user: User, service: str, key: str, now: datetime) -> Selection | None:
    return Selection.objects.filter(
        key=key[:LONGEST_KEY], user=user, service=service, expires_at__gt=now
    ).first()


def count_of(user: User, now: datetime) -> int:
    """Return how many selections of this person haven't expired."""
    return Selection.objects.filter(user=user, expires_at__gt=now).count()


def prune(now: datetime) -> None:
    Selection.objects.filter(expires_at__lte=now).delete()
