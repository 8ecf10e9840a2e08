"""What people have set for the speeds, the slots, and the seeding of all transfers."""

from datetime import datetime

from django.db import models

HALF_HOURS = 7 * 48  # of a week


class Limits(models.Model):
    """The only row of its table. A setting applies where a value is null."""

    download_bytes_per_second = models.BigIntegerField(null=True)  # 0: no limit, like the next
    upload_bytes_per_second = models.BigIntegerField(null=True)
    active_transfers = models.IntegerField(null=True)
    seed_ratio = models.FloatField(null=True)
    seed_minutes = models.IntegerField(null=True)
    slow_download_bytes_per_second = models.BigIntegerField(default=1_000_000)
    slow_upload_bytes_per_second = models.BigIntegerField(default=100_000)
    # 1 for each half hour from Monday on in which the slow speeds apply, else 0
    schedule = models.CharField(max_length=HALF_HOURS, default="0" * HALF_HOURS)
    # What applies whatever the schedule says: slow, full, or, if it is empty, nothing
    switched_to = models.CharField(max_length=4, default="")
    switched_until = models.DateTimeField(null=True)  # null: until the next switch

    def __str__(self) -> str:
        return "limits"

    def is_switched(self, now: datetime) -> bool:
        return bool(self.switched_to) and (self.switched_until is None or now < self.switched_until)
