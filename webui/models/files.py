"""What the site knows about entries that the service doesn't."""

from django.db import models

from webui.models.people import User


class Selection(models.Model):
    """Entries that a person selected for one ZIP, kept until the download link expires."""

    key = models.CharField(max_length=43, unique=True)
    user = models.ForeignKey("User", on_delete=models.CASCADE)
    service = models.CharField(max_length=16)
    folder = models.CharField(max_length=64)
    entries = models.JSONField()
    is_whole = models.BooleanField()
    size_bytes = models.BigIntegerField(null=True)  # None if any size is unknown
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{len(self.entries)} of {self.folder} until {self.expires_at:%H:%M}"


class HeldDelete(models.Model):
    """An entry or transfer that a person has deleted, and that the service deletes once it can't be
    undone anymore: not every service can restore what it has deleted."""

    TRANSFER = "transfer"

    batch = models.CharField(max_length=22, db_index=True)
    service = models.CharField(max_length=16)
    folder = models.CharField(max_length=64)
    kind = models.CharField(max_length=8)  # file, folder, or transfer
    entry_id = models.CharField(max_length=64)
    name = models.CharField(max_length=1024)
    held_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)
    has_begun = models.BooleanField(default=False)

    class Meta:
        indexes = (models.Index("service", "folder", name="held_in_folder"),)

    def __str__(self) -> str:
        return self.name


class SortOrder(models.Model):
    """The order in which a person last sorted a folder."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    service = models.CharField(max_length=16)
    folder = models.CharField(max_length=64)
    sort = models.CharField(max_length=8)

    class Meta:
        constraints = (
            models.UniqueConstraint("user", "service", "folder", name="one_order_a_folder"),
        )

    def __str__(self) -> str:
        return f"{self.folder} by {self.sort}"


class Watched(models.Model):
    """How far a person got in a film. Renaming the file keeps this row; deleting it doesn't."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    service = models.CharField(max_length=16)
    file = models.CharField(max_length=64)
    folder = models.CharField(max_length=64)
    position_seconds = models.FloatField(default=0)
    duration_seconds = models.FloatField(default=0)  # 0: unknown
    is_watched = models.BooleanField(default=False)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint("user", "service", "file", name="one_position_a_film"),
        )
        indexes = (
            models.Index("user", "service", "folder", name="watched_in_folder"),
            models.Index("service", "file", name="watched_of_file"),
        )

    def __str__(self) -> str:
        return f"{self.file} at {self.position_seconds:.0f} s"
