"""Adjust how libtorrent connects to peers: it can't do so per torrent, so adjust all at once."""

import time
from typing import Any

# libtorrent retries a peer after `min_reconnect_time` seconds times the failures plus one.
PATIENT = {"min_reconnect_time": 60, "max_failcount": 3}
IMPATIENT = {"min_reconnect_time": 1, "max_failcount": 20}
HEAD_START_SECONDS = 5.0


class Dialing:
    """The connection settings: faster retries while a torrent has no peers, and TCP before uTP.

    A torrent's only peer may still be starting. With uTP on, libtorrent tries uTP first: it would
    reach peers that accept both over the slower protocol, and TCP-only peers four seconds late.
    """

    def __init__(self, session: Any, *, utp: bool) -> None:
        self._session = session
        self._utp = utp
        self._tcp_until = 0.0
        self._applied: dict[str, Any] = {}

    def begin(self) -> None:
        """Give TCP its head start. Call it before adding a torrent to libtorrent."""
        self._tcp_until = time.monotonic() + HEAD_START_SECONDS
        self._apply({**self._applied, "enable_outgoing_utp": False})

    def round(self, *, is_anyone_alone: bool) -> None:
        may_use_utp = self._utp and time.monotonic() >= self._tcp_until
        patience = IMPATIENT if is_anyone_alone else PATIENT
        self._apply({**patience, "enable_outgoing_utp": may_use_utp})

    def _apply(self, settings: dict[str, Any]) -> None:
        if settings != self._applied:
            self._applied = settings
            self._session.apply_settings(settings)
