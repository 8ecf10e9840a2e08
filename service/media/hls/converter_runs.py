"""The worker's converters: one per rendition, however many people watch it."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from service.errors import Busy, CannotConvert, DiskFull, NotFound, Refusal
from service.media.cache import Cache
from service.media.content_folders import scratch_folder
from service.media.hls.converter_process import ConverterRun, ConverterWork
from service.media.hls.formats.boxes import Malformed
from service.media.sandbox.job_turns import Jobs
from service.media.sandbox.launcher import Failed
from service.media.sandbox.ready_copiers import ReadyCopiers

log = logging.getLogger("ferry.media")

# How many segments a converter runs ahead of the requested one: a minute of a copy, but little of
# a sound, whose encoder takes time from the picture's.
PICTURES_AHEAD, COPIES_AHEAD, SOUNDS_AHEAD = 8, 9, 3
# Within this many segments, waiting is faster than a new run.
NEAR = 3
IDLE_SECONDS = 30.0
# How long light work that has begun waits for a player: few run at once.
BEGUN_SECONDS = 2.0
# A segment that takes more CPU time is refused; one that takes longer is tried later.
SEGMENT_CPU_SECONDS, SEGMENT_SECONDS = 120.0, 300.0
TURN_SECONDS = 2.0
TRIES = 2
# How soon a request that no one waits for anymore is dropped.
LOOK_SECONDS = 0.1


class Converters:
    """The conversions of one worker.

    Guarantee: each rendition has at most one converter, which runs where someone waits. Viewers
    who wait elsewhere are served as soon as the first has their segment.

    At most MEDIA_JOBS converters encode pictures at once. A converter that rests because it is
    ahead of its viewers is preempted by one that someone waits for. Copies, sounds, and subtitles
    end within seconds: a few run alongside, and the others wait.

    A Conversion takes `_lock` while holding its own lock. So a thread with `_lock` never waits for
    a Conversion, and a Conversion with its own lock takes another's only if that is free.
    """

    def __init__(self, jobs: Jobs, cache: Cache) -> None:
        self.jobs = jobs
        self.cache = cache
        self.copiers = ReadyCopiers(scratch_folder())
        self._lock = threading.Lock()
        self._conversions: dict[Path, Conversion] = {}
        self.is_stopped = False

    def segment(
        self,
        work: ConverterWork,
        number: int,
        wait_seconds: float,
        has_left: Callable[[], bool] = lambda: False,
    ) -> Path:
        """Wait for a segment and return its path. Raises Busy, CannotConvert, NotFound."""
        conversion = self._conversion(work)
        conversion.wait_for(work, number, time.monotonic() + wait_seconds, has_left)
        return work.path(number)

    def begin(self, work: ConverterWork) -> None:
        """Start at the beginning before a player asks for it. Raises Busy if no turn is free."""
        self._conversion(work).begin(work)

    def make_way(self) -> bool:
        """End a converter that rests, to free its turn; return False if all have work to do."""
        with self._lock:
            others = list(self._conversions.values())
        return any(each.give_way() for each in others)

    def stop(self) -> None:
        """Stop all converters for good; everyone who waits gets Busy."""
        self.is_stopped = True
        with self._lock:
            conversions = list(self._conversions.values())
        for each in conversions:
            each.stop()
        self.copiers.close()

    def _conversion(self, work: ConverterWork) -> "Conversion":
        """Return the conversion for this work. Raises Busy."""
        for _ in range(TRIES):
            with self._lock:
                if self.is_stopped:
                    raise Busy
                self._conversions = {
                    folder: each
                    for folder, each in self._conversions.items()
                    if not each.is_forgotten
                }
                conversion = self._conversions.setdefault(work.folder, Conversion(self, work))
                conversion.asked_at = time.monotonic()
            if conversion.work == work:
                return conversion
            # A new plan may cut elsewhere: then this is another work in the same folder.
            conversion.stop()
        raise Busy


class Conversion:
    """The conversion of one rendition, in one run after another.

    resting ──someone waits──> running ──ahead of all──> paused (its pipe is full)
       ^                         │  ^                       │  │
       └──ended, broke, or moved─┘  └────someone waits──────┘  └──idle──> resting
    """

    def __init__(self, converters: Converters, work: ConverterWork) -> None:
        self.work = work
        self._converters = converters
        self._changed = threading.Condition()
        self._waiting: Counter[int] = Counter()
        self._run: ConverterRun | None = None
        self._is_stopped = False
        self.asked_at = time.monotonic()
        self._reach = 0
        self._failures: dict[int, Refusal] = {}

    @property
    def is_forgotten(self) -> bool:
        return not self._run and (self._is_stopped or self._idle_seconds > IDLE_SECONDS)

    def begin(self, work: ConverterWork) -> None:
        """Make the first segment, and no other until someone waits. Raises Busy if no turn is free.

        Making more would take time from the page that is about to play it.
        """
        with self._changed:
            if work.has(0) or not self._make_free(0):
                return
            # Other runs may preempt it until someone waits.
            self._start(work, 0, 0, self._free_turn()).rests = True

    def _make_free(self, number: int) -> bool:
        """End a run elsewhere that no one waits for. Return whether a run may start here."""
        run = self._run
        if run and run.at != number and not self._waiting:
            self._end(run)
        return self._run is None and not self._is_stopped

    def wait_for(
        self, work: ConverterWork, number: int, deadline: float, has_left: Callable[[], bool]
    ) -> None:
        """Wait for a segment, made from the caller's blob, since another may be gone.

        Raises Busy, also once `has_left`, and CannotConvert, NotFound.
        """
        tries = 0
        with self._changed:
            self._waiting[number] += 1
            try:
                while not self.work.has(number):
                    if time.monotonic() >= deadline or self._is_stopped or has_left():
                        raise Busy
                    if self._run is None:
                        tries += 1
                        if tries > TRIES:  # A run may have been killed.
                            raise self._failures.get(number, NotFound())
                        reach = number + self._ahead
                        self._start(work, number, reach, self._wait_for_turn())
                    self._come_nearer(number)
                    self._changed.wait(min(LOOK_SECONDS, max(0.01, deadline - time.monotonic())))
                    self._end_what_hangs()
            finally:
                self._waiting[number] -= 1
                self._waiting += Counter()
                self._changed.notify_all()

    def _come_nearer(self, number: int) -> None:
        run = self._run
        if run is None:
            return
        self._reach = max(self._reach, number + self._ahead)
        is_on_its_way = run.at <= number <= run.at + NEAR
        if is_on_its_way and run.rests:
            run.rests = False
            self._changed.notify_all()
        elif not is_on_its_way and not self._is_needed(run):
            run.end()

    def _is_needed(self, run: ConverterRun) -> bool:
        return any(run.at <= number <= run.at + NEAR for number in self._waiting)

    @property
    def _ahead(self) -> int:
        if self.work.rendition.is_copied:
            return COPIES_AHEAD
        return SOUNDS_AHEAD if self.work.is_light else PICTURES_AHEAD

    def _start(self, work: ConverterWork, number: int, reach: int, turn: ExitStack) -> ConverterRun:
        """Start a run, and return it; the caller holds the condition."""
        try:
            self._reach = reach
            last = number + self._ahead
            self._run = run = ConverterRun(work, number, last, self._converters.copiers)
        except BaseException:
            turn.close()
            raise
        thread = threading.Thread(
            target=self._convert, args=(run, turn), name="converter", daemon=True
        )
        thread.start()
        return run

    def _free_turn(self) -> ExitStack:
        jobs, turn = self._converters.jobs, ExitStack()
        turn.enter_context(jobs.light() if self.work.is_light else jobs.converting())
        return turn

    def _wait_for_turn(self) -> ExitStack:
        deadline = time.monotonic() + TURN_SECONDS
        while True:
            try:
                return self._free_turn()
            except Busy:
                is_late = self.work.is_light or time.monotonic() > deadline
                if is_late or not self._converters.make_way():
                    raise

    def give_way(self) -> bool:
        """End the run if it rests; return whether it did rest and has ended."""
        if self.work.is_light or not self._changed.acquire(blocking=False):
            return False
        try:
            run = self._run
            return run is not None and run.rests and not self._waiting and self._end(run)
        finally:
            self._changed.release()

    def _end(self, run: ConverterRun) -> bool:
        """End a run; return whether it has ended in time."""
        run.end()
        self._changed.notify_all()
        return self._changed.wait_for(lambda: self._run is not run, TURN_SECONDS)

    def stop(self) -> None:
        """Stop for good; everyone who waits gets Busy."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
            if self._run:
                self._end(self._run)

    # In the thread of a run

    def _convert(self, run: ConverterRun, turn: ExitStack) -> None:
        try:
            with turn:
                for segment in run.segments():
                    path = self.work.path(segment.number)
                    self._converters.cache.put(path, segment.data)
                    if not self._goes_on(run, segment.number):
                        break
                run.close()
        except (Failed, Malformed, OSError) as trouble:
            self._note(run, run.refusal(trouble))
        except DiskFull:
            self._note(run, Busy())
        except Exception:
            log.exception("a converter's thread failed")
        finally:
            run.close()
            with self._changed:
                self._run = None
                self._changed.notify_all()
            # Not after a preempted run: starting copiers takes time from the next run.
            if self.work.rendition.is_copied and not run.is_ended:
                self._converters.copiers.refill()

    def _goes_on(self, run: ConverterRun, number: int) -> bool:
        with self._changed:
            run.at, run.has_delivered = number + 1, True
            self._changed.notify_all()
            if run.is_ended or (self.work.has(run.at) and not self._is_needed(run)):
                return False
            if self.work.is_light and not run.rests:
                return run.at <= self._reach or self._is_needed(run)
            run.rests = True
            patience = BEGUN_SECONDS if self.work.is_light else IDLE_SECONDS
            while run.at > self._reach and not run.is_ended and self._idle_seconds < patience:
                self._changed.wait(1.0)
            run.rests = False
            return run.at <= self._reach and not run.is_ended

    @property
    def _idle_seconds(self) -> float:
        return time.monotonic() - self.asked_at

    def _note(self, run: ConverterRun, refusal: Refusal) -> None:
        if not run.is_ended and not run.has_delivered:
            self._failures[run.first] = refusal
            reason = refusal.why if isinstance(refusal, CannotConvert) else "no room or no time"
            log.warning("converter failed rendition=%s reason=%s", self.work.rendition.name, reason)

    def _end_what_hangs(self) -> None:
        run = self._run
        if run is None or run.rests:
            return
        if run.cpu_seconds - run.moved_at_cpu > SEGMENT_CPU_SECONDS:
            self._failures[run.first] = CannotConvert("it took too much computing")
            run.end()
        elif time.monotonic() - run.moved_at > SEGMENT_SECONDS:
            self._failures[run.first] = Busy()
            run.end()
