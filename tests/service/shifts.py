"""A worker in this process with the real engine and real fetches, run round by round."""

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from host.worker.transferring import engine_settings, make_fetching
from service.store.blobs import library_store
from service.torrents.client import Engine
from service.transfers import limits
from service.worker.import_files import FileImport
from service.worker.leases import Lease
from service.worker.transfer_control import Tools
from service.worker.worker import Worker
from tests.service.fakes import Here

PATIENCE_SECONDS = 180
BEAT_SECONDS = 0.05


class RealShift:
    def __init__(self):
        self.lease = Lease(Path(settings.DATA_DIR) / "workers")
        self.store = library_store()
        self.worker = Worker(self.lease, self._tools, self.store, limits.current)

    def _tools(self):
        self.engine = Engine(engine_settings())
        return Tools(self.engine, make_fetching(), FileImport(self.store, Here()))

    def until(self, is_so, seconds=PATIENCE_SECONDS):
        """Run rounds until `is_so` is true."""
        deadline, beat = time.monotonic() + seconds, threading.Event()
        while not is_so():
            assert time.monotonic() < deadline, "the worker takes too long"
            self.worker.round(datetime.now(UTC))
            beat.wait(BEAT_SECONDS)

    def until_state(self, transfer, *states, seconds=PATIENCE_SECONDS):
        def is_so():
            transfer.refresh_from_db()
            assert transfer.state in states or transfer.state != "failed", transfer.reason
            return transfer.state in states

        self.until(is_so, seconds)
        return transfer


@contextmanager
def real_shift():
    shift = RealShift()
    try:
        yield shift
    finally:
        shift.worker.stop(5)
