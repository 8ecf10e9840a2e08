"""Transfers, and what they leave behind."""

from typing import ClassVar

from django.db import models
from django.db.models import Q, QuerySet

from common.names import LONGEST_NAME
from service.models.accounts import Account
from service.models.library import Folder
from service.models.workers import LONGEST_WORKER_NAME


class TorrentFile(models.Model):
    """The .torrent of a transfer or wish, in its own table because lists never read it."""

    content = models.BinaryField()

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
    # The account's transfers get slots in this order. It's below 0 if a person put it first.
    rank = models.BigIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField()
    limits = models.JSONField(null=True)  # of its own: service.torrents.orders.TransferLimits

    # Known at once, or once the metadata has arrived
    info_hash_v1 = models.CharField(max_length=40, default="")
    info_hash_v2 = models.CharField(max_length=64, default="")
    # The name of the result, reserved in `folder` until the transfer is over.
    title = models.CharField(max_length=LONGEST_NAME)
    title_key = models.CharField(max_length=LONGEST_NAME)
    is_private = models.BooleanField(default=False)
    size_bytes = models.BigIntegerField(default=0)  # 0 until it is known; of what is wanted
    choice = models.IntegerField(default=0, db_default=0)  # how often people chose its files
    file_count = models.IntegerField(default=0, db_default=0)  # of a torrent, once it is known
    # Whether it stops once its files are known, until people choose
    chooses = models.BooleanField(default=False, db_default=False)

    # The name of the worker that runs it, or empty
    leased_by = models.CharField(max_length=LONGEST_WORKER_NAME, default="")

    # Observed
    state = models.CharField(max_length=11, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(max_length=60, default="")  # a word: why it is in this state
    # A service.details.Details, as JSON
    details = models.TextField(null=True)  # noqa: DJ001  Added without a default.
    # Only earlier versions, which may run beside this one, read and write it.
    sentence = models.CharField(max_length=300, default="")
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
            models.Index(
                fields=["account", "rank"], condition=~Q(state="done"), name="undone_by_account"
            ),
            models.Index(
                fields=["folder", "title_key"], condition=~Q(state="done"), name="undone_by_name"
            ),
            models.Index(fields=["id"], condition=Q(is_seeding=True), name="seeding"),
            # Of hundreds of workers, each looks for its own transfers and for the next free ones.
            models.Index(fields=["leased_by"], condition=~Q(leased_by=""), name="leased"),
            models.Index(
                fields=["state", "account", "rank", "id", "kind", "size_bytes"],
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


class TransferFiles(models.Model):
    """The files of a torrent and the choice among them, in its own table: lists never read it."""

    transfer = models.OneToOneField(Transfer, models.CASCADE)
    files = models.JSONField()  # a service.transfers.imports.TorrentEntry for each
    unwanted = models.JSONField()  # indexes, in order
    percents = models.JSONField(default=list)  # how much of each has arrived, by index

    def __str__(self) -> str:
        return f"choice of transfer {self.transfer_id}"


class TransferDetails(models.Model):
    """What people see of one transfer, in its own table because lists never read it."""

    transfer = models.OneToOneField(Transfer, models.CASCADE)
    log = models.JSONField(default=list)  # the last service.details.LogEntry of each
    # When people last looked. While they do, the worker asks the engine for its swarm.
    looked_at = models.DateTimeField(null=True)
    swarm = models.JSONField(null=True)  # service.torrents.events.Swarm
    swarm_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=["looked_at"], condition=Q(looked_at__isnull=False), name="looks"),
        )

    def __str__(self) -> str:
        return f"details of transfer {self.transfer_id}"


class ImportRecord(models.Model):
    """Which files a torrent became, in its own table because lists never read it."""

    transfer = models.OneToOneField(Transfer, models.CASCADE)
    folder_id = models.BigIntegerField()  # not a foreign key: the folder may be deleted
    files = models.JSONField()  # a service.transfers.imports.Imported for each

    def __str__(self) -> str:
        return f"files of transfer {self.transfer_id}"


class SavedFetch(models.Model):
    """What the store has of the beginning of a fetch, for the worker that continues it."""

    transfer = models.OneToOneField(Transfer, models.CASCADE)
    resume = models.JSONField()  # a service.fetching.resume_point.ResumePoint
    parts = models.JSONField()  # the name and size of each file in the download folder, in order

    def __str__(self) -> str:
        return f"beginning of transfer {self.transfer_id}"


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
    chooses = models.BooleanField(default=False, db_default=False)  # as in a transfer
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.title

    @property
    def wire_hash(self) -> str:
        return wire_hash(self.info_hash_v1, self.info_hash_v2)


def wire_hash(v1: str, v2: str) -> str:
    """Return the hash for the API, which has only 40 digits: that of a v2-only torrent is cut."""
    return v1 or v2[:40]
