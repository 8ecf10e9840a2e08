"""The worker's client for the engine."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from service.details import Details
from service.torrents.crash_blame import CrashSearch
from service.torrents.events import Event, Restarted, SessionStatus, TorrentBroken, TorrentGone
from service.torrents.messages import Document, line_of, order_document
from service.torrents.orders import EngineSettings, Order, TransferLimits
from service.torrents.process import COMMAND, Process

ANSWER_SECONDS = 10.0
PING_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 30.0

log = logging.getLogger("ferry.worker")


class Engine:
    """libtorrent in a separate process, so that a torrent that crashes it harms nothing else.

    Call `start` and `poll` from one thread that lives as long as this process: the engine's process
    dies with the thread that started it. If the engine ends, or leaves a ping unanswered for ten
    seconds, `poll` replaces it with an empty engine and reports Restarted. If the engine keeps
    dying, the pauses between starts grow. While the engine computes, only its CPU time counts
    toward the ten seconds: a large torrent on a busy machine takes longer by the clock.
    """

    def __init__(
        self,
        settings: EngineSettings,
        clock: Callable[[], float] = time.monotonic,
        command: tuple[str, ...] = COMMAND,
        wake_up: threading.Event | None = None,
    ) -> None:
        """Set `wake_up` whenever there is something to poll."""
        self._settings = settings
        self._clock = clock
        self._command = command
        self._wake_up = wake_up or threading.Event()
        self._limits = TransferLimits()
        self.session = SessionStatus()
        self._process: Process | None = None
        self._orders: dict[str, Order] = {}
        self._on_hold: set[str] = set()
        self._paused: set[str] = set()
        self._leaving: set[str] = set()
        self._in_hand: set[str] = set()
        self._news: list[Event] = []
        self._crash_search = CrashSearch()
        self._asked_at: float | None = None
        self._computed_at = self._asked_cpu = self._seen_cpu = 0.0
        self._answered_at = self._started_at = 0.0
        self._failures = 0
        self._start_at: float | None = None
        self._suspects: tuple[str, ...] = ()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the engine's process. Raises OSError if it can't be created."""
        now = self._clock()
        self._process = Process(self._command, self._wake_up)
        self._start_at = None
        self._started_at = self._answered_at = now
        self._asked_at = None
        self.session = SessionStatus()
        self._send(order_document(self._settings))
        self._send(order_document(self._limits))
        self._ping(now)

    def is_alive(self, now: float) -> bool:
        """Return whether the engine answers pings, or is busy computing.

        Busy means that it computed within the last ten seconds, but for less than ten in total.
        """
        if self._process is None or self._process.has_ended():
            return False
        if self._asked_at is None or now - self._asked_at < ANSWER_SECONDS:
            return True
        is_endless = self._seen_cpu - self._asked_cpu >= ANSWER_SECONDS
        return now - self._computed_at < ANSWER_SECONDS and not is_endless

    def add(self, order: Order) -> None:
        """Give the engine an order, unless an order with its key was added and isn't gone."""
        if order.key in self._orders:
            return
        if self._crash_search.is_struck_out(order.key):
            self._news.append(crash_event(order.key))
            return
        self._orders[order.key] = order
        if self._crash_search.is_held(order.key):
            self._on_hold.add(order.key)
        else:
            self._send(order_document(order))

    def limit(self, limits: TransferLimits) -> None:
        """Limit all torrents, also those that are added later."""
        if limits != self._limits:
            self._limits = limits
            self._send(order_document(limits))

    def limit_one(self, key: str, limits: TransferLimits) -> None:
        if key in self._orders:
            self._orders[key] = replace(self._orders[key], limits=limits)
            if key not in self._on_hold:
                self._send(order_document(self._orders[key]))

    def proceed(self, key: str) -> None:
        if key in self._orders:
            self._orders[key] = replace(self._orders[key], may_download=True)
        self._do("proceed", key)

    def choose(self, key: str, unwanted: tuple[int, ...], choice: int) -> None:
        """Fetch all files but these. What has arrived of any file stays in the folder."""
        if key in self._orders:
            order = replace(self._orders[key], unwanted=unwanted, choice=choice)
            self._orders[key] = order
            if key not in self._on_hold:
                self._send(order_document(order))

    def pause(self, key: str) -> None:
        self._paused.add(key)
        self._do("pause", key)

    def resume(self, key: str) -> None:
        self._paused.discard(key)
        self._do("resume", key)

    def seed(self, key: str) -> None:
        """Seed a complete torrent, and never write its files again."""
        if key in self._orders:
            self._orders[key] = replace(self._orders[key], seeding=True)
        self._do("seed", key)

    def look(self, key: str) -> None:
        """Ask for a torrent's Swarm, which follows unless libtorrent doesn't have the torrent."""
        self._do("look", key)

    def remove(self, key: str) -> None:
        """Remove a torrent. TorrentGone follows, even if the key is unknown."""
        self._crash_search.forget(key)
        is_there = self._orders.pop(key, None) is not None and key not in self._on_hold
        self._on_hold.discard(key)
        self._paused.discard(key)
        if is_there and self._process is not None:
            self._leaving.add(key)
            self._do("remove", key)
        elif key not in self._leaving:
            self._news.append(TorrentGone(key))

    def poll(self) -> list[Event]:
        """Return the events since the last poll, and replace a process that died or hangs.

        Call it at least once a second. It never blocks and never raises.
        """
        now = self._clock()
        self._read()
        if self._process is not None:
            self._watch(self._process, now)
            if self.is_alive(now):
                self._go_on(now)
            else:
                self._bury(self._process, now)
        if self._start_at is not None and now >= self._start_at:
            self._start_again(now)
        news, self._news = self._news, []
        return news

    def stop(self, within_seconds: float) -> None:
        """Have the engine save each torrent's progress and end; kill it at the deadline."""
        self._start_at = None
        if self._process is None:
            return
        self._send({"stop": True})
        if not self._process.wait_for_end(within_seconds):
            log.warning("The engine did not stop in time; killing it")
        self._process.kill()
        self._read()
        self._process = None

    def _read(self) -> None:
        """Handle the process's messages, statuses first, so that no status outlives its order."""
        if self._process is not None:
            for message in self._process.messages():
                self._handle(message)

    def _handle(self, message: Document | Event) -> None:
        match message:
            case SessionStatus():
                self.session = message
            case {"pong": _}:
                self._asked_at, self._answered_at = None, self._clock()
            case {"begun": str(key)}:
                self._in_hand.add(key)
            case {"ended": str(key)}:
                self._in_hand.discard(key)
            case dict():
                pass
            case _:
                self._note(message)

    def _note(self, event: Event) -> None:
        key = "" if isinstance(event, Restarted) else event.key
        if isinstance(event, TorrentGone):
            self._leaving.discard(key)
        elif key not in self._orders:
            return
        self._news.append(event)

    def _watch(self, process: Process, now: float) -> None:
        """While a ping is unanswered, note whether the process computed since the last poll."""
        if self._asked_at is None:
            return
        seen_cpu = process.cpu_seconds
        if seen_cpu > self._seen_cpu:
            self._computed_at, self._seen_cpu = now, seen_cpu

    def _go_on(self, now: float) -> None:
        if self._asked_at is None and now - self._answered_at >= PING_SECONDS:
            self._ping(now)
        if now - self._started_at >= ANSWER_SECONDS:
            self._failures = 0
        if self._on_hold or self._crash_search.is_going_on:
            has_others = self._orders.keys() != self._on_hold
            self._release(self._crash_search.release(now, self._on_hold, has_others=has_others))

    def _release(self, keys: tuple[str, ...]) -> None:
        self._on_hold -= set(keys)
        for key in keys:
            self._send(order_document(self._orders[key]))
            if key in self._paused:
                self._do("pause", key)
        self._on_hold = {key for key in self._on_hold if self._crash_search.is_held(key)}

    def _bury(self, process: Process, now: float) -> None:
        """Find the culprit of a crash, as far as possible, and schedule the next start."""
        code = process.kill()
        self._read()
        self._process = None
        active = self._orders.keys() - self._on_hold
        in_hand, lived_seconds = self._in_hand & self._orders.keys(), now - self._started_at
        self._suspects = self._crash_search.blame(in_hand, set(active), lived_seconds)
        log.warning("The engine ended with %d; suspects: %s", code, self._suspects or "nobody")
        pause = 2.0 ** (self._failures - 1) if self._failures else 0.0
        self._failures += 1
        self._start_at = now + min(LONGEST_PAUSE_SECONDS, pause)

    def _start_again(self, now: float) -> None:
        try:
            self.start()
        except OSError:
            log.exception("The engine can't be started")
            self._start_at = now + LONGEST_PAUSE_SECONDS
            return
        self._news += [TorrentGone(key) for key in sorted(self._leaving)]
        self._news.append(Restarted(self._suspects))
        self._news += [
            crash_event(key) for key in self._suspects if self._crash_search.is_struck_out(key)
        ]
        self._orders, self._suspects = {}, ()
        self._on_hold, self._paused = set(), set()
        self._leaving, self._in_hand = set(), set()

    def _ping(self, now: float) -> None:
        self._asked_at = self._computed_at = now
        if self._process is not None:
            self._asked_cpu = self._seen_cpu = self._process.cpu_seconds
        self._send({"ping": 1})

    def _do(self, what: str, key: str) -> None:
        if key not in self._on_hold:
            self._send({"do": what, "key": key})

    def _send(self, document: Document) -> None:
        if self._process is not None:
            self._process.send(line_of(document))


def crash_event(key: str) -> TorrentBroken:
    return TorrentBroken(key, "engine_crashed", Details("engine_crashed"))
