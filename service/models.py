"""The service's database rows, which must survive a restart."""

from datetime import datetime
from typing import ClassVar

from django.db import connection, models
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Now

from common.names import LONGEST_NAME

LARGEST_ID = 2**63 - 1
LINEAGE_DIGITS = 12
LONGEST_ADDRESS = 300
LONGEST_WORKER_NAME = 60
LONGEST_SENTENCE = 300


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

    objects: ClassVar[models.Manager["Account"]]

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(space_used_bytes__gte=0), name="space_used_is_never_negative"
            ),
        )

    def __str__(self) -> str:
        return self.email


class Guesses(models.Model):
    """The number of recent wrong passwords from one network, for one account, or both."""

    key = models.CharField(max_length=64, unique=True)
    count = models.PositiveIntegerField()
    since = models.DateTimeField(db_index=True)

    objects: ClassVar[models.Manager["Guesses"]]

    def __str__(self) -> str:
        return f"{self.count} since {self.since:%H:%M}"


class KnownNetwork(models.Model):
    """A network from which an account signed in; guesses from elsewhere never lock it out."""

    account = models.ForeignKey(Account, models.CASCADE)
    network = models.CharField(max_length=64)
    seen_at = models.DateTimeField(db_index=True)

    objects: ClassVar[models.Manager["KnownNetwork"]]

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

    objects: ClassVar[models.Manager["UploadPromise"]]

    def __str__(self) -> str:
        return f"{self.size_bytes} bytes until {self.expires_at:%H:%M}"


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

    objects: ClassVar[models.Manager["Folder"]]

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


class Media(models.Model):
    """What is known about a content, in one row for all files that have it.

    Adding a file never waits for this row: the worker adds missing rows later.
    """

    class Kind(models.TextChoices):
        PICTURE = "picture"
        VIDEO = "video"
        AUDIO = "audio"
        OTHER = "other"

    class State(models.TextChoices):
        """wanted ─> probed, or refused after MOST_TRIES (service.media.probing)."""

        WANTED = "wanted"
        PROBED = "probed"
        REFUSED = "refused"

    sha1 = models.CharField(max_length=40)
    size_bytes = models.BigIntegerField()

    # Wanted
    state = models.CharField(max_length=7, choices=State.choices, default=State.WANTED)
    tries = models.IntegerField(default=0)
    leased_until = models.DateTimeField(null=True)  # by the worker that is probing it

    # Observed
    kind = models.CharField(max_length=7, choices=Kind.choices, default="")  # empty until probed
    reason = models.CharField(max_length=200, default="")  # why it was refused, for people
    has_picture = models.BooleanField(default=False)  # itself, a frame, or a cover
    duration_ms = models.BigIntegerField(null=True)
    width = models.IntegerField(null=True)  # as shown: after the rotation
    height = models.IntegerField(null=True)
    probed = models.JSONField(default=dict)  # service.media.probe.Probed, for video and audio
    # When a picture was taken, by the camera's clock: `2024-07-01 11:22:33`.
    taken = models.CharField(max_length=19, null=True)  # noqa: DJ001  Added without a default.
    camera = models.JSONField(null=True)  # service.media.camera.Camera

    objects: ClassVar[models.Manager["Media"]]

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["sha1", "size_bytes"], name="one_a_content"),
        )
        indexes = (
            models.Index(fields=["id"], condition=Q(state="wanted"), name="wanted_media"),
            models.Index(
                fields=["id"],
                condition=Q(kind="picture", state="probed", has_picture=True, camera__isnull=True),
                name="picture_without_camera",
            ),
        )

    def __str__(self) -> str:
        return self.sha1


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

    objects: ClassVar[models.Manager["File"]]

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


class Discarded(models.Model):
    """A blob that a file no longer has. If no copy has it either, the sweep unlinks it when no
    download can be reading it."""

    blob = models.CharField(max_length=32, db_index=True)
    at = models.DateTimeField(db_index=True)

    objects: ClassVar[models.Manager["Discarded"]]

    def __str__(self) -> str:
        return self.blob

    @classmethod
    def take_over(cls, files: "QuerySet[File] | QuerySet[DeletedFile]", now: datetime) -> None:
        """Discard the files' blobs in one statement, since a folder may hold 100,000 files."""
        at = Value(now, models.DateTimeField())
        rows = files.annotate(at=at).order_by().values_list("blob", "at")
        select, values = rows.query.sql_with_params()
        table = cls._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {table} (blob, at) {select}", values)


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

    objects: ClassVar[models.Manager["DeletedItem"]]

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

    objects: ClassVar[models.Manager["DeletedFolder"]]

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

    objects: ClassVar[models.Manager["DeletedFile"]]

    class Meta:
        indexes = (models.Index(fields=["sha1", "size_bytes"], name="deleted_content"),)

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

    objects: ClassVar[models.Manager["MovedEntry"]]

    def __str__(self) -> str:
        return self.name


