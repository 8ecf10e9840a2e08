"""A job that fills the folder of a transfer in a thread: a `Fetch`, or something like one."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from service.details import Details
from service.fetching.errors import FetchStopped, PermanentFailure
from service.fetching.events import FetchEvent
from service.fetching.http.wire import Road
from service.fetching.pace import Pace, RateLimit
from service.fetching.resume_point import Checkpoints
from service.fetching.stoppable_wait import StoppableWait
from service.torrents.events import Phase, Status, TorrentBroken

log = logging.getLogger("ferry.fetch")

# A worker that was frozen for longer may have lost its transfers to another, which writes here now.
WORKER_TIMEOUT_SECONDS = 12.0
LISTEN_SECONDS = 0.2
STATUS_SECONDS = 1.0


@dataclass(frozen=True)
class Means:
    """State shared by all jobs."""

    road: Road
    pace: Pace
    throttle: RateLimit  # of all together
    tell: Callable[[FetchEvent], None]
    polled_at: Callable[[], float]  # when the worker polled last
    checkpoints: Checkpoints | None


class FolderJob:
    thread: Thread
    throttle: RateLimit  # of this job alone
    _means: Means
    _pace: Pace
    _waiter: StoppableWait

    def __init__(self, key: str, folder: Path) -> None:
        """`folder` exists, and belongs to this job alone."""
        self.key = key
        self.folder = folder
        self.phase: Phase = "metadata"
        self.done_bytes = 0
        self.received_bytes = 0  # over the network, also what was of no use
        self.wanted_bytes = 0
        self.is_receiving = False
        self.is_wanted = True  # an unwanted job reports no outcome
        self.may_continue = True  # else it saves nothing to resume
        self._may_go = Event()
        self._status: Status | None = None
        self._reported_at = float("-inf")

    def equip(self, means: Means) -> None:
        """Give the job what all jobs share, before it runs."""
        self._means, self._pace = means, means.pace
        self.throttle = RateLimit(means.pace.clock)
        self._waiter = StoppableWait(means.pace.clock)

    def run(self) -> FetchEvent | None:
        """Return the outcome, or None if the job was stopped."""
        try:
            return self._run()
        except FetchStopped:
            return None
        except PermanentFailure as failure:
            return TorrentBroken(self.key, failure.word, failure.details)
        except Exception:
            log.exception("%s failed key=%s", type(self).__name__, self.key)
            return TorrentBroken(self.key, "fetch_error", Details("unexpected"))
        finally:
            self._waiter.close()

    def _run(self) -> FetchEvent:
        raise NotImplementedError

    def proceed(self) -> None:
        self._may_go.set()

    def stop(self) -> None:
        """End the job soon, whatever it waits for."""
        self._waiter.stop()
        self._may_go.set()

    def new_status(self, now: float) -> Status | None:
        """Return the status, at most once a second, or None if it is unchanged."""
        if now - self._reported_at < STATUS_SECONDS:
            return None
        previous, done_bytes = self._status, self.done_bytes
        new_bytes = max(0, done_bytes - previous.done_bytes) if previous else 0
        self._status = Status(
            key=self.key,
            phase=self.phase,
            done_bytes=done_bytes,
            wanted_bytes=self.wanted_bytes,
            download_rate=int(new_bytes / (now - self._reported_at)),
            peers_connected=int(self.is_receiving),
            peers_sending=int(self.is_receiving),
            received_bytes=self.received_bytes,
        )
        self._reported_at = now
        return None if self._status == previous else self._status

    def _await_worker(self) -> None:
        while self._is_worker_silent():
            self._pace.pause(self._waiter, LISTEN_SECONDS)

    def _is_worker_silent(self) -> bool:
        return self._pace.clock() - self._means.polled_at() > WORKER_TIMEOUT_SECONDS
