"""The site's own data. Files and folders belong to the service."""

import hashlib
import json
import secrets
from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import IntegrityError, models, transaction
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from webui import encryption


class Role(models.TextChoices):
    """Roles from the least to the most powerful; each includes those before it."""

    GUEST = "guest", _("Guest")  # browses, plays, downloads
    MEMBER = "member", _("Member")  # everything but people and connection
    OWNER = "owner", _("Owner")

    def includes(self, other: "Role") -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)


class Users(BaseUserManager["User"]):
    def create_user(self, username: str, password: str | None, role: Role) -> "User":
        user = self.model(username=self.model.normalize_username(username), role=role)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(
        self, username: str, password: str | None = None, **_fields: Any
    ) -> "User":
        """Create an owner, for Django's own `createsuperuser` command."""
        return self.create_user(username, password, role=Role.OWNER)

    def get_by_natural_key(self, username: str | None) -> "User":
        """Find a person regardless of case, since phones capitalize the first letter of a name."""
        return self.get(username__iexact=username)

    def has_owner(self) -> bool:
        return self.filter(role=Role.OWNER).exists()


class User(AbstractBaseUser):
    """A person who signs in to Ferry."""

    username = models.CharField(
        _("name"),
        max_length=150,
        unique=True,
        validators=[UnicodeUsernameValidator()],
        error_messages={"unique": _("Someone already has this name.")},
    )
    role = models.CharField(max_length=10, choices=Role.choices)
    # Empty: the language that the browser requests.
    language = models.CharField(max_length=10, default="")
    # Sessions, links, and codes record the epoch they were made in, and end with it.
    epoch = models.CharField(max_length=16, default="")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[Users] = Users()

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = (
            models.UniqueConstraint(
                Lower("username"),
                name="one_person_a_name",
                violation_error_message=_("Someone already has this name."),
            ),
        )

    def __str__(self) -> str:
        return self.username

    def save(self, *args: Any, **options: Any) -> None:
        """Begin a new epoch with each new password, whichever code sets it. Django leaves
        `_password` empty when it only rehashes the same password."""
        fields = options.get("update_fields")
        if getattr(self, "_password", None) is not None:
            self.epoch = new_epoch()
            options["update_fields"] = fields and {*fields, "epoch"}
        super().save(*args, **options)

    def begin_epoch(self) -> None:
        """End all sessions of this person, and all links and codes they have handed out."""
        self.epoch = new_epoch()
        self.save(update_fields=["epoch"])

    def get_session_auth_hash(self) -> str:
        """Return Django's own hash until the first epoch, so that an upgrade signs no one out."""
        of_password = super().get_session_auth_hash()
        if not self.epoch:
            return of_password
        return salted_hmac("ferry.epoch", f"{self.epoch} {of_password}").hexdigest()


def new_epoch() -> str:
    return secrets.token_hex(8)


class OneTimeLink(models.Model):
    """A link that lets its bearer do one thing once. Only a digest of its token is kept."""

    WELCOME = "welcome"
    INVITATION = "invitation"

    digest = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(max_length=20)
    # The role of the person invited; empty for other purposes.
    role = models.CharField(max_length=10, choices=Role.choices, default="")
    made_by = models.ForeignKey("User", on_delete=models.CASCADE, null=True)
    epoch = models.CharField(max_length=16, default="")  # of the person who made it
    expires_at = models.DateTimeField()

    objects: ClassVar[models.Manager["OneTimeLink"]]

    def __str__(self) -> str:
        return f"{self.purpose} until {self.expires_at:%H:%M}"


