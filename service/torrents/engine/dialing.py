"""How libtorrent connects to peers: what it can't do for one torrent is switched for all."""

import time
from collections.abc import Callable
from typing import Any

# libtorrent tries a peer again after `min_reconnect_time` seconds, times the failures and one more.
PATIENT = {"min_reconnect_time": 60, "max_failcount": 3}
IMPATIENT = {"min_reconnect_time": 1, "max_failcount": 20}
HEAD_START_SECONDS = 5.0


class Dialing:
    """Retries sooner while a torrent has nobody, and gives TCP a head start.

    A lone peer may still be starting. And where uTP is on, libtorrent tries it first: a peer that
    takes both would be met over the slower one, and one that takes TCP alone four seconds late.
    """

    def __init__(
        self, session: Any, *, utp: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._session = session
        self._utp = utp
        self._clock = clock
        self._tcp_until = 0.0
        self._applied: dict[str, Any] = {}

    def begin(self) -> None:
        """Call before libtorrent gets a torrent."""
        self._tcp_until = self._clock() + HEAD_START_SECONDS
        self._apply({**self._applied, "enable_outgoing_utp": False})

    def round(self, *, is_anyone_alone: bool) -> None:
        may_use_utp = self._utp and self._clock() >= self._tcp_until
        patience = IMPATIENT if is_anyone_alone else PATIENT
        self._apply({**patience, "enable_outgoing_utp": may_use_utp})

    def _apply(self, wanted: dict[str, Any]) -> None:
        if wanted != self._applied:
            self._applied = wanted
            self._session.apply_settings(wanted)
