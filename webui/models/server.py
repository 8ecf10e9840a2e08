"""What everyone shares: the connected service, settings, and the version."""

import json

from django.db import models

from webui import encryption
from webui.models.people import User


class Connection(models.Model):
    """The owner's account at a foreign service; at most one row. Its encrypted credentials are
    never shown."""

    url = models.CharField(max_length=500)
    sealed = models.TextField()

    def __str__(self) -> str:
        return self.url

    @classmethod
    def store(cls, url: str, name: str, password: str) -> None:
        encrypted = encryption.encrypt(json.dumps([name, password]))
        cls.objects.update_or_create(pk=1, defaults={"url": url, "sealed": encrypted})

    def credentials(self) -> tuple[str, str]:
        """Return the name and password. Raises CannotDecrypt if SECRET_KEY has changed."""
        name, password = json.loads(encryption.decrypt(self.sealed))
        return name, password


class ProgramPassword(models.Model):
    """The maker of the password with which other programs use Ferry's service; at most one row."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)

    def __str__(self) -> str:
        return f"made by {self.user_id}"


class OwnerSetting(models.Model):
    """A setting that an owner changed on the Server screen, by the name of the environment."""

    name = models.CharField(max_length=40, unique=True)
    value = models.JSONField()

    def __str__(self) -> str:
        return self.name


class Release(models.Model):
    """The newest Ferry that wrote to this database; one row. Older versions read this table, so no
    later migration may change it."""

    MIGRATION = "0012_release"

    version = models.CharField(max_length=32)

    def __str__(self) -> str:
        return self.version
