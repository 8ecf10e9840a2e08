"""Leases: which worker runs a transfer, and until when."""

import fcntl
import logging
import os
import secrets
import socket
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from common.batches import batches
from common.storage import row_cache
from common.storage.locks import is_locked
from service.models import Transfer, Worker

log = logging.getLogger("ferry.worker")

LEASE = timedelta(seconds=20)
RENEW_AFTER = timedelta(seconds=4)
# For a worker that runs nothing, so that the disk can sleep: each write wakes it.
IDLE_LEASE = timedelta(minutes=4)
# For one that shares a database with other machines: its server never sleeps, and nothing else
# tells those machines that this worker hangs.
SHARED_IDLE_LEASE = timedelta(seconds=50)
FOLDER = "workers"
NO_NEWS = (False, False, None)


class Expelled(Exception):  # noqa: N818  Errors are nouns here.
    """Another worker took this one for dead, and may run its transfers."""


class Lease:
    """A worker's lease on its transfers.

    Guarantee: no two workers hold one transfer. A transfer names its worker, and a worker is alive
    while it has a row. A worker that finds another's row expired deletes it and frees its transfers
    in one transaction. So a worker that slept for too long finds its row gone, and its writes, all
    conditional on its name, write nothing.
    There is one row per worker, not one expiry per transfer: one write renews a thousand transfers.
    A file lock shows the workers on the same machine at once that a worker has died, so they don't
    wait for its lease to expire. Between machines, the database's clock decides.
    A worker that runs nothing holds a longer lease, and a short one again when it runs something.
    """

    def __init__(self, folder: Path, *, by_database: bool = False) -> None:
        """`by_database`: whether the database's clock counts, since machines' clocks differ."""
        self.name = ""
        self._folder = folder
        self._by_database = by_database
        self._renewed_at = self._judges_at = datetime.min.replace(tzinfo=UTC)
        self._lock: int | None = None
        self._last_news: tuple[bool, bool, Any] = NO_NEWS

    def hold(
        self, now: datetime, *, is_engine_alive: bool, is_idle: bool = False, session: Any = None
    ) -> None:
        """Begin or renew the lease, and record what the engine sees. Raises Expelled."""
        if not self.name:
            self._begin(now)
        age, news = now - self._renewed_at, (is_engine_alive, is_idle, session)
        renew_after = self._idle_lease / 2 if is_idle else RENEW_AFTER
        if news == self._last_news and timedelta(0) <= age < renew_after:
            return
        row = Worker.objects.filter(name=self.name)
        alive_until = self._time(now) + (self._idle_lease if is_idle else LEASE)
        news_columns = {"is_engine_alive": is_engine_alive, "session": session}
        if not row.update(alive_until=alive_until, **news_columns):
            self._forget()
            raise Expelled
        if age > (self._idle_lease if self._last_news[1] else LEASE):
            # The database was away. Others may be alive, too, and come back a moment later.
            self._judges_at = now + LEASE
        self._renewed_at, self._last_news = now, news

    def take(self, transfer_ids: Iterable[int], now: datetime) -> set[int]:
        """Claim the free ones among the transfers, and return their ids. Raises Expelled."""
        # Shorten the lease first: if this worker died right after, the transfers would wait for the
        # end of an idle worker's long lease.
        self.hold(now, is_engine_alive=self._last_news[0], session=self._last_news[2])
        claimed_ids: set[int] = set()
        for batch in batches(transfer_ids):
            with transaction.atomic():
                if not Worker.objects.select_for_update().filter(name=self.name).exists():
                    raise Expelled
                free = Transfer.objects.filter(pk__in=batch, leased_by="")
                locked = free.select_for_update(skip_locked=True)
                ids = list(locked.values_list("pk", flat=True))
                Transfer.objects.filter(pk__in=ids).update(leased_by=self.name)
            claimed_ids.update(ids)
        return claimed_ids

    def transfers(self) -> QuerySet[Transfer]:
        """Return the transfers that this worker may write: none once the lease is lost."""
        return Transfer.objects.filter(leased_by=self.name)

    def release(self) -> None:
        """Free the transfers. With several machines, keep those whose bytes only this machine has.

        If Ferry starts again here before the lease ends, the new worker continues them.
        """
        if not self.name:
            return
        row = Worker.objects.filter(name=self.name)
        if self._by_database and self._free_others():
            row.update(alive_until=Now() + LEASE, is_engine_alive=False)
            self._let_go()
        else:
            _expel(row, self.name)
            self._forget()

    def _free_others(self) -> bool:
        """Free the transfers that another machine can continue, and return whether any are left."""
        is_here = Q(kind__in=Transfer.TORRENTS, progress_percent__gt=0)
        with transaction.atomic():
            self.transfers().exclude(is_here).update(leased_by="")
            return self.transfers().exists()

    def has_others(self) -> bool:
        """Return whether there are other workers, dead or alive."""
        others = Worker.objects.exclude(name=self.name)
        return row_cache.read(("other workers", self.name), others.exists)

    def expel_dead(self, now: datetime) -> bool:
        """Free the transfers of dead workers, and return whether there were any."""
        if not self.has_others():
            return False
        others = Worker.objects.exclude(name=self.name)
        locks = (each for each in self._folder.glob("*") if each.name != self.name)
        is_over = Q(name__in=[lock.name for lock in locks if has_died(lock)])
        if not now < self._judges_at <= now + LEASE:
            is_over |= Q(alive_until__lt=self._time(now))
        dead = list(others.filter(is_over))
        for other in dead:
            row = Worker.objects.filter(pk=other.pk, alive_until=other.alive_until)
            freed = _expel(row, other.name)
            (self._folder / other.name).unlink(missing_ok=True)
            log.warning("another worker has died; freed transfers=%d", freed)
        return bool(dead)

    @property
    def _idle_lease(self) -> timedelta:
        return SHARED_IDLE_LEASE if self._by_database else IDLE_LEASE

    def _time(self, now: datetime) -> Now | datetime:
        return Now() if self._by_database else now

    def _begin(self, now: datetime) -> None:
        name = f"{socket.gethostname()[:30]}-{os.getpid()}-{secrets.token_hex(4)}"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(self._folder / name, os.O_CREAT | os.O_RDWR, 0o600)
        self.name = name
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            Worker.objects.create(name=name, alive_until=self._time(now) + LEASE)
        except BaseException:
            self._forget()
            raise
        self._renewed_at, self._last_news = now, NO_NEWS

    def _forget(self) -> None:
        (self._folder / self.name).unlink(missing_ok=True)
        self._let_go()

    def _let_go(self) -> None:
        """Release the file lock, which shows workers on this machine that this one has ended."""
        if self._lock is not None:
            os.close(self._lock)
        self.name, self._lock = "", None


def _expel(row: QuerySet[Worker], name: str) -> int:
    with transaction.atomic():
        count, _kinds = row.delete()
        return Transfer.objects.filter(leased_by=name).update(leased_by="") if count else 0


def is_alive_here(folder: Path) -> bool:
    """Return whether a worker on this machine holds its lease."""
    names = Worker.alive().values_list("name", flat=True)
    return any(is_locked(folder / name) for name in names)


def has_died(lock: Path) -> bool:
    """Return whether a worker of this machine, which had this lock, has ended."""
    return lock.exists() and not is_locked(lock)
