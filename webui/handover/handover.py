"""Hand what other programs ordered over to them: copies in a folder of this machine, which have
real names, and appear there only as a whole.

A copy grows in a hidden folder. Its path is noted before it is renamed, and that it is complete
after that, so that a worker that is killed at any moment loses and doubles nothing.
"""

import errno
import fcntl
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from common.storage import durable
from webui.connection import connection
from webui.connection.connection import Service
from webui.handover import places, sources
from webui.handover.sources import SourceFile, WorkerStops
from webui.models import Sent
from webui.transfers import poll, states
from webui.v1.errors import Failure, TooMany, Unavailable, Unreadable

log = logging.getLogger("ferry.handover")

RETRY_SECONDS = 30
SPARE_BYTES = 64 * 2**20
ENDED = (states.DONE, states.FAILED, states.GONE)


class NoSpace(Exception):  # noqa: N818  Errors are nouns here.
    """The folder's disk has no space for the rest."""


class HandingOver:
    """The worker's part. `is_stopped`: whether the worker is about to end."""

    def __init__(self, is_stopped: Callable[[], bool]) -> None:
        self._is_stopped = is_stopped
        self._next_tries: dict[int, float] = {}
        self._is_missing = False

    def run(self, now: datetime) -> None:
        """Make the copies that are due, one after the other. One worker at a time does that."""
        top = settings.HANDOVER_DIR
        if top is None:
            return
        was_missing, self._is_missing = self._is_missing, not top.is_dir()
        if self._is_missing:
            if not was_missing:
                log.warning("no folder to hand over to path=%s", top)
            return
        with lock(top) as has_lock:
            if has_lock:
                self._run(now)

    def _run(self, now: datetime) -> None:
        service = connection.service()
        rows = find_orders().filter(connection=service.key)
        if rows.exclude(state__in=ENDED).exists():
            with suppress(Failure):
                poll.refresh(service)
        for row in rows.filter(state=states.DONE).order_by("pk"):
            if self._is_stopped():
                return
            if self._next_tries.get(row.pk, 0) <= time.monotonic():
                self._try(service, row)
        sweep(now)

    def _try(self, service: Service, row: Sent) -> None:
        try:
            self._hand_over(service, row)
        except WorkerStops:
            return
        except (Failure, NoSpace, OSError) as trouble:
            log.warning("not handed over transfer=%s: %s", row.pk, trouble)
            self._next_tries[row.pk] = time.monotonic() + RETRY_SECONDS
            find_orders().filter(pk=row.pk).update(handover_trouble=trouble_of(trouble))
        else:
            self._next_tries.pop(row.pk, None)

    def _hand_over(self, service: Service, row: Sent) -> None:
        whole = places.partial_of(row.pk) / "whole"
        if row.handed_path is None or whole.exists() or not places.is_there(row.handed_path):
            name, files = sources.find_sources(service, row, timezone.now())
            self._copy(service, files, whole)
            put_in_place(row, name, whole)
        is_wanted = find_orders().filter(pk=row.pk)
        if is_wanted.update(handed_at=timezone.now(), handover_trouble=None):
            log.info("handed over transfer=%s", row.pk)
        elif row.handed_path:
            places.remove(row.handed_path, row.pk)

    def _copy(self, service: Service, files: list[SourceFile], whole: Path) -> None:
        """Bring the files into a hidden folder. What an earlier try brought stays."""
        targets = {whole / file.path: file for file in files}
        for path in whole.rglob("*"):
            if path.is_file() and path not in targets:
                path.unlink()
        left_bytes = sum(file.size_bytes for file in files)
        for target, file in targets.items():
            places.make_folder(target.parent)
            needed_bytes = left_bytes - (target.stat().st_size if target.exists() else 0)
            insist = partial(insist_on_room, needed_bytes)
            for _step in sources.fetch(service, file, target, insist):
                if self._is_stopped():
                    raise WorkerStops
            places.open_up(target)
            left_bytes -= file.size_bytes


def insist_on_room(needed_bytes: int) -> None:
    if needed_bytes > shutil.disk_usage(places.top()).free - SPARE_BYTES:
        raise NoSpace("no_space")


def find_orders() -> QuerySet[Sent]:
    """Return what programs ordered and didn't get yet. They get it even if people cleared it."""
    is_alive = Q(cleared_at=None) | Q(state=states.DONE)
    return Sent.objects.filter(is_alive, category__isnull=False, handed_at=None)


def put_in_place(row: Sent, name: str, whole: Path) -> None:
    """Rename a whole copy to its final place, which is noted first."""
    durable.sync_file_system(whole.parent)
    target = places.free_path(row.category or "", name)
    places.make_folder(target.parent)
    if target.parent.resolve() != target.parent:
        # Others may write here: a link must not lead Ferry elsewhere.
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    row.handed_path = str(target.relative_to(places.top()))
    Sent.objects.filter(pk=row.pk).update(handed_path=row.handed_path)
    whole.rename(target)
    durable.sync(target.parent)


def trouble_of(trouble: Exception) -> str | None:
    """Return a word for programs, or None if trying again is likely to help."""
    if isinstance(trouble, OSError):
        is_full = trouble.errno in (errno.ENOSPC, errno.EDQUOT)
        return "no_space" if is_full else "not_written"
    if isinstance(trouble, Failure):
        is_passing = isinstance(trouble, Unavailable | TooMany)
        return None if is_passing and not isinstance(trouble, Unreadable) else trouble.reason
    return str(trouble)


@contextmanager
def lock(top: Path) -> Iterator[bool]:
    """Return whether no other worker hands over to this folder."""
    (top / places.HIDDEN).mkdir(mode=0o700, exist_ok=True)
    file = os.open(top / places.HIDDEN / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(file)


def sweep(now: datetime) -> None:
    """Delete copies that are too old, and what is left of removed and unfinished ones."""
    if settings.HANDOVER_DAYS:
        old = now - timedelta(days=settings.HANDOVER_DAYS)
        for row in Sent.objects.filter(handed_at__lte=old, handed_path__isnull=False):
            places.remove(row.handed_path or "", row.pk)
            Sent.objects.filter(pk=row.pk).update(handed_path=None)
    wanted = {str(pk) for pk in find_orders().values_list("pk", flat=True)}
    for path in (places.top() / places.HIDDEN).iterdir():
        if path.name != "lock" and path.name not in wanted:
            places.delete(path)
