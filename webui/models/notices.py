"""What people are told while no page is open, and where."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.sessions.models import Session
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from webui import encryption
from webui.models.people import Role, User


class Channel(models.Model):
    """A place where a person is told what happened: a device, another server, or a feed.

    Addresses and keys are encrypted for this row, and of a feed's token only the digest is kept. A
    device's channel ends with its session, and with the epoch in which it was made.
    """

    class Kind(models.TextChoices):
        DEVICE = "device"  # by Web Push
        NTFY = "ntfy"
        WEBHOOK = "webhook"
        APPRISE = "apprise"
        FEED = "feed"

    user = models.ForeignKey("User", on_delete=models.CASCADE, related_name="channels")
    device = models.ForeignKey("Device", on_delete=models.CASCADE, null=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    digest = models.CharField(max_length=64, unique=True)  # of the address, or of a feed's token
    sealed = models.TextField()
    host = models.CharField(max_length=255)
    topics = models.CharField(max_length=60)  # what to tell, with spaces between
    language = models.CharField(max_length=10)
    epoch = models.CharField(max_length=16)
    created_at = models.DateTimeField()
    trouble = models.CharField(max_length=20)  # why the last notice failed
    # After a failure, all of its notices wait.
    resumes_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.kind} at {self.host}"

    @classmethod
    def alive(cls) -> QuerySet["Channel"]:
        sessions = Session.objects.filter(
            session_key=OuterRef("device__session_key"), expire_date__gt=timezone.now()
        )
        is_in = Q(epoch=F("user__epoch")) & Exists(sessions)
        return cls.objects.filter(Q(device=None) | is_in, user__is_active=True)

    @classmethod
    def is_told(cls, session_key: str | None) -> bool:
        """Return whether Web Push tells this session's device of transfers."""
        return cls.alive().filter(device__session_key=session_key, topics__contains="done").exists()

    def seal(self, **facts: str) -> None:
        self.sealed = encryption.encrypt(json.dumps(facts), f"channel {self.digest}")

    def unseal(self) -> dict[str, str]:
        facts: dict[str, str] = json.loads(
            encryption.decrypt(self.sealed, f"channel {self.digest}")
        )
        return facts


class Notice(models.Model):
    """An event for one channel, written together with what it reports, and sent by the worker.

    Guarantee: a channel is told of an event at least once, and again only if Ferry was killed
    between the receiver's answer and the commit that records it.
    """

    class Kind(models.TextChoices):
        DONE = "done"
        FAILED = "failed"
        SPACE = "space"
        DEVICE = "device"
        TEST = "test"  # which every channel takes

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="notices")
    key = models.CharField(max_length=120)  # of the event
    kind = models.CharField(max_length=8, choices=Kind.choices)
    subject = models.CharField(max_length=300)
    at = models.DateTimeField(db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # None: there is nothing left to send. A worker that sends it moves this ahead first.
    send_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint("channel", "key", name="one_notice_an_event"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"

    @classmethod
    def tell(cls, people: Q, key: str, kind: str, subject: str = "") -> None:
        """Tell people of an event on all of their channels that want it, once for each key."""
        # Guests are told only of their devices.
        audience = people if kind == cls.Kind.DEVICE else people & MEMBERS
        channels = Channel.alive().filter(audience)
        cls.put((each for each in channels if kind in each.topics.split()), key, kind, subject)

    @classmethod
    def put(cls, channels: Iterable[Channel], key: str, kind: str, subject: str) -> None:
        now = timezone.now()
        rows = [
            Notice(
                channel=each,
                key=key,
                kind=kind,
                subject=subject[:300],
                at=now,
                send_at=None if each.kind == Channel.Kind.FEED else now,
            )
            for each in channels
        ]
        Notice.objects.bulk_create(rows, ignore_conflicts=True)

    @classmethod
    def withdraw(cls, person: User) -> None:
        """Send none of a person's notices that still wait, except those of new devices."""
        rows = cls.objects.filter(channel__user=person).exclude(kind=cls.Kind.DEVICE)
        rows.update(send_at=None)

    @classmethod
    def prune(cls, now: datetime) -> None:
        cls.objects.filter(at__lt=now - timedelta(days=30)).delete()
        Channel.objects.exclude(pk__in=Channel.alive().values("pk")).delete()


OWNERS = Q(user__role=Role.OWNER)
MEMBERS = Q(user__role__in=(Role.MEMBER, Role.OWNER))
