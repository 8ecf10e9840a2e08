"""Accounts, and how they sign in."""

from django.db import models
from django.db.models import Q


class Account(models.Model):
    """The owner of files and transfers. Lock its row to change anything it owns."""

    class Kind(models.TextChoices):
        PAID = "paid"
        FREE = "free"

    email = models.CharField(max_length=254, unique=True)  # in lower case
    password = models.CharField(max_length=128)
    # SHA-256 of the site's own key to this account; empty if there is none.
    secret_digest = models.CharField(max_length=64, default="")
    # Signs the account's links: a new password brings a new key, which invalidates old links.
    link_key = models.CharField(max_length=64)
    kind = models.CharField(max_length=4, choices=Kind.choices)
    # Whether what v1's own calls delete can be restored, as on the site.
    keeps_deleted = models.BooleanField(default=False, db_default=False)
    space_max_bytes = models.BigIntegerField()
    space_used_bytes = models.BigIntegerField(default=0)
    # Every change increments one of these, so they show whether a listing has changed.
    library_revision = models.BigIntegerField(default=0)
    transfers_revision = models.BigIntegerField(default=0)
    media_revision = models.BigIntegerField(default=0)
    changed_at = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(space_used_bytes__gte=0), name="space_used_is_never_negative"
            ),
        )

    def __str__(self) -> str:
        return self.email


class Traffic(models.Model):
    """The bytes that an account's transfers received and sent in a span of time.

    No two spans overlap: a worker adds to the shortest, and rolls them up into longer ones later.
    """

    account = models.ForeignKey(Account, models.CASCADE)
    span = models.CharField(max_length=6)  # moment (10 seconds), hour, day, or month
    start = models.DateTimeField()
    received_bytes = models.BigIntegerField(default=0)
    sent_bytes = models.BigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["account", "span", "start"], name="one_row_a_span"),
        )

    def __str__(self) -> str:
        return f"{self.span} from {self.start}"


class Guesses(models.Model):
    """The number of recent wrong passwords from one network, for one account, or both."""

    key = models.CharField(max_length=64, unique=True)
    count = models.PositiveIntegerField()
    since = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.count} since {self.since:%H:%M}"


class KnownNetwork(models.Model):
    """A network from which an account signed in; guesses from elsewhere never lock it out."""

    account = models.ForeignKey(Account, models.CASCADE)
    network = models.CharField(max_length=64)
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["account", "network"], name="one_row_a_known_network"),
        )

    def __str__(self) -> str:
        return self.network


class UploadPromise(models.Model):
    """Space of an account that an upload will take; others can't take it while it arrives."""

    account = models.ForeignKey(Account, models.CASCADE)
    size_bytes = models.BigIntegerField()
    # An upload renews it. That of a process that died ends on its own.
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.size_bytes} bytes until {self.expires_at:%H:%M}"
