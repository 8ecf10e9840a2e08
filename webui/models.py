"""What only the site knows. Files and folders are the service's."""

import hashlib
import json
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from webui import sealing


class Role(models.TextChoices):
    """From the least to the most; each may do what those before it may."""

    GUEST = "guest", _("Guest")  # looks, plays, downloads
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
        """Django's own `createsuperuser` makes an owner."""
        return self.create_user(username, password, role=Role.OWNER)

    def get_by_natural_key(self, username: str | None) -> "User":
        """Phones begin names with a capital letter; that is no other person."""
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
        error_messages={"unique": _("Somebody has this name already.")},
    )
    role = models.CharField(max_length=10, choices=Role.choices)
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
                violation_error_message=_("Somebody has this name already."),
            ),
        )

    def __str__(self) -> str:
        return self.username


class OneTimeLink(models.Model):
    """A link that lets its bearer do one thing once. Only a digest of its token is kept."""

    WELCOME = "welcome"

    digest = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(max_length=20)
    expires_at = models.DateTimeField()

    objects: ClassVar[models.Manager["OneTimeLink"]]

    def __str__(self) -> str:
        return f"{self.purpose} until {self.expires_at:%H:%M}"

    @classmethod
    def issue(cls, purpose: str, now: datetime, lifetime: timedelta) -> str:
        token = secrets.token_urlsafe(32)
        cls.objects.create(digest=digest_of(token), purpose=purpose, expires_at=now + lifetime)
        return token

    @classmethod
    def is_good(cls, purpose: str, token: str, now: datetime) -> bool:
        return cls._of(purpose, token, now).exists()

    @classmethod
    def consume(cls, purpose: str, token: str, now: datetime) -> bool:
        """True for exactly one caller, however many come at once."""
        deleted, _by_model = cls._of(purpose, token, now).delete()
        return deleted == 1

    @classmethod
    def _of(cls, purpose: str, token: str, now: datetime) -> models.QuerySet["OneTimeLink"]:
        return cls.objects.filter(digest=digest_of(token), purpose=purpose, expires_at__gt=now)


class Attempts(models.Model):
    """How often somebody tried to sign in lately: from one address, or for one name."""

    key = models.CharField(max_length=64, unique=True)
    count = models.PositiveIntegerField()
    since = models.DateTimeField(db_index=True)

    objects: ClassVar[models.Manager["Attempts"]]

    def __str__(self) -> str:
        return f"{self.count} since {self.since:%H:%M}"


class Connection(models.Model):
    """The owner's account at a foreign service; at most one. It is sealed, and never shown."""

    url = models.CharField(max_length=500)
    sealed = models.TextField()
    checked_at = models.DateTimeField()

    objects: ClassVar[models.Manager["Connection"]]

    def __str__(self) -> str:
        return self.url

    @classmethod
    def keep(cls, url: str, name: str, password: str, now: datetime) -> None:
        sealed = sealing.seal(json.dumps([name, password]))
        cls.objects.update_or_create(
            pk=1, defaults={"url": url, "sealed": sealed, "checked_at": now}
        )

    @classmethod
    def forget(cls) -> None:
        cls.objects.all().delete()

    def credentials(self) -> tuple[str, str]:
        """Raises sealing.Broken where SECRET_KEY is another than it was."""
        name, password = json.loads(sealing.unseal(self.sealed))
        return name, password


class Selection(models.Model):
    """Entries that somebody chose to have as one ZIP, kept for as long as the link is good."""

    key = models.CharField(max_length=43, unique=True)
    user = models.ForeignKey("User", on_delete=models.CASCADE)
    service = models.CharField(max_length=16)
    folder = models.CharField(max_length=64)
    entries = models.JSONField()
    is_whole = models.BooleanField()
    size_bytes = models.BigIntegerField()
    expires_at = models.DateTimeField(db_index=True)

    objects: ClassVar[models.Manager["Selection"]]

    def __str__(self) -> str:
        return f"{len(self.entries)} of {self.folder} until {self.expires_at:%H:%M}"


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