class Pairing(models.Model):
    """A device that is about to be signed in without typing a password on it.

    By link: a signed-in person makes the link, and the device opens it. By code: the waiting device
    makes the code, and a signed-in person approves it. The database holds only digests of both.
    """

    digest = models.CharField(max_length=64, unique=True)  # of the link or the device's cookie
    code_digest = models.CharField(max_length=64, default="", db_index=True)
    user = models.ForeignKey("User", on_delete=models.CASCADE, null=True)
    # The session that offered the link or approved the code; the pairing ends with it.
    session_key = models.CharField(max_length=40, default="")
    epoch = models.CharField(max_length=16, default="")
    agent = models.CharField(max_length=300, default="")
    address = models.CharField(max_length=64, default="")
    used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(db_index=True)

    objects: ClassVar[models.Manager["Pairing"]]

    def __str__(self) -> str:
        return f"pairing until {self.expires_at:%H:%M}"


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

    objects: ClassVar[models.Manager["ResumableUpload"]]

    def __str__(self) -> str:
        return f"{self.name}, until {self.expires_at:%Y-%m-%d}"

    @classmethod
    def find_unfinished(cls, now: datetime) -> models.QuerySet["ResumableUpload"]:
        return cls.objects.filter(expires_at__gt=now).exclude(state=cls.State.DONE)


class Device(models.Model):
    """A signed-in browser, as listed on its person's Account screen."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="devices")
    session_key = models.CharField(max_length=40, unique=True)
    agent = models.CharField(max_length=300)  # what the browser calls itself
    address = models.CharField(max_length=64)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField(db_index=True)

    objects: ClassVar[models.Manager["Device"]]

    def __str__(self) -> str:
        return f"{self.agent} at {self.address}"


class Throttle(models.Model):
    """The time of the next guess at a name or link, or by a network, device, or session."""

    key = models.CharField(max_length=64, unique=True)
    count = models.PositiveIntegerField()  # of wrong guesses
    since = models.DateTimeField()  # the last wrong guess
    next_at = models.DateTimeField()

    objects: ClassVar[models.Manager["Throttle"]]

    def __str__(self) -> str:
        return f"{self.count}, next at {self.next_at:%H:%M:%S}"


class Reservation(models.Model):
    """A time at which one network may try a password for one name or link."""

    key = models.CharField(max_length=64)  # of the throttle
    network = models.CharField(max_length=64)
    at = models.DateTimeField(db_index=True)
    made_at = models.DateTimeField()

    objects: ClassVar[models.Manager["Reservation"]]

    class Meta:
        constraints = (models.UniqueConstraint("key", "network", name="one_reservation_a_network"),)

    def __str__(self) -> str:
        return f"{self.network} at {self.at:%H:%M:%S}"


class Connection(models.Model):
    """The owner's account at a foreign service; at most one row. Its encrypted credentials are
    never shown."""

    url = models.CharField(max_length=500)
    sealed = models.TextField()

    objects: ClassVar[models.Manager["Connection"]]

    def __str__(self) -> str:
        return self.url

    @classmethod
    def store(cls, url: str, name: str, password: str) -> None:
        encrypted = encryption.encrypt(json.dumps([name, password]))
        cls.objects.update_or_create(pk=1, defaults={"url": url, "sealed": encrypted})

    @classmethod
    def forget(cls) -> None:
        cls.objects.all().delete()

    def credentials(self) -> tuple[str, str]:
        """Return the name and password. Raises CannotDecrypt if SECRET_KEY has changed."""
        name, password = json.loads(encryption.decrypt(self.sealed))
        return name, password


class ProgramPassword(models.Model):
    """The maker of the password with which other programs use Ferry's service; at most one row."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)

    objects: ClassVar[models.Manager["ProgramPassword"]]

    def __str__(self) -> str:
        return f"made by {self.user_id}"


class OwnerSetting(models.Model):
    """A setting that an owner changed on the Server screen, by the name of the environment."""

    name = models.CharField(max_length=40, unique=True)
    value = models.JSONField()

    objects: ClassVar[models.Manager["OwnerSetting"]]

    def __str__(self) -> str:
        return self.name


