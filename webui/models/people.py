"""People, and what they may do."""

import secrets
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _


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
