"""How people get in, and how guessing is slowed down."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from webui.models.people import Role, User


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

    def __str__(self) -> str:
        return f"pairing until {self.expires_at:%H:%M}"


class Device(models.Model):
    """A signed-in browser, as listed on its person's Account screen."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="devices")
    session_key = models.CharField(max_length=40, unique=True)
    agent = models.CharField(max_length=300)  # what the browser calls itself
    address = models.CharField(max_length=64)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.agent} at {self.address}"


class Throttle(models.Model):
    """The time of the next guess at a name or link, or by a network, device, or session."""

    key = models.CharField(max_length=64, unique=True)
    count = models.PositiveIntegerField()  # of wrong guesses
    since = models.DateTimeField()  # the last wrong guess
    next_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.count}, next at {self.next_at:%H:%M:%S}"


class Reservation(models.Model):
    """A time at which one network may try a password for one name or link."""

    key = models.CharField(max_length=64)  # of the throttle
    network = models.CharField(max_length=64)
    at = models.DateTimeField(db_index=True)
    made_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint("key", "network", name="one_reservation_a_network"),)

    def __str__(self) -> str:
        return f"{self.network} at {self.at:%H:%M:%S}"


class Token(models.Model):
    """A token that lets a person's programs in at one door, and nowhere else. Only its hash is
    kept; with 256 random bits, it needs no slow hash."""

    class Purpose(models.TextChoices):
        SEND = "send", _("Send items")
        DRIVE = "drive", _("Open files as a drive")
        PROGRAMS = "programs", _("For other programs")

    user = models.ForeignKey("User", on_delete=models.CASCADE)
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    # The database has the defaults, since earlier versions of Ferry add tokens that send.
    purpose = models.CharField(max_length=10, choices=Purpose.choices, db_default=Purpose.SEND)
    may_write = models.BooleanField(db_default=True)
    # The folder to which it is limited, and the service that has it; empty: no limit.
    service = models.CharField(max_length=16, db_default="")
    folder = models.CharField(max_length=64, db_default="")
    folder_name = models.CharField(max_length=255, db_default="")

    class Meta:
        db_table = "webui_sendtoken"

    def __str__(self) -> str:
        return self.name


def token_purpose(digest: str) -> str:
    """Return what a token is encrypted for: one row, so that another row can't reveal it."""
    return f"link {digest}"
