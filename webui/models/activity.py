"""Who did what."""

from django.db import models


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

    class Meta:
        indexes = (models.Index("kind", "at", name="activity_of_kind"),)

    def __str__(self) -> str:
        return f"{self.kind} by {self.person} at {self.at:%H:%M}"
