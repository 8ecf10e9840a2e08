"""Folders and files."""

from django.db import models
from django.db.models import Q

from common.names import LONGEST_NAME
from service.models.accounts import Account
from service.models.media import Media

LARGEST_ID = 2**63 - 1
LINEAGE_DIGITS = 12


class Folder(models.Model):
    """A folder; the root has no parent and no name.

    `lineage` joins the ids from the root down to this folder, 12 digits each. The folders below
    are a range of the index, and the order of lineages is that of a depth-first walk, under the
    collation of any database.
    """

    # One statement deletes many rows (see library.delete_folder); only the database checks keys.
    account = models.ForeignKey(Account, models.DO_NOTHING)
    parent = models.ForeignKey("self", models.DO_NOTHING, null=True, related_name="folders")
    name = models.CharField(max_length=LONGEST_NAME)
    # The name in NFC, by which siblings are compared.
    name_key = models.CharField(max_length=LONGEST_NAME)
    search_text = models.TextField(db_default="")  # see common.search_text
    lineage = models.TextField(db_index=True)
    size_bytes = models.BigIntegerField(default=0)  # of everything below
    updated_at = models.DateTimeField()  # when anything below last changed

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["parent", "name_key"], name="one_folder_a_name"),
            models.UniqueConstraint(fields=["account"], condition=Q(parent=None), name="one_root"),
        )
        indexes = (
            models.Index(fields=["id"], condition=Q(search_text=""), name="folder_without_text"),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def depth(self) -> int:
        """Return how deep this folder is; the root has 0."""
        return len(self.lineage) // LINEAGE_DIGITS - 1

    @property
    def ids_from_root(self) -> list[int]:
        """Return the ids of the root, of each folder down the path, and of this folder."""
        starts = range(0, len(self.lineage), LINEAGE_DIGITS)
        return [int(self.lineage[start : start + LINEAGE_DIGITS]) for start in starts]

    def lineage_of(self, folder_id: int) -> str:
        """Return the lineage of a folder in this one."""
        return f"{self.lineage}{folder_id:0{LINEAGE_DIGITS}}"


class File(models.Model):
    """A file; its bytes are a blob in the store, which copies of the file share."""

    account = models.ForeignKey(Account, models.DO_NOTHING)
    folder = models.ForeignKey(Folder, models.DO_NOTHING, related_name="files")
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME)
    search_text = models.TextField(db_default="")  # "" until it is known
    size_bytes = models.BigIntegerField()
    sha1 = models.CharField(max_length=40)
    crc32 = models.BigIntegerField()
    blob = models.CharField(max_length=32, db_index=True)
    updated_at = models.DateTimeField()  # when its content last changed
    # Not a column: joins files and media by content, whether or not the media row exists.
    media = models.ForeignObject(
        Media,
        models.DO_NOTHING,
        from_fields=["sha1", "size_bytes"],
        to_fields=["sha1", "size_bytes"],
        related_name="files",
        null=True,
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["folder", "name_key"], name="one_file_a_name"),
        )
        indexes = (
            models.Index(fields=["sha1", "size_bytes"], name="file_by_content"),
            models.Index(fields=["account", "size_bytes"], name="file_by_size"),
            models.Index(fields=["id"], condition=Q(search_text=""), name="file_without_text"),
        )

    def __str__(self) -> str:
        return self.name


class MovedEntry(models.Model):
    """A record of one entry that a move or copy affected, from which to undo the change.

    It was moved from `folder_id`, or copied, or deleted, since the others replaced it.
    """

    account = models.ForeignKey(Account, models.DO_NOTHING)
    batch = models.BigIntegerField(default=0, db_index=True)  # the first row of the same move
    is_folder = models.BooleanField()
    entry_id = models.BigIntegerField()
    folder_id = models.BigIntegerField(null=True)  # where it was
    name = models.CharField(max_length=LONGEST_NAME)
    size_bytes = models.BigIntegerField()
    target_id = models.BigIntegerField()  # where it was put
    deleted_item_id = models.BigIntegerField(null=True)
    moved_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name


class Library(models.Model):
    """What the database knows about the whole library: one row, created when first needed.

    `service.library.upkeep.database_match` compares its number with the one that the library keeps
    beside the blobs.
    """

    generation = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"generation {self.generation}"


def lineage_end(lineage: str) -> str:
    """Return the first lineage that sorts after every lineage beginning with `lineage`."""
    return f"{int(lineage) + 1:0{len(lineage)}}"
