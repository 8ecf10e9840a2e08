"""Uploads that continue after an interruption."""

from datetime import datetime

from django.db import models

from webui.models.people import User


class ResumableUpload(models.Model):
    """A file that arrives in pieces. What has arrived is in a file on this machine's disk."""

    class State(models.TextChoices):
        ARRIVING = "arriving"
        MOVING = "moving"  # whole, and on its way to the service
        DONE = "done"

    key = models.CharField(max_length=32, unique=True)  # in its URL, and its file's name
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    service = models.CharField(max_length=64)  # the key of the service that it is for
    folder = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    size_bytes = models.BigIntegerField()
    # How much survives a power cut, and the boot during which more may have arrived.
    safe_bytes = models.BigIntegerField(default=0)
    boot = models.CharField(max_length=36, default="")
    # Whose disk it is. The previous version adds rows without it while a new one starts.
    machine = models.CharField(max_length=64, db_default="")
    state = models.CharField(max_length=8, choices=State.choices, default=State.ARRIVING)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.name}, until {self.expires_at:%Y-%m-%d}"

    @classmethod
    def find_unfinished(cls, now: datetime) -> models.QuerySet["ResumableUpload"]:
        return cls.objects.filter(expires_at__gt=now).exclude(state=cls.State.DONE)
