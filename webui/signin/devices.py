"""Devices that are signed in, until their sessions end."""

import logging
from contextlib import suppress
from datetime import datetime, timedelta
from typing import cast

from django.contrib.auth import update_session_auth_hash
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from webui.http.requests import Answer, Request, middleware
from webui.models import Channel, Device, Notice, User
from webui.optional_writes import optional_write

log = logging.getLogger("ferry.devices")

SEEN_EVERY = timedelta(minutes=5)
LONGEST_AGENT = 300
MOST_REMEMBERED = 10_000
# When this process last recorded each session, so that not every page costs a write.
last_seen_at: dict[str, datetime] = {}


@middleware
def see(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Record now and then that a device is active, before the view, which may sign it out. Polls
    by open pages cost no disk writes."""
    key, now = request.session.session_key, timezone.now()
    is_poll = request.path == reverse("transfers-running")
    if key and not is_poll and is_due(key, now) and request.user.is_authenticated:
        with optional_write(log, "device not noted"):
            note(cast("Request", request), now)
    return get_response(request)


def is_due(session_key: str, now: datetime) -> bool:
    before = last_seen_at.get(session_key)
    if before is not None and now - before < SEEN_EVERY:
        return False
    if len(last_seen_at) >= MOST_REMEMBERED:
        last_seen_at.clear()
    last_seen_at[session_key] = now
    return True


def note(request: Request, now: datetime) -> None:
    facts = {
        "user": request.user,
        "address": request.META["REMOTE_ADDR"],
        "agent": agent_of(request),
        "last_seen_at": now,
    }
    # An owner may be removing this person at this moment.
    with suppress(IntegrityError), transaction.atomic():
        device, is_new = Device.objects.update_or_create(
            session_key=request.session.session_key or "",
            defaults=facts,
            create_defaults={**facts, "first_seen_at": now},
        )
        if is_new:
            people, address = Q(user=request.user), str(facts["address"])
            Notice.tell(people, f"device {device.pk}", Notice.Kind.DEVICE, address)


def agent_of(request: HttpRequest) -> str:
    return request.headers.get("User-Agent", "")[:LONGEST_AGENT]


def of(user: User, now: datetime) -> QuerySet[Device]:
    """Return the devices whose session is still valid, the latest first."""
    alive = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=now)
    return user.devices.filter(Exists(alive)).order_by("-last_seen_at", "pk")


def sign_out(devices: QuerySet[Device]) -> int:
    """End the sessions of these devices, immediately and in both web processes."""
    keys = list(devices.values_list("session_key", flat=True))
    for start in range(0, len(keys), 500):
        some = keys[start : start + 500]
        Session.objects.filter(session_key__in=some).delete()
        Device.objects.filter(session_key__in=some).delete()
    return len(keys)


def sign_out_everywhere(user: User, request: Request) -> None:
    """End all sessions of this person except this one, and the grants that they gave to others."""
    user.begin_epoch()
    if user == request.user:
        stay(request, user)
    sign_out(user.devices.exclude(session_key=request.session.session_key or ""))


def stay(request: Request, user: User) -> None:
    """Carry this session over into the epoch that its person has just begun."""
    before = request.session.session_key or ""
    update_session_auth_hash(request, user)
    Device.objects.filter(session_key=before).update(session_key=request.session.session_key or "")
    # Channels of other devices stay in the epoch that has ended.
    own = Channel.objects.filter(device__session_key=request.session.session_key or "")
    own.update(epoch=user.epoch)


def prune() -> None:
    gone = ~Exists(Session.objects.filter(session_key=OuterRef("session_key")))
    Device.objects.filter(gone).delete()
