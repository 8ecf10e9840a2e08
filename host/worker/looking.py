"""Look after the site's transfers while no page is open, and send the notices that wait.

The thread ticks every two seconds, and asks the service only when a look is due.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial

from django.db import close_old_connections
from django.utils import timezone

from service.transfers import wake_ups
from service.transfers.wake_ups import WakeUp
from webui.connection import connection
from webui.notices.sending import Sender
from webui.transfers import poll
from webui.v1.errors import Failure

log = logging.getLogger("ferry.worker")

# After a wake-up, the service gets this long to finish what it does, and others to wake us as well.
SETTLE_SECONDS = 0.5


class Looking:
    def __init__(self, sender: Sender | None = None) -> None:
        self._wake_up = WakeUp()
        self._sender = sender or Sender()
        self._is_owed = False
        self._looked_at = 0.0

    @contextmanager
    def going_on(self, stopped: threading.Event) -> Iterator[None]:
        """Run in a thread until stopped, at the latest when the block ends."""
        thread = threading.Thread(target=self._run_until, args=(stopped,), name="looking")
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            self._wake_up.set()
            thread.join()
            self._sender.stop()

    def _run_until(self, stopped: threading.Event) -> None:
        with wake_ups.listen(self._wake_up):
            while not stopped.is_set():
                self._is_owed |= self._wake_up.is_set()
                self._wake_up.clear()
                self.round(timezone.now())
                self._wake_up.wait(self._pause_seconds())
                if self._wake_up.is_set():
                    stopped.wait(SETTLE_SECONDS)

    def _pause_seconds(self) -> float:
        """Return how long until the next look may be due, however often others wake us."""
        left = self._looked_at + poll.LIVELY_SECONDS - time.monotonic()
        return left if left > 0 else poll.LIVELY_SECONDS

    def round(self, now: datetime) -> None:
        """Run one round. A failure is logged and stops nothing else; the next round tries again."""
        for run in (self._look, partial(self._sender.round, now)):
            try:
                run()
            except Exception:
                log.exception("round failed name='looking'")
        close_old_connections()

    def _look(self) -> None:
        """Look at the connected service. If it is away, the cached list says so."""
        with suppress(Failure):
            service = connection.service()
            is_woken = self._is_owed and service.is_embedded
            has_looked = poll.look(service, is_woken=is_woken)
            if has_looked:
                self._looked_at = time.monotonic()
            # If another look was too recent, a wake-up is still owed one.
            self._is_owed = is_woken and not has_looked