class Library(models.Model):
    """What the database knows about the whole library: one row, created when first needed.

    `service.library.upkeep.database_match` compares its number with the one that the library keeps
    beside the blobs.
    """

    generation = models.BigIntegerField(default=0)

    objects: ClassVar[models.Manager["Library"]]

    def __str__(self) -> str:
        return f"generation {self.generation}"


class TorrentFile(models.Model):
    """The .torrent of a transfer or wish, in its own table because lists never read it."""

    content = models.BinaryField()

    objects: ClassVar[models.Manager["TorrentFile"]]

    def __str__(self) -> str:
        return f"torrent {self.pk}"


class Transfer(models.Model):
    """A transfer: what the account requested, and what the worker observed last."""

    class Kind(models.TextChoices):
        MAGNET = "magnet"
        TORRENT = "torrent"
        URL = "url"
        UPLOAD = "upload"
        ZIP = "zip"  # a ZIP file of the library, to unpack

    class State(models.TextChoices):
        """The allowed changes of state are in service/transfers/states.py."""

        QUEUED = "queued"
        METADATA = "metadata"
        DOWNLOADING = "downloading"
        STALLED = "stalled"
        MOVING = "moving"
        DONE = "done"
        NO_ROOM = "no_room"
        FAILED = "failed"
        STOPPED = "stopped"

    OVER: ClassVar[tuple[str, ...]] = (State.DONE, State.FAILED)
    TORRENTS: ClassVar[tuple[str, ...]] = (Kind.MAGNET, Kind.TORRENT)
    FETCHES: ClassVar[tuple[str, ...]] = (Kind.URL, Kind.ZIP)

    # Wanted
    account = models.ForeignKey(Account, models.DO_NOTHING)
    kind = models.CharField(max_length=7, choices=Kind.choices)
    # The magnet link or URL, or the id of the ZIP file; empty for files that were sent.
    source = models.TextField()
    torrent = models.OneToOneField(TorrentFile, models.DO_NOTHING, null=True)
    folder = models.ForeignKey(Folder, models.DO_NOTHING)  # where the result goes
    created_at = models.DateTimeField()

    # Known at once, or once the metadata has arrived
    info_hash_v1 = models.CharField(max_length=40, default="")
    info_hash_v2 = models.CharField(max_length=64, default="")
    # The name of the result, reserved in `folder` until the transfer is over.
    title = models.CharField(max_length=LONGEST_NAME)
    title_key = models.CharField(max_length=LONGEST_NAME)
    is_private = models.BooleanField(default=False)
    size_bytes = models.BigIntegerField(default=0)  # 0 until it is known

    # The name of the worker that runs it, or empty
    leased_by = models.CharField(max_length=LONGEST_WORKER_NAME, default="")

    # Observed
    state = models.CharField(max_length=11, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(max_length=60, default="")  # a word: why it is in this state
    sentence = models.CharField(max_length=LONGEST_SENTENCE, default="")  # the same for people
    notice = models.CharField(max_length=60, default="")  # a word that stays true in any state
    strikes = models.IntegerField(default=0)  # times that the engine died while running it
    is_seeding = models.BooleanField(default=False)  # done, and still uploaded to peers
    uploaded_bytes = models.BigIntegerField(default=0)
    progress_percent = models.FloatField(default=0)  # 100 downloaded, 101 in its folder
    download_bytes_per_second = models.BigIntegerField(default=0)
    upload_bytes_per_second = models.BigIntegerField(default=0)
    peers_connected = models.IntegerField(default=0)
    peers_sending = models.IntegerField(default=0)  # to us
    peers_receiving = models.IntegerField(default=0)  # from us
    seeders = models.IntegerField(default=0)
    leechers = models.IntegerField(default=0)
    # Not foreign keys: the result may be deleted, and the transfer still names it.
    folder_created_id = models.BigIntegerField(null=True)
    file_created_id = models.BigIntegerField(null=True)
    updated_at = models.DateTimeField()

    objects: ClassVar[models.Manager["Transfer"]]

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["account", "info_hash_v1"],
                condition=~Q(info_hash_v1=""),
                name="one_transfer_a_v1",
            ),
            models.UniqueConstraint(
                fields=["account", "info_hash_v2"],
                condition=~Q(info_hash_v2=""),
                name="one_transfer_a_v2",
            ),
        )
        # Uploads are many, and done from the start: queries for other transfers never read them.
        indexes = (
            models.Index(fields=["account"], condition=~Q(state="done"), name="undone_by_account"),
            models.Index(
                fields=["folder", "title_key"], condition=~Q(state="done"), name="undone_by_name"
            ),
            models.Index(fields=["id"], condition=Q(is_seeding=True), name="seeding"),
            # Of hundreds of workers, each looks for its own transfers and for the next free ones.
            models.Index(fields=["leased_by"], condition=~Q(leased_by=""), name="leased"),
            models.Index(
                fields=["state", "account", "id", "kind", "size_bytes"],
                condition=~Q(state="done") & ~Q(state="failed") & Q(leased_by=""),
                name="free_undone",
            ),
            models.Index(
                fields=["id"], condition=Q(is_seeding=True) & Q(leased_by=""), name="free_seeding"
            ),
            # Of hundreds of workers, one fetches a torrent for all accounts that want it.
            models.Index(
                fields=["info_hash_v1"],
                condition=~Q(leased_by="") & ~Q(info_hash_v1=""),
                name="leased_v1",
            ),
            models.Index(
                fields=["info_hash_v2"],
                condition=~Q(leased_by="") & ~Q(info_hash_v2=""),
                name="leased_v2",
            ),
        )

    def __str__(self) -> str:
        return self.title

    @classmethod
    def running(cls) -> QuerySet["Transfer"]:
        """Return transfers that aren't over.

        SQLite uses the partial indexes only if each state is a condition by itself.
        """
        undone = cls.objects.exclude(state=cls.State.DONE)
        return undone.exclude(state=cls.State.FAILED)

    @property
    def wire_hash(self) -> str:
        return wire_hash(self.info_hash_v1, self.info_hash_v2)


