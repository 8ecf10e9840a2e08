"""Run transfers in a separate thread, so that slow rounds don't delay them."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import close_old_connections
from django.db import connection as database
from django.utils import timezone

from common.addresses.reachable import Reach
from service.fetching.http.wire import Road
from service.fetching.pace import Pace
from service.fetching.pool import Fetching
from service.store.blobs import library_store
from service.torrents.client import Engine
from service.torrents.orders import EngineSettings
from service.transfers import limits, wake_ups
from service.transfers.wake_ups import WakeUp
from service.worker import leases
from service.worker.changes import compare_revisions
from service.worker.import_files import FileImport
from service.worker.leases import Lease
from service.worker.saved_fetches import SavedFetches
from service.worker.transfer_control import Tools
from service.worker.worker import Worker
from webui.connection import connection

log = logging.getLogger("ferry.worker")

POLL_SECONDS = 0.25
# How often a worker that the database notifies of every change polls while it runs something.
NOTIFIED_POLL_SECONDS = 1.0
# How often an idle worker polls, in case it missed a wake-up.
IDLE_POLL_SECONDS = 4.0
# The process that runs the worker kills it a little later (host.processes).
STOP_SECONDS = 4.0
# With several machines, the worker gets time to hand over its work.
HAND_OVER_SECONDS = 12.0


class Transferring:
    """The loop of the worker's rounds, which stops while the site shows another service.

    A round begins when the engine, a fetch, an import, or new work wakes the loop, or else at the
    next poll.
    """

    def __init__(self, make_worker: Callable[[WakeUp], Worker]) -> None:
        self._wake_up = WakeUp()
        self._make_worker = make_worker
        self._worker: Worker | None = None
        self._rounded_at = time.monotonic()

    def seconds_since_round(self) -> float:
        return time.monotonic() - self._rounded_at

    def run_until(self, stopped: threading.Event) -> None:
        with wake_ups.listen(self._wake_up) as can_be_woken:
            while not stopped.is_set():
                self.round()
                self._rounded_at = time.monotonic()
                is_idle = can_be_woken and (self._worker is None or self._worker.is_idle)
                self._wake_up.wait(IDLE_POLL_SECONDS if is_idle else poll_seconds())
                self._wake_up.clear()
        self.stop()

    @contextmanager
    def going_on(self, stopped: threading.Event) -> Iterator[None]:
        """Run in a thread until stopped, at the latest when the block ends."""
        thread = threading.Thread(target=self.run_until, args=(stopped,), name="transfers")
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            self.wake()
            thread.join()

    def wake(self) -> None:
        """Wake the loop, so that it notices at once that it should stop."""
        self._wake_up.set()

    def round(self) -> None:
        """Run one round. A failure is logged; the next round tries again."""
        try:
            if not connection.is_embedded():
                self.stop()
                return
            self._worker = self._worker or self._make_worker(self._wake_up)
            self._worker.round(timezone.now())
        except Exception:
            log.exception("round failed name='transfers'")
        finally:
            close_old_connections()

    def stop(self) -> None:
        try:
            if self._worker is not None:
                self._worker.stop(HAND_OVER_SECONDS if settings.STORE_URL else STOP_SECONDS)
        except Exception:
            log.exception("the transfers did not stop cleanly")
        finally:
            self._worker = None
            close_old_connections()


def is_notified() -> bool:
    return database.vendor == "postgresql"


def poll_seconds() -> float:
    return NOTIFIED_POLL_SECONDS if is_notified() else POLL_SECONDS


class Aside(ThreadPoolExecutor):
    """A thread pool that closes old database connections as the rounds do."""

    def submit(self, act: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        return super().submit(run_and_close, act, *args, **options)


def run_and_close(act: Callable[..., Any], *args: Any, **options: Any) -> Any:
    try:
        return act(*args, **options)
    finally:
        close_old_connections()


def embedded_worker(wake_up: WakeUp) -> Worker:
    store = library_store()
    lease = Lease(Path(settings.DATA_DIR) / leases.FOLDER, by_database=is_notified())
    saved = SavedFetches(store, lease) if settings.STORE_URL else None
    changes = wake_up.take_changes if is_notified() else compare_revisions()

    def tools() -> Tools:
        return Tools(
            Engine(engine_settings(), wake_up=wake_up),
            make_fetching(wake_up, saved),
            FileImport(store, Aside(1, thread_name_prefix="import"), wake_up),
            changes,
            saved,
        )

    return Worker(lease, tools, store, limits.current)


def make_fetching(
    wake_up: threading.Event | None = None, saved: SavedFetches | None = None
) -> Fetching:
    return Fetching(
        Road(Reach(settings.TORRENT_NETWORK, settings.FETCH_PRIVATE)),
        Pace(most_bytes=settings.FETCH_MAX_BYTES),
        wake_up,
        saved,
    )


def engine_settings() -> EngineSettings:
    return EngineSettings(
        network=settings.TORRENT_NETWORK,
        port=settings.TORRENT_PORT,
        interface=settings.TORRENT_INTERFACE,
        proxy=settings.TORRENT_PROXY,
        # On loopback, uTP crawls at 16 MB/s, where TCP reaches 550.
        utp=settings.TORRENT_UTP and settings.TORRENT_NETWORK != "loopback",
        port_mapping=settings.TORRENT_PORT_MAPPING,
        fetch_private=settings.FETCH_PRIVATE,
    )
