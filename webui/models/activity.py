"""Who did what."""

from django.db import models


class Activity(models.Model):
    """An event that an owner may want to look up later, with the names that were used then."""

    at = models.DateTimeField(db_index=True)
    kind = models.CharField(max_length=24)
    # A person, or the account of another program, or empty if unknown.
    person = models.CharField(max_length=150, default="")
    subject = models.CharField(max_length=255, default="")
    detail = models.CharField(max_length=255, default="")  # a role, a new name, or a folder
    address = models.CharField(max_length=64, default="")  # empty: a command on this machine
    count = models.PositiveIntegerField(default=1)

    class Meta:
        indexes = (models.Index("kind", "at", name="activity_of_kind"),)

    def __str__(self) -> str:
        return f"{self.kind} by {self.person} at {self.at:%H:%M}"
