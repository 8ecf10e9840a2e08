"""Who added which transfer."""

from typing import Any

from django.db import IntegrityError, models, transaction


class Sent(models.Model):
    """A transfer that the site sent to a service, since v1 doesn't list ended transfers."""

    MAGNET, URL, FILE = "magnet", "url", "file"
    ZIP = "zip"  # a file of the service, to unpack; its id is the source

    connection = models.CharField(max_length=16)  # The key of the service it went to.
    transfer_id = models.CharField(max_length=64, blank=True)  # Some services don't report it.
    info_hash = models.CharField(max_length=40, blank=True)
    title = models.CharField(max_length=1024, blank=True)
    source_kind = models.CharField(max_length=8)
    source = models.TextField(blank=True)
    torrent = models.BinaryField(null=True)
    folder_id = models.CharField(max_length=64, blank=True)
    size_bytes = models.BigIntegerField(null=True)
    added_by = models.ForeignKey("User", on_delete=models.SET_NULL, null=True)
    added_at = models.DateTimeField()
    state = models.CharField(max_length=16, blank=True)  # The last known state.
    reason = models.CharField(max_length=64, blank=True)
    done_at = models.DateTimeField(null=True)
    cleared_at = models.DateTimeField(null=True)
    created_folder_id = models.CharField(max_length=64, blank=True)
    created_file_id = models.CharField(max_length=64, blank=True)
    # What other programs want of it. Without a category (None), it is none of theirs.
    category = models.CharField(max_length=100, null=True)  # noqa: DJ001  SQLite adds it in place.
    tags = models.TextField(null=True)  # noqa: DJ001  As above. A comma is between them.
    # Its copy in the hand-over folder: the path there, when it was complete, or why it isn't yet.
    handed_path = models.TextField(null=True)  # noqa: DJ001  As above.
    handed_at = models.DateTimeField(null=True)
    handover_trouble = models.CharField(max_length=64, null=True)  # noqa: DJ001  As above.

    class Meta:
        constraints = (
            models.UniqueConstraint(
                "connection",
                "transfer_id",
                name="one_row_a_transfer",
                condition=~models.Q(transfer_id=""),
            ),
            models.UniqueConstraint(
                "connection",
                "info_hash",
                name="one_row_a_hash_without_id",
                condition=models.Q(transfer_id="") & ~models.Q(info_hash=""),
            ),
        )
        indexes = (models.Index("connection", "cleared_at", name="sent_shown"),)

    def __str__(self) -> str:
        return f"{self.title} ({self.transfer_id or self.info_hash})"

    @classmethod
    def record(
        cls, connection: str, *, transfer_id: str = "", info_hash: str = "", **facts: Any
    ) -> "Sent":
        """Return the transfer's only row, however often it is sent. Show it again if cleared."""
        with transaction.atomic():
            row = cls._find(connection, transfer_id, info_hash)
            if row is None:
                try:
                    with transaction.atomic():
                        return cls.objects.create(
                            connection=connection,
                            transfer_id=transfer_id,
                            info_hash=info_hash,
                            **facts,
                        )
                except IntegrityError:
                    # Another process wrote the row meanwhile: not every database locks it out.
                    row = cls._find(connection, transfer_id, info_hash)
                    if row is None:
                        raise
        if row.cleared_at is not None:
            row.cleared_at = None
            row.save(update_fields=["cleared_at"])
        return row

    @classmethod
    def _find(cls, connection: str, transfer_id: str, info_hash: str) -> "Sent | None":
        rows = cls.objects.filter(connection=connection).order_by("-pk")
        if transfer_id:
            return rows.filter(transfer_id=transfer_id).first()
        return rows.filter(info_hash=info_hash).first() if info_hash else None


class HiddenWish(models.Model):
    """A wish that a person has hidden, since v1 has no operation to remove wishes."""

    connection = models.CharField(max_length=16)  # The key of the service that keeps it.
    wish = models.CharField(max_length=64)

    class Meta:
        constraints = (models.UniqueConstraint("connection", "wish", name="one_row_a_hidden_wish"),)

    def __str__(self) -> str:
        return f"{self.wish} at {self.connection}"


class Category(models.Model):
    """A category into which other programs sort transfers, even while it has none."""

    name = models.CharField(max_length=100, unique=True)

    def __str__(self) -> str:
        return self.name
