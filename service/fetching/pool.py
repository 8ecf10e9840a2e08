"""All fetches in this process, and other jobs that fill a folder, each in its own thread."""

import math
from collections import deque
from threading import Event, Lock, Thread

from service.fetching.events import FetchEvent
from service.fetching.http.wire import Road
from service.fetching.job import FolderJob, Means
from service.fetching.pace import Pace, RateLimit
from service.fetching.resume_point import Checkpoints
from service.torrents.events import Status, TorrentGone
from service.torrents.orders import TransferLimits


class Fetching:
    """The worker's interface to fetches; no method waits for a server, or raises because of one."""

    def __init__(
        self,
        road: Road,
        pace: Pace,
        wake_up: Event | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """`wake_up` is set when there is something to poll."""
        self._pace = pace
        self.throttle = RateLimit(pace.clock)
        self._means = Means(
            road, pace, self.throttle, self._emit, lambda: self._polled_at, checkpoints
        )
        self._events: deque[FetchEvent] = deque()
        self._wake_up = wake_up or Event()
        self._running: dict[str, FolderJob] = {}
        self._lock = Lock()
        self._polled_at = self._pace.clock()

    def add(self, job: FolderJob) -> None:
        """Start a fetch, unless one with this key is running."""
        with self._lock:
            if job.key in self._running:
                return
            job.equip(self._means)
            job.thread = Thread(target=self._run, args=(job,), name="fetch", daemon=True)
            job.thread.start()
            self._running[job.key] = job

    def limit_one(self, key: str, limits: TransferLimits) -> None:
        with self._lock:
            if job := self._running.get(key):
                job.throttle.change(limits.download_bytes_per_second or 0)

    def proceed(self, key: str) -> None:
        """Let a fetch download what its last `Head` described: there is room."""
        with self._lock:
            if job := self._running.get(key):
                job.proceed()

    def remove(self, key: str, *, may_continue: bool = False) -> None:
        """Remove a fetch; after the event `TorrentGone`, nothing touches its folder.

        `may_continue`: another fetch may continue it, so save all that has arrived.
        """
        with self._lock:
            if job := self._running.get(key):
                job.is_wanted, job.may_continue = False, may_continue
                job.stop()
            else:
                self._emit(TorrentGone(key))

    def poll(self) -> list[FetchEvent]:
        """Return all events since the last poll; never blocks, never raises.

        Fetches continue to write only as long as this is called.
        """
        self._polled_at = self._pace.clock()
        events = [self._events.popleft() for _ in range(len(self._events))]
        return [*events, *self._statuses()]

    def stop(self, within_seconds: float) -> None:
        """Stop all fetches; they can be resumed from their folders."""
        with self._lock:
            jobs = list(self._running.values())
        for job in jobs:
            job.stop()
        until = self._pace.clock() + within_seconds
        for job in jobs:
            job.thread.join(max(0.0, until - self._pace.clock()))

    def _run(self, job: FolderJob) -> None:
        """Run a fetch, and report its outcome last, so that its key can be added again at once."""
        outcome = job.run()
        with self._lock:
            del self._running[job.key]
            if not job.is_wanted:
                self._emit(TorrentGone(job.key))
            elif outcome is not None:
                # It counts what arrived since the last second.
                if last := job.new_status(math.inf):
                    self._emit(last)
                self._emit(outcome)

    def _emit(self, event: FetchEvent) -> None:
        self._events.append(event)
        self._wake_up.set()

    def _statuses(self) -> list[Status]:
        now = self._pace.clock()
        with self._lock:
            statuses = [job.new_status(now) for job in self._running.values()]
        return [status for status in statuses if status]
