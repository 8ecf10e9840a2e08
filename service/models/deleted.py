"""What was deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection, models
from django.db.models import QuerySet, Value

from common.names import LONGEST_NAME
from service.models.accounts import Account
from service.models.library import File


class Discarded(models.Model):
    """A blob that a file no longer has. If no copy has it either, the sweep unlinks it when no
    download can be reading it."""

    blob = models.CharField(max_length=32, db_index=True)
    at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.blob

    @classmethod
    def take_over(cls, files: "QuerySet[File] | QuerySet[DeletedFile]", now: datetime) -> None:
        """Discard the files' blobs."""
        copy_rows(files, cls, {"at": Value(now, models.DateTimeField())}, ["blob"])


class DeletedItem(models.Model):
    """A file or folder that someone deleted and can still restore.

    Its rows have moved to the tables below, so that nothing else has to know about it.
    """

    account = models.ForeignKey(Account, models.DO_NOTHING)
    batch = models.BigIntegerField(db_index=True)  # the first of the items deleted together
    is_folder = models.BooleanField()
    entry_id = models.BigIntegerField()  # the id that it had, and gets again
    name = models.CharField(max_length=LONGEST_NAME)
    folder_id = models.BigIntegerField()  # where it was
    path = models.TextField()  # of that folder
    lineage = models.TextField()  # of a deleted folder
    incoming = models.JSONField(null=True)  # library.Incoming, of a deleted folder
    size_bytes = models.BigIntegerField()
    deleted_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name


class DeletedFolder(models.Model):
    """The row of a folder that an item contains, or is."""

    item = models.ForeignKey(DeletedItem, models.DO_NOTHING)
    entry_id = models.BigIntegerField()
    parent_id = models.BigIntegerField()
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME)
    search_text = models.TextField()
    lineage = models.TextField()
    size_bytes = models.BigIntegerField()
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class DeletedFile(models.Model):
    """The row of a file that an item contains, or is. It still owns its blob."""

    item = models.ForeignKey(DeletedItem, models.DO_NOTHING)
    entry_id = models.BigIntegerField()
    folder_id = models.BigIntegerField()
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME)
    search_text = models.TextField()
    size_bytes = models.BigIntegerField()
    sha1 = models.CharField(max_length=40)
    crc32 = models.BigIntegerField()
    blob = models.CharField(max_length=32, db_index=True)
    updated_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["sha1", "size_bytes"], name="deleted_content"),)

    def __str__(self) -> str:
        return self.name


def copy_rows(
    rows: QuerySet[Any], into: type[models.Model], given: dict[str, Any], same: Sequence[str]
) -> None:
    """Copy rows in one statement, since a folder may hold 100,000 files.

    Columns in `given` get these expressions, and those in `same` what they have.
    """
    chosen = rows.order_by().values_list(*given.values(), *same)
    select, values = chosen.query.sql_with_params()
    columns = ", ".join([*given, *same])
    table = into._meta.db_table  # noqa: SLF001  Django documents it.
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({columns}) {select}", values)
