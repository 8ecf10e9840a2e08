"""Answer playback requests: plans, segments, and whole films."""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from queue import Full, Queue
from weakref import WeakValueDictionary

import msgspec
from msgspec import convert

from service.errors import Busy, CannotConvert, NotFound
from service.media import content_folders, probing, refusals
from service.media.cache import RENDITIONS, Cache, is_there
from service.media.content_folders import Content, StoredContent
from service.media.hls import encoder_arguments, plans
from service.media.hls.converter_process import ConverterWork
from service.media.hls.converter_runs import Converters
from service.media.hls.films import Films
from service.media.hls.formats import boxes
from service.media.hls.plans import PlaybackPlan
from service.media.hls.renditions import Rendition
from service.media.probe import Probed
from service.media.sandbox import launcher
from service.media.sandbox.children import Children
from service.media.sandbox.job_turns import Jobs
from service.media.sandbox.launcher import BACKGROUND, FOREGROUND, MIB, Failed, ResourceLimits
from service.media.serving.media_server import FileRequest, MediaServer, of_file
from service.media.serving.requests import Facts
from service.models import Media
from service.store.blobs import library_store
from service.store.folders import make_folder

MOST_ARRIVALS = 1000
# How many requests may wait for a segment, and for anything else.
MOST_SEGMENTS, MOST_ANSWERS = 24, 16
SEGMENT_SECONDS = 20.0
LOOK = ResourceLimits(wall_seconds=90, cpu_seconds=15, output_bytes=32 * MIB, nice=FOREGROUND)
# It reads a whole film, perhaps from a slow disk.
SCAN = ResourceLimits(wall_seconds=1800, cpu_seconds=300, output_bytes=32 * MIB, nice=BACKGROUND)


