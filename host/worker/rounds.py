"""The worker's rounds: what each half needs done regularly."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from threading import Event, Thread

from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from host import local_name
from host.storage import shared_database
from host.tls import certificate
from host.worker import measuring
from service.accounts import credentials
from service.content import archive_plans
from service.errors import StoreAway
from service.library.deleted_items import purge_expired
from service.library.moves import forget_expired
from service.library.search.index import add_missing_texts
from service.library.upkeep.sweep import Swept, sweep, sweep_leavings
from service.media.probing import read_again
from service.media.sweep import sweep as sweep_media
from service.media.sweep import sweep_rows
from service.store.blobs import library_store
from service.transfers import transfers
from webui import pruning
from webui.connection import connection
from webui.deleting import held_deletes
from webui.handover.handover import HandingOver
from webui.search import crawl

log = logging.getLogger("ferry.worker")


# Longer than any archive plan is needed; Ferry can remake the other published files.
PUBLISHED_LIFETIME = timedelta(days=30)


@dataclass(frozen=True)
class Round:
    name: str
    every: timedelta
    run: Callable[[datetime], None]
    is_service: bool = False
    """Whether the round is the service's, and skipped while the site shows another service."""
    is_local: bool = False
    """Whether the round is about this machine's disk, so that every worker runs it."""


def sweep_library(now: datetime) -> None:
    log_sweep(sweep(library_store(), now, settings.BLOB_GRACE, settings.ORPHAN_DAYS))


def sweep_published(now: datetime) -> None:
    library_store().drop_published(now - PUBLISHED_LIFETIME)


def sweep_deleted(now: datetime) -> None:
    log_sweep(sweep_leavings(library_store(), now, settings.BLOB_GRACE))


def log_sweep(result: Swept) -> None:
    if any(astuple(result)):
        log.info("swept %s", result)


ROUNDS = [
    Round("held deletions", timedelta(minutes=1), held_deletes.delete_due),
    Round("crawl for search", timedelta(seconds=4), crawl.crawl),
    Round("site pruning", timedelta(hours=1), pruning.prune),
    Round("sweep of the deleted", timedelta(minutes=5), sweep_deleted, is_service=True),
    Round("end of deleted items", timedelta(hours=1), purge_expired, is_service=True),
    Round("end of undo", timedelta(hours=1), forget_expired, is_service=True),
    Round("library sweep", timedelta(days=1), sweep_library, is_service=True),
    Round("sweep of the shared", timedelta(days=1), sweep_published, is_service=True),
    Round("texts for search", timedelta(hours=1), add_missing_texts, is_service=True),
    Round("reading of pictures again", timedelta(minutes=1), read_again, is_service=True),
    Round("sweep of media rows", timedelta(hours=1), sweep_rows, is_service=True),
    Round("media sweep", timedelta(hours=1), sweep_media, is_service=True, is_local=True),
    Round("archive plan pruning", timedelta(hours=1), archive_plans.prune, is_service=True),
    Round("guess pruning", timedelta(hours=1), credentials.prune, is_service=True),
    Round("upload pruning", timedelta(days=1), transfers.prune, is_service=True),
    Round("local name", timedelta(minutes=1), local_name.registration.keep),
    Round("certificate", timedelta(minutes=1), certificate.renew),
    Round("measuring", timedelta(hours=1), measuring.measure),
    Round("database check", timedelta(days=1), measuring.check_database),
]


def handing_over(stopped: Event) -> Round:
    return Round("handing over", timedelta(seconds=2), HandingOver(stopped.is_set).run)


def run_all(rounds: list[Round]) -> None:
    for each in rounds:
        run_one(each)


def run_one(each: Round) -> None:
    """Run one round. A failure is logged and never stops the others; the next one tries again.

    Of several workers, one at a time runs a round of the service, unless it is local.
    """
    try:
        if each.is_service and not connection.is_embedded():
            return
        if each.is_local or not each.is_service:
            each.run(timezone.now())
        else:
            with shared_database.unless_elsewhere(each.name) as may_run:
                if may_run:
                    each.run(timezone.now())
    except StoreAway:
        log.warning("round skipped name=%r", each.name)
    except Exception:
        log.exception("round failed name=%r", each.name)
    finally:
        close_old_connections()


@contextmanager
def aside(stopped: Event, rounds: list[Round]) -> Iterator[None]:
    """Run rounds that may take hours in a thread, at the latest until the block ends."""
    thread = Thread(target=run_until, args=(stopped, rounds), name=rounds[0].name)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def run_until(stopped: Event, rounds: list[Round]) -> None:
    due = dict.fromkeys(rounds, 0.0)
    while not stopped.is_set():
        now = time.monotonic()
        for each in rounds:
            if due[each] <= now and not stopped.is_set():
                run_one(each)
                due[each] = time.monotonic() + each.every.total_seconds()
        stopped.wait(max(0.0, min(due.values()) - time.monotonic()))
