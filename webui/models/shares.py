"""Links for other people."""

from django.db import models

from webui import encryption
from webui.models.signin import token_purpose


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

    def __str__(self) -> str:
        return f"{self.size_bytes} B of {self.share}"
