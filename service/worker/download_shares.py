"""Divide the download limit between torrents and fetches, each of which keeps to its share."""

import math
from dataclasses import replace
from datetime import UTC, datetime

from service.fetching.pool import Fetching
from service.torrents.client import Engine
from service.torrents.orders import TransferLimits

# A side that uses this much of its share may want more. Otherwise it gets a little more than it
# uses, and never nothing, so that it can show what it wants.
FULL, MORE_TIMES, SPARE = 0.9, 1.1, 0.02


class DownloadShares:
    """The shares of both, measured and divided again every second. Their sum is the limit."""

    def __init__(self, engine: Engine, fetching: Fetching) -> None:
        self._engine = engine
        self._fetching = fetching
        self._part = 0.5  # of the limit, for torrents
        self._received_rate = 0
        self._fetched_bytes = 0.0
        self._divided_at = datetime.min.replace(tzinfo=UTC)

    def apply(self, limits: TransferLimits, now: datetime) -> None:
        limit_bytes = limits.download_bytes_per_second or 0
        passed_seconds = (now - self._divided_at).total_seconds()
        if not 0 <= passed_seconds < 1:
            self._divided_at = now
            self._divide(limit_bytes, max(passed_seconds, 1))
        torrents, fetches = (math.ceil(limit_bytes * p) for p in (self._part, 1 - self._part))
        self._engine.limit(replace(limits, download_bytes_per_second=torrents))
        self._fetching.throttle.change(fetches)

    def _divide(self, limit_bytes: int, seconds: float) -> None:
        earlier_rate, self._received_rate = self._received_rate, self._engine.session.received_rate
        before, self._fetched_bytes = self._fetched_bytes, self._fetching.throttle.used_bytes
        if limit_bytes:
            # Peers send unevenly, and the last second may have been before a larger share.
            received = max(earlier_rate, self._received_rate) / limit_bytes
            fetched = (self._fetched_bytes - before) / seconds / limit_bytes
            self._part = divide(self._part, received, fetched)


def divide(part: float, used_by_torrents: float, used_by_fetches: float) -> float:
    """Return the next part of the limit for torrents, from the parts that both have used.

    If both want more than half of it, each gets half.
    """
    torrents = want(used_by_torrents, part)
    fetches = want(used_by_fetches, 1 - part)
    if torrents + fetches <= 1:
        return torrents / (torrents + fetches)
    return min(torrents, max(0.5, 1 - fetches))


def want(used: float, share: float) -> float:
    return math.inf if used >= FULL * share else used * MORE_TIMES + SPARE