class Player:
    def __init__(self, jobs: Jobs, children: Children, cache: Cache) -> None:
        self._jobs = jobs
        self._children = children
        self.cache = cache
        self.converters = Converters(jobs, cache)
        self.films = Films(jobs, cache)
        self._arrivals: Queue[tuple[Media, StoredContent] | None] = Queue(MOST_ARRIVALS)
        self._scans_ordered: set[Content] = set()
        # A lock is forgotten when no one holds it.
        self._locks: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
        self._locks_lock = threading.Lock()

    def register(self, server: MediaServer) -> None:
        server.register(MOST_SEGMENTS, segment=of_file(self.segment))
        others = {"plan": self.plan, "begin": self.begin, "init": self.init, "film": self.film}
        server.register(MOST_ANSWERS, **{kind: of_file(each) for kind, each in others.items()})

    def stop(self) -> None:
        with suppress(Full):
            self._arrivals.put_nowait(None)
        self.films.stop()
        self.converters.stop()

    # Requests

    def plan(self, request: FileRequest) -> Facts:
        """Make a plan if there is none. Raises CannotConvert."""
        self._plan(request.source)
        content_folders.publish_again(folder_of(request.source.content) / plans.PLAN)
        return {}

    def begin(self, request: FileRequest) -> Facts:
        """Start on what a player requests first, while its page still loads.

        Raises Busy, CannotConvert.
        """
        source = request.source
        for rendition in self._plan(source).first():
            work = self._work(source, rendition)
            if not self.cache.has(work.path(0)):
                self.converters.begin(work)
            self._make_init(source, rendition)
        return {}

    def init(self, request: FileRequest) -> Facts:
        """Make what players need before the first segment. Raises CannotConvert, NotFound."""
        self._make_init(request.source, self._rendition(request))
        return {}

    def segment(self, request: FileRequest) -> Facts:
        """Make a segment. Raises Busy, CannotConvert, NotFound."""
        rendition, number = self._rendition(request), int(request.question["number"])
        if not 0 <= number < rendition.count:
            raise NotFound
        work = self._work(request.source, rendition)
        is_old = work.has(number)
        path = self.converters.segment(work, number, SEGMENT_SECONDS, request.has_left)
        if is_old:
            content_folders.publish_again(path)
        return {}

    def film(self, request: FileRequest) -> Facts:
        """Request a film as MP4, and return its progress. Raises CannotConvert."""
        media = self._probe_now(request.source)
        plan = self._plan(request.source)
        return self.films.want(request.source, convert(media.probed, Probed), plan)

    # On arrival

    def queue_survey(self, media: Media, source: StoredContent) -> None:
        """Queue a new film for a survey. If the queue is full, it is surveyed when someone asks."""
        if media.kind in probing.PLAYABLE and media.state == Media.State.PROBED:
            with suppress(Full):
                self._arrivals.put_nowait((media, source))

    def prepare_one(self) -> None:
        """Wait for a new film, and prepare it."""
        if arrival := self._arrivals.get():
            self.prepare(*arrival)

    def prepare(self, media: Media, source: StoredContent) -> None:
        """Find where a new film can be cut, reading all of it if need be."""
        folder = folder_of(source.content)
        plan = plans.find_plan(folder)
        if plan is None:
            with suppress(CannotConvert, Busy), self._alone(folder):
                plan = self._survey(source, media, LOOK)
        if plan is not None and not plan.is_final:
            # This takes long, and no one may have to wait for it: the known plan is enough to play.
            with suppress(CannotConvert, Busy):
                self._survey(source, media, SCAN)

    # Plans

    def _rendition(self, request: FileRequest) -> Rendition:
        rendition = self._plan(request.source).rendition(str(request.question["rendition"]))
        if rendition is None:
            raise NotFound
        return rendition

    def _work(self, source: StoredContent, rendition: Rendition) -> ConverterWork:
        folder = folder_of(source.content) / rendition.name
        make_folder(folder)
        work = ConverterWork(source.path, folder, rendition)
        if rendition.is_copied and not is_there(work.init):
            self._make_init(source, rendition)
        return work

    def _make_init(self, source: StoredContent, rendition: Rendition) -> None:
        path = folder_of(source.content) / rendition.name / "init.mp4"
        with self._alone(path):
            if is_there(path):
                content_folders.publish_again(path)
            elif library_store().fetch_published(path):
                pass  # Another machine made it.
            elif rendition.is_copied:
                self._survey(source, self._probe_now(source), SCAN)
            else:
                content_folders.write_and_publish(path, encoded_init(rendition))

    def _plan(self, source: StoredContent) -> PlaybackPlan:
        folder = folder_of(source.content)
        with self._alone(folder):
            plan = plans.find_plan(folder)
            if plan is None:
                refusals.raise_remembered(folder)
                plan = self._survey(source, self._probe_now(source), LOOK)
            if not plan.is_final:
                self._order_scan(source)
            return plan

    def _probe_now(self, source: StoredContent) -> Media:
        """Return the content's row, probed now if need be. Raises CannotConvert, Busy."""
        with source.open() as medium:
            media = probing.probe_now(self._children, source.content, medium, probing.note)
        probing.refuse_unplayable(media)
        return media

    def _order_scan(self, source: StoredContent) -> None:
        """Queue a scan, but only once per content: every segment requests the plan.

        If the scan was killed, perhaps with its worker, the next worker repeats it.
        """
        if source.content not in self._scans_ordered:
            with suppress(Full, CannotConvert, Busy):
                self._arrivals.put_nowait((self._probe_now(source), source))
                self._scans_ordered.add(source.content)

    def _survey(self, source: StoredContent, media: Media, limits: ResourceLimits) -> PlaybackPlan:
        """Ask the surveyor, and save the plan. Raises CannotConvert, Busy, NotFound."""
        probed, folder, blob = convert(media.probed, Probed), folder_of(source.content), source.path
        argv = launcher.program(
            "surveyor", path=str(blob), may_scan=limits is SCAN, **plans.questions(probed)
        )
        try:
            answer = json.loads(self._run_surveyor(argv, limits))
            plan = plans.make_plan(probed, answer, is_final=limits is SCAN)
        except Failed as failed:
            if not blob.exists():
                raise NotFound from failed
            previous = plans.find_plan(folder)
            if previous is None:
                refusals.remember_failure(folder, failed)
            elif not failed.is_limit:
                save_plan(folder, replace(previous, is_final=True))
            raise refusals.refusal_of(failed) from failed
        previous = plans.find_plan(folder)
        if previous is None:
            # Segments without a plan that we can read may be cut in another way.
            shutil.rmtree(folder, ignore_errors=True)
            library_store().unpublish(folder)
        for name, init in plans.inits_of(plan, answer).items():
            content_folders.write_and_publish(folder / name / "init.mp4", init)
        plan = plan.after(previous)
        save_plan(folder, plan)
        return plan

    def _run_surveyor(self, argv: list[str], limits: ResourceLimits) -> bytes:
        """Run the surveyor; with LOOK a few at once, like all light work. Raises Failed, Busy."""
        folder = content_folders.scratch_folder()
        with self._jobs.light() if limits is LOOK else nullcontext():
            return launcher.run(argv, limits=limits, cwd=folder, environment=launcher.ENVIRONMENT)

    @contextmanager
    def _alone(self, folder: Path) -> Iterator[None]:
        with self._locks_lock:
            lock = self._locks.setdefault(folder, threading.Lock())
        with lock:
            yield


def folder_of(content: Content) -> Path:
    return content.folder / RENDITIONS


def save_plan(folder: Path, plan: PlaybackPlan) -> None:
    content_folders.write_and_publish(folder / plans.PLAN, msgspec.json.encode(plan))


def encoded_init(rendition: Rendition) -> bytes:
    argv = encoder_arguments.init(rendition)
    try:
        output = launcher.run(argv, limits=LOOK, cwd=content_folders.scratch_folder())
    except Failed as failed:
        raise refusals.refusal_of(failed) from failed
    return boxes.init_of(output)
