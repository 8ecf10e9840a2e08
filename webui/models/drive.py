"""What programs leave on the drive, beside folders and files."""

from django.db import models


class DriveLock(models.Model):
    """A lock that a program has on a path of the library, as other programs see it. The site itself
    ignores it."""

    service = models.CharField(max_length=16)
    path = models.TextField()  # from the root, with names as the drive shows them
    token = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey("User", on_delete=models.CASCADE)
    is_shared = models.BooleanField()
    is_deep = models.BooleanField()  # everything below the path, too
    owner = models.TextField()  # XML of the program
    seconds = models.PositiveIntegerField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.path} until {self.expires_at:%H:%M}"


class DriveProperties(models.Model):
    """Properties that programs gave an entry: XML that means nothing to Ferry, by its name."""

    service = models.CharField(max_length=16)
    entry = models.CharField(max_length=72)  # the entry's key
    values = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint("service", "entry", name="one_row_an_entry"),)

    def __str__(self) -> str:
        return f"{len(self.values)} of {self.entry}"
