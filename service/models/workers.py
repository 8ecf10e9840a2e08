"""The processes that carry out transfers and convert media."""

from django.db import models
from django.db.models import QuerySet
from django.db.models.functions import Now

LONGEST_WORKER_NAME = 60


class Worker(models.Model):
    """A worker that runs transfers. Its leases hold as long as this row exists."""

    name = models.CharField(max_length=LONGEST_WORKER_NAME, unique=True)
    alive_until = models.DateTimeField()
    is_engine_alive = models.BooleanField(default=False)
    session = models.JSONField(null=True)  # of the engine: service.torrents.events.SessionStatus

    def __str__(self) -> str:
        return self.name

    @classmethod
    def alive(cls) -> QuerySet["Worker"]:
        """Return workers whose leases hold by the database's clock, which all machines share."""
        return cls.objects.filter(alive_until__gt=Now())


class MediaWorker(models.Model):
    """A worker that makes media for other machines, until its lease ends."""

    address = models.CharField(max_length=300, unique=True)
    alive_until = models.DateTimeField()

    def __str__(self) -> str:
        return self.address
