"""How much space an account has left, and who may take it."""

from contextlib import suppress
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from service.accounts import accounts
from service.errors import NoRoom
from service.models import Account, UploadPromise

LIFETIME = timedelta(minutes=10)
RENEW_AFTER = timedelta(minutes=1)
# Smaller uploads promise nothing: a row would cost as much as they do.
LEAST_BYTES = 2**18
# An upload of unknown size promises so much more than has arrived.
STEP_BYTES = 16 * 2**20


def free_bytes(account: Account) -> int:
    return max(0, account.space_max_bytes - account.space_used_bytes)


def take(locked: Account, size_bytes: int) -> None:
    """Take space for a file. Raises NoRoom."""
    if size_bytes > free_bytes(locked):
        raise NoRoom
    locked.space_used_bytes += size_bytes


def promises(now: datetime) -> QuerySet[UploadPromise]:
    return UploadPromise.objects.filter(expires_at__gt=now)


def promised_bytes(account: Account, but: int = 0) -> int:
    """Return what uploads to an account will take, but for one of the promises."""
    others = promises(timezone.now()).filter(account=account).exclude(pk=but)
    total: int = others.aggregate(bytes=Sum("size_bytes", default=0))["bytes"]
    return total


def summarize_promises(now: datetime) -> list[tuple[str, int, int]]:
    """Return each account's email, and how many uploads promise how many bytes."""
    by_email = promises(now).values_list("account__email").order_by("account__email")
    return list(by_email.annotate(Count("pk"), Sum("size_bytes")))


class Promise:
    """Space for one upload, which no other upload and no new transfer can take meanwhile."""

    def __init__(self, account: Account, expected_bytes: int) -> None:
        """`expected_bytes`: the length of the upload, or 0 if it is unknown."""
        self.room_bytes = free_bytes(account) - promised_bytes(account)
        self._account = account
        self._expected_bytes = expected_bytes
        self._row: UploadPromise | None = None

    def cover(self, size_bytes: int) -> None:
        """Promise space for so many bytes, and renew it now and then. Raises NoRoom."""
        if size_bytes > self.room_bytes:
            raise NoRoom
        if size_bytes > LEAST_BYTES and not self._holds(size_bytes):
            self._promise(size_bytes)

    def _holds(self, size_bytes: int) -> bool:
        row = self._row
        if row is None or size_bytes > row.size_bytes:
            return False
        now = timezone.now()
        if row.expires_at - LIFETIME + RENEW_AFTER > now:
            return True
        row.expires_at = now + LIFETIME
        mine = UploadPromise.objects.filter(pk=row.pk)
        return bool(mine.update(expires_at=row.expires_at))

    def _promise(self, size_bytes: int) -> None:
        now = timezone.now()
        with accounts.lock(self._account) as locked:
            UploadPromise.objects.filter(account=locked, expires_at__lte=now).delete()
            row = self._row or UploadPromise(account=locked)
            room_bytes = free_bytes(locked) - promised_bytes(locked, but=row.pk or 0)
            if size_bytes > room_bytes:
                raise NoRoom
            row.size_bytes = min(self._expected_bytes or size_bytes + STEP_BYTES, room_bytes)
            row.expires_at = now + LIFETIME
            row.save()
        self._row = row

    def end(self) -> None:
        # While the database is away, the promise ends on its own.
        if self._row is not None:
            with suppress(DatabaseError):
                UploadPromise.objects.filter(pk=self._row.pk).delete()
