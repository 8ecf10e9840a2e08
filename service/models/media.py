"""What is known about the content of films, music, and pictures."""

from django.db import models
from django.db.models import Q


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
    camera = models.JSONField(null=True)  # service.media.probe.Camera

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