class Activity(models.Model):
    """An event that an owner may want to look up later, with the names that were used then."""

    class Kind(models.TextChoices):
        SIGNED_IN = "signed_in"
        PAIRED = "paired"
        FAILED = "failed"
        OWNER_MADE = "owner_made"
        PASSWORD_CHANGED = "password_changed"  # noqa: S105  A word.
        LINK_OFFERED = "link_offered"
        CODE_APPROVED = "code_approved"
        DEVICE_SIGNED_OUT = "device_signed_out"
        OTHERS_SIGNED_OUT = "others_signed_out"
        PERSON_SIGNED_OUT = "person_signed_out"
        INVITED = "invited"
        INVITATION_REVOKED = "invitation_revoked"
        JOINED = "joined"
        ROLE_CHANGED = "role_changed"
        REMOVED = "removed"
        TOKEN_MADE = "token_made"  # noqa: S105  A word.
        TOKEN_REVOKED = "token_revoked"  # noqa: S105  A word.
        SHARE_MADE = "share_made"
        SHARE_CHANGED = "share_changed"
        SHARE_REVOKED = "share_revoked"
        FILE_RECEIVED = "file_received"
        PROGRAMS_ALLOWED = "programs_allowed"
        PROGRAMS_BLOCKED = "programs_blocked"
        CONNECTED = "connected"
        DISCONNECTED = "disconnected"
        RENAMED = "renamed"
        SPACE_CHANGED = "space_changed"
        DELETED_DAYS_CHANGED = "deleted_days_changed"
        SERVER_NAMED = "server_named"
        ADDRESSES_CHANGED = "addresses_changed"
        MOVED = "moved"
        COPIED = "copied"
        MOVE_UNDONE = "move_undone"
        UNPACKED = "unpacked"
        UNPACKING_UNDONE = "unpacking_undone"
        DELETED = "deleted"
        NOT_DELETED = "not_deleted"
        UNDELETED = "undeleted"
        DELETED_FOR_GOOD = "deleted_for_good"
        TRANSFER_REMOVED = "transfer_removed"
        ACCOUNT_CHANGED = "account_changed"
        LINK_PRINTED = "link_printed"
        UNLOCKED = "unlocked"
        BACKED_UP = "backed_up"
        RESTORED = "restored"
        DATABASE_RESTORED = "database_restored"
        FILES_ADOPTED = "files_adopted"
        FILES_DISCARDED = "files_discarded"
        ORPHANS_RESTORED = "orphans_restored"
        ORPHANS_DELETED = "orphans_deleted"
        PROGRAM_FAILED = "program_failed"
        PROGRAM_DELETED = "program_deleted"
        PROGRAM_TRANSFER_REMOVED = "program_transfer_removed"

    at = models.DateTimeField(db_index=True)
    kind = models.CharField(max_length=24)
    # A person, or the account of another program, or empty if unknown.
    person = models.CharField(max_length=150, default="")
    subject = models.CharField(max_length=255, default="")
    detail = models.CharField(max_length=255, default="")  # a role, a new name, or a folder
    address = models.CharField(max_length=64, default="")  # empty: a command on this machine
    count = models.PositiveIntegerField(default=1)

    objects: ClassVar[models.Manager["Activity"]]

    class Meta:
        indexes = (models.Index("kind", "at", name="activity_of_kind"),)

    def __str__(self) -> str:
        return f"{self.kind} by {self.person} at {self.at:%H:%M}"


class Release(models.Model):
    """The newest Ferry that wrote to this database; one row. Older versions read this table, so no
    later migration may change it."""

    MIGRATION = "0012_release"

    version = models.CharField(max_length=32)

    objects: ClassVar[models.Manager["Release"]]

    def __str__(self) -> str:
        return self.version


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

    objects: ClassVar[models.Manager["Selection"]]

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

    objects: ClassVar[models.Manager["HeldDelete"]]

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

    objects: ClassVar[models.Manager["SortOrder"]]

    class Meta:
        constraints = (
            models.UniqueConstraint("user", "service", "folder", name="one_order_a_folder"),
        )

    def __str__(self) -> str:
        return f"{self.folder} by {self.sort}"


