"""Browsers that are signed in, from sign-in until their session ends."""

import logging
from contextlib import suppress
from datetime import datetime, timedelta
from typing import cast

from django.contrib.auth import update_session_auth_hash
from django.contrib.sessions.models import Session
from django.db import IntegrityError, OperationalError
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from webui.http.requests import Answer, Request
from webui.models import Device, User

log = logging.getLogger("ferry.devices")

SEEN_EVERY = timedelta(minutes=5)
LONGEST_AGENT = 300
MOST_REMEMBERED = 10_000


class LastSeen:
    """When this process last wrote that a session was here: a page costs no write of its own."""

    def __init__(self) -> None:
        self._at: dict[str, datetime] = {}

    def is_due(self, session_key: str, now: datetime) -> bool:
        before = self._at.get(session_key)
        if before is not None and now - before < SEEN_EVERY:
            return False
        if len(self._at) >= MOST_REMEMBERED:
            self._at.clear()
        self._at[session_key] = now
        return True


def see(get_response: Answer) -> Answer:
    """Notes once in a while that a device is here. Before the answer, which may sign it out. What
    an open page asks for by itself costs the disk nothing."""
    sightings = LastSeen()

    def middleware(request: HttpRequest) -> HttpResponseBase:
        key, now = request.session.session_key, timezone.now()
        is_poll = request.path == reverse("transfers-running")
        if key and not is_poll and sightings.is_due(key, now) and request.user.is_authenticated:
            note_if_possible(cast("Request", request), now)
        return get_response(request)

    return middleware


def note_if_possible(request: Request, now: datetime) -> None:
    """No page fails over it, where the database is locked or its disk full."""
    try:
        note(request, now)
    except OperationalError as trouble:
        log.warning("device not noted: %s", trouble, extra={"trouble": trouble})


def note(request: Request, now: datetime) -> None:
    facts = {
        "user": request.user,
        "address": request.META["REMOTE_ADDR"],
        "agent": agent_of(request),
        "last_seen_at": now,
    }
    # Somebody may remove this person at this very moment.
    with suppress(IntegrityError):
        Device.objects.update_or_create(
            session_key=request.session.session_key or "",
            defaults=facts,
            create_defaults={**facts, "first_seen_at": now},
        )


def agent_of(request: HttpRequest) -> str:
    return request.headers.get("User-Agent", "")[:LONGEST_AGENT]


def of(user: User, now: datetime) -> QuerySet[Device]:
    """Those whose session still lives, the latest first."""
    alive = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=now)
    return user.devices.filter(Exists(alive)).order_by("-last_seen_at", "pk")


def sign_out(devices: QuerySet[Device]) -> int:
    """Ends their sessions, at once and for both processes."""
    keys = list(devices.values_list("session_key", flat=True))
    for start in range(0, len(keys), 500):
        some = keys[start : start + 500]
        Session.objects.filter(session_key__in=some).delete()
        Device.objects.filter(session_key__in=some).delete()
    return len(keys)


def sign_out_everywhere(user: User, request: Request) -> None:
    """End all sessions of this person but the one that asks, and what they have handed out."""
    user.begin_epoch()
    if user == request.user:
        stay(request, user)
    sign_out(others(user, request.session.session_key or ""))


def stay(request: Request, user: User) -> None:
    """Carry this session over into the epoch that its own person has just begun."""
    before = request.session.session_key or ""
    update_session_auth_hash(request, user)
    after = request.session.session_key or ""
    Device.objects.filter(session_key=before).update(session_key=after)


def others(user: User, session_key: str) -> QuerySet[Device]:
    return user.devices.exclude(session_key=session_key)


def prune() -> None:
    gone = ~Exists(Session.objects.filter(session_key=OuterRef("session_key")))
    Device.objects.filter(gone).delete()
