"""All fetches in this process, and other jobs that fill a folder, each in its own thread."""

from collections import deque
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Protocol

from service.fetching.events import FetchEvent
from service.fetching.http.wire import Road
from service.fetching.job import FolderJob, Means
from service.fetching.pace import Pace, RateLimit
from service.fetching.resume_point import Checkpoints
from service.torrents.events import Status, TorrentGone

STATUS_SECONDS = 1.0


class FolderOrder(Protocol):
    @property
    def key(self) -> str: ...

    def job(self, means: Means) -> FolderJob: ...


@dataclass
class RunningFetch:
    fetch: FolderJob
    thread: Thread
    last_status: Status | None = None
    reported_at: float = float("-inf")


class Fetching:
    """The worker's interface to fetches; no method waits for a server, or raises because of one."""

    def __init__(
        self,
        road: Road,
        pace: Pace | None = None,
        wake_up: Event | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """`wake_up` is set when there is something to poll."""
        self._pace = pace or Pace()
        throttle = RateLimit(self._pace.clock, self._pace.limit_bytes)
        self._means = Means(
            road, self._pace, throttle, self._emit, lambda: self._polled_at, checkpoints
        )
        self._events: deque[FetchEvent] = deque()
        self._wake_up = wake_up or Event()
        self._running: dict[str, RunningFetch] = {}
        self._lock = Lock()
        self._polled_at = self._pace.clock()

    def add(self, order: FolderOrder) -> None:
        """Start a fetch, unless one with this key is running."""
        with self._lock:
            if order.key in self._running:
                return
            fetch = order.job(self._means)
            thread = Thread(target=self._run, args=(order.key,), name="fetch", daemon=True)
            thread.start()
            self._running[order.key] = RunningFetch(fetch, thread)

    def proceed(self, key: str) -> None:
        """Let a fetch download what its last `Head` described: there is room."""
        with self._lock:
            if running := self._running.get(key):
                running.fetch.proceed()

    def remove(self, key: str) -> None:
        """Remove a fetch; after the event `TorrentGone`, nothing touches its folder."""
        with self._lock:
            running = self._running.get(key)
            if running is not None:
                running.fetch.is_wanted = False
                running.fetch.stop()
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
            running = list(self._running.values())
        for each in running:
            each.fetch.stop()
        until = self._pace.clock() + within_seconds
        for each in running:
            each.thread.join(max(0.0, until - self._pace.clock()))

    def _run(self, key: str) -> None:
        """Run a fetch, and report its outcome last, so that its key can be added again at once."""
        with self._lock:
            running = self._running[key]
        outcome = running.fetch.run()
        with self._lock:
            del self._running[key]
            if not running.fetch.is_wanted:
                self._emit(TorrentGone(key))
            elif outcome is not None:
                self._emit(outcome)

    def _emit(self, event: FetchEvent) -> None:
        self._events.append(event)
        self._wake_up.set()

    def _statuses(self) -> list[Status]:
        now = self._pace.clock()
        with self._lock:
            statuses = [
                self._status(key, running, now)
                for key, running in self._running.items()
                if now - running.reported_at >= STATUS_SECONDS
            ]
        return [status for status in statuses if status]

    def _status(self, key: str, running: RunningFetch, now: float) -> Status | None:
        """Return the status, or None if it is unchanged."""
        fetch, previous = running.fetch, running.last_status
        done_bytes = fetch.done_bytes
        new_bytes = max(0, done_bytes - previous.done_bytes) if previous else 0
        status = Status(
            key=key,
            phase=fetch.phase,
            done_bytes=done_bytes,
            wanted_bytes=fetch.wanted_bytes,
            download_rate=int(new_bytes / (now - running.reported_at)),
            peers_connected=int(fetch.is_receiving),
            peers_sending=int(fetch.is_receiving),
        )
        running.reported_at = now
        if status == previous:
            return None
        running.last_status = status
        return status