class NameIndex(models.Model):
    """The names of everything at a service that can't search, as far as the worker has read them.

    The worker that advances `next_at` may read the service next; a failure advances it further."""

    service = models.CharField(max_length=16, unique=True)
    wanted_at = models.DateTimeField()  # when people last searched
    next_at = models.DateTimeField()
    is_full = models.BooleanField(db_default=False)

    objects: ClassVar[models.Manager["NameIndex"]]

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

    objects: ClassVar[models.Manager["IndexedFolder"]]

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

    objects: ClassVar[models.Manager["IndexedEntry"]]

    class Meta:
        indexes = (
            models.Index(fields=["-added", "-id"], name="newest_indexed"),
            models.Index(fields=["entry_id"], name="entry_by_id"),
        )

    def __str__(self) -> str:
        return self.name


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

    objects: ClassVar[models.Manager["Sent"]]

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

    objects: ClassVar[models.Manager["HiddenWish"]]

    class Meta:
        constraints = (models.UniqueConstraint("connection", "wish", name="one_row_a_hidden_wish"),)

    def __str__(self) -> str:
        return f"{self.wish} at {self.connection}"


class SendToken(models.Model):
    """A token that lets its bearer's scripts send items to Ferry, and nothing else. Only its hash
    is kept; with 256 random bits, it needs no slow hash."""

    user = models.ForeignKey("User", on_delete=models.CASCADE)
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager["SendToken"]]

    def __str__(self) -> str:
        return self.name


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

    objects: ClassVar[models.Manager["Watched"]]

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


class Share(models.Model):
    """A link for other people. It opens a page, or a file or playlist in players without cookies.

    The row has a digest of the link's token, and the token encrypted with a key that the database
    doesn't have. So its maker can see the link again, but a copy of the database alone, such as a
    dump kept elsewhere, opens no link. The link ends when it expires, when the person who made it
    is removed or begins a new epoch (as a new password does), and when it is revoked, which deletes
    the row. Once it has been opened as often as allowed, only visitors who are inside stay, for
    some hours.
    """

    digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey("User", on_delete=models.CASCADE)
    password_mark = models.CharField(max_length=64)
    service = models.CharField(max_length=16)
    kind = models.CharField(max_length=6)  # file or folder
    entry_id = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    expires_at = models.DateTimeField(db_index=True, null=True)  # None: never
    # What follows belongs to links that open a page. The database has the defaults, since the
    # previous version of Ferry adds rows while a new one starts.
    folder = models.CharField(max_length=64, db_default="")
    only = models.JSONField(null=True)  # The keys of the entries, or None for the whole folder.
    label = models.CharField(max_length=60, db_default="")
    password = models.CharField(max_length=128, db_default="")
    most_uses = models.PositiveIntegerField(null=True)
    uses = models.PositiveIntegerField(db_default=0)
    takes_files = models.BooleanField(db_default=False)
    most_bytes = models.BigIntegerField(null=True)
    received_bytes = models.BigIntegerField(db_default=0)
    # Of all links. Empty if the link is older than this column.
    sealed = models.TextField(db_default="")
    last_used_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager["Share"]]

    def __str__(self) -> str:
        return self.label or self.name

    @property
    def asks_first(self) -> bool:
        """Return whether visitors see a form first: scanners and previews open links, too."""
        return bool(self.password) or self.most_uses is not None

    def decrypt_token(self) -> str | None:
        """Return the token, or None if it wasn't kept or SECRET_KEY has changed."""
        try:
            return encryption.decrypt(self.sealed, token_purpose(self.digest))
        except encryption.CannotDecrypt:
            return None


class HeldBytes(models.Model):
    """What a file that is being received takes of its link's limit, until it is there or given up.

    A process that is killed holds it a little longer.
    """

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="held")
    size_bytes = models.BigIntegerField()
    until = models.DateTimeField()

    objects: ClassVar[models.Manager["HeldBytes"]]

    def __str__(self) -> str:
        return f"{self.size_bytes} B of {self.share}"


def token_purpose(digest: str) -> str:
    """Return what a token is encrypted for: one row, so that another row can't reveal it."""
    return f"link {digest}"


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
