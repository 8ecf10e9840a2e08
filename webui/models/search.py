"""Names of a service that can't search."""

from django.db import models


class NameIndex(models.Model):
    """The names of everything at a service that can't search, as far as the worker has read them.

    The worker that advances `next_at` may read the service next; a failure advances it further."""

    service = models.CharField(max_length=16, unique=True)
    wanted_at = models.DateTimeField()  # when people last searched
    next_at = models.DateTimeField()
    is_full = models.BooleanField(db_default=False)

    def __str__(self) -> str:
        return f"{self.service}, wanted at {self.wanted_at:%H:%M}"


class IndexedFolder(models.Model):
    """A folder that the worker has read, or is going to."""

    index = models.ForeignKey(NameIndex, on_delete=models.CASCADE)
    folder = models.CharField(max_length=64)  # "0" for the root
    parent = models.CharField(max_length=64, default="")
    name = models.CharField(max_length=1024, default="")
    etag = models.CharField(max_length=200, default="")
    is_read = models.BooleanField(default=False)
    is_changed = models.BooleanField(default=False)  # by people, since it was read
    due_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint("index", "folder", name="one_row_a_folder"),)
        indexes = (
            models.Index("index", "is_read", "due_at", name="folder_due"),
            models.Index("index", "is_changed", name="folder_changed"),
            models.Index("index", "parent", name="folder_in_parent"),
        )

    def __str__(self) -> str:
        return self.name


class IndexedEntry(models.Model):
    """A file or folder in an indexed folder."""

    folder = models.ForeignKey(IndexedFolder, on_delete=models.CASCADE)
    kind = models.CharField(max_length=8)
    entry_id = models.CharField(max_length=64)
    name = models.CharField(max_length=1024)
    search_text = models.TextField()
    size_bytes = models.BigIntegerField(null=True)
    added = models.BigIntegerField()  # seconds since 1970; 0 if the service doesn't say

    class Meta:
        indexes = (
            models.Index(fields=["-added", "-id"], name="newest_indexed"),
            models.Index(fields=["entry_id"], name="entry_by_id"),
        )

    def __str__(self) -> str:
        return self.name