class ImportRecord(models.Model):
    """Which files a torrent became, in its own table because lists never read it."""

    transfer = models.OneToOneField(Transfer, models.CASCADE)
    folder_id = models.BigIntegerField()  # not a foreign key: the folder may be deleted
    files = models.JSONField()  # a service.transfers.imports.Imported for each

    objects: ClassVar[models.Manager["ImportRecord"]]

    def __str__(self) -> str:
        return f"files of transfer {self.transfer_id}"


class SavedFetch(models.Model):
    """What the store has of the beginning of a fetch, for the worker that continues it."""

    transfer = models.OneToOneField(Transfer, models.CASCADE)
    resume = models.JSONField()  # a service.fetching.resume_point.ResumePoint
    parts = models.JSONField()  # the name and size of each file in the download folder, in order

    objects: ClassVar[models.Manager["SavedFetch"]]

    def __str__(self) -> str:
        return f"beginning of transfer {self.transfer_id}"


class Worker(models.Model):
    """A worker that runs transfers. Its leases hold as long as this row exists."""

    name = models.CharField(max_length=LONGEST_WORKER_NAME, unique=True)
    alive_until = models.DateTimeField()
    is_engine_alive = models.BooleanField(default=False)

    objects: ClassVar[models.Manager["Worker"]]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def alive(cls) -> QuerySet["Worker"]:
        """Return workers whose leases hold by the database's clock, which all machines share."""
        return cls.objects.filter(alive_until__gt=Now())


class MediaWorker(models.Model):
    """A worker that makes media for other machines, until its lease ends."""

    address = models.CharField(max_length=LONGEST_ADDRESS, unique=True)
    alive_until = models.DateTimeField()

    objects: ClassVar[models.Manager["MediaWorker"]]

    def __str__(self) -> str:
        return self.address


class Wish(models.Model):
    """A torrent that did not fit, kept until it does."""

    account = models.ForeignKey(Account, models.DO_NOTHING)
    folder = models.ForeignKey(Folder, models.DO_NOTHING)
    title = models.CharField(max_length=LONGEST_NAME)
    size_bytes = models.BigIntegerField()
    info_hash_v1 = models.CharField(max_length=40, default="")
    info_hash_v2 = models.CharField(max_length=64, default="")
    magnet = models.TextField()
    torrent = models.OneToOneField(TorrentFile, models.DO_NOTHING, null=True)
    is_private = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    objects: ClassVar[models.Manager["Wish"]]

    def __str__(self) -> str:
        return self.title

    @property
    def wire_hash(self) -> str:
        return wire_hash(self.info_hash_v1, self.info_hash_v2)


def numbered_id(folder_id: int) -> str:
    return f"{folder_id:0{LINEAGE_DIGITS}}"


def lineage_end(lineage: str) -> str:
    """Return the first lineage that sorts after every lineage beginning with `lineage`."""
    return f"{int(lineage) + 1:0{len(lineage)}}"


def wire_hash(v1: str, v2: str) -> str:
    """Return the hash for the API, which has only 40 digits: that of a v2-only torrent is cut."""
    return v1 or v2[:40]
