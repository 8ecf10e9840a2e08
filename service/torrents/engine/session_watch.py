"""Watch libtorrent's session: how much arrives, and whether peers can reach its port."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from service.torrents.engine.session import MAPPERS, finding
from service.torrents.events import SessionStatus
from service.torrents.orders import EngineSettings

# If the engine had peers for so long, and none of them connected first, its port is closed.
PATIENCE_SECONDS = 600.0


class SessionWatch:
    """The status of the session, from its alerts and counters; reported when it changes."""

    def __init__(self, settings: EngineSettings, tell: Callable[[SessionStatus], None]) -> None:
        self._is_loopback = settings.network == "loopback"
        self._tell = tell
        self._received_bytes = self._incoming = 0
        self._seconds_with_peers = 0.0
        self._counted_at = time.monotonic()
        self.status = SessionStatus()
        self.change(
            mapping="" if finding(settings)[MAPPERS[0]] else "off",
            is_reachable=False if settings.proxy else None,
        )

    def change(self, **facts: Any) -> None:
        status = replace(self.status, **facts)
        if status != self.status:
            self.status = status
            self._tell(status)

    def note_mapping(self, *, is_mapped: bool) -> None:
        """Note one of several answers: to UPnP and NAT-PMP, at each address of this machine."""
        if self.status.mapping != "mapped":
            self.change(mapping="mapped" if is_mapped else "failed")

    def count(self, counters: Mapping[str, int]) -> None:
        now, before_bytes = time.monotonic(), self._received_bytes
        seconds, self._counted_at = max(now - self._counted_at, 0.001), now
        # Rate limits count headers, too.
        self._received_bytes = counters["net.recv_bytes"] + counters["net.recv_ip_overhead_bytes"]
        self.change(received_rate=int((self._received_bytes - before_bytes) / seconds))
        self._seconds_with_peers += seconds if counters["peer.num_peers_connected"] else 0
        before, self._incoming = self._incoming, counters["peer.incoming_connections"]
        # Peers of the local network don't show that the router lets others in.
        is_public = counters["net.has_incoming_connections"] or self._is_loopback
        if self._incoming > before and is_public:
            self.change(is_reachable=True, incoming_at=time.time() // 60 * 60)
        elif self.status.is_reachable is None and self._seconds_with_peers >= PATIENCE_SECONDS:
            self.change(is_reachable=False)
