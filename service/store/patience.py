"""Wait for an object store that doesn't answer, as long-running work must."""

import time
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from service.errors import StoreAway

Result = TypeVar("Result")

# A store restarts within this.
PATIENCE_SECONDS = 120.0
LONGEST_PAUSE_SECONDS = 8.0


class StorePatience:
    """How long several threads wait for a store, unless they are stopped."""

    def __init__(self, stopped: Event) -> None:
        self._stopped = stopped
        self.is_waiting = False

    def call(self, act: Callable[[], Result]) -> Result:
        """Call a function until the store answers. Raises StoreAway if that takes too long."""
        until: float | None = None
        pause_seconds = 1.0
        while True:
            try:
                result = act()
            except StoreAway:
                self.is_waiting = True
                until = until or time.monotonic() + PATIENCE_SECONDS
                if time.monotonic() > until or self._stopped.wait(pause_seconds):
                    raise
                pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)
            else:
                self.is_waiting = False
                return result
