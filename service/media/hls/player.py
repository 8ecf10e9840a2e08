"""Answer playback requests: plans, segments, and whole films."""

import json
import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from io import FileIO
from pathlib import Path
from queue import Full, Queue
from typing import Concatenate, ParamSpec
from weakref import WeakValueDictionary

from msgspec import convert

from common.storage import database_connection
from service.errors import Busy, CannotConvert, NotFound
from service.media import content_folders, probing, refusals
from service.media.cache import RENDITIONS, Cache, is_there
from service.media.content_folders import Content
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
from service.media.sandbox.own_commands import ENVIRONMENT, program
from service.media.serving.media_server import HasLeft, MediaServer
from service.media.serving.requests import Facts
from service.models import File, Media
from service.store.blobs import library_store
from service.store.folders import make_folder

log = logging.getLogger("ferry.media")

P = ParamSpec("P")

MOST_ARRIVALS = 1000
# How many requests may wait for a segment, and for anything else.
MOST_SEGMENTS, MOST_ANSWERS = 24, 16
SEGMENT_SECONDS = 20.0
LOOK = ResourceLimits(wall_seconds=90, cpu_seconds=15, output_bytes=32 * MIB, nice=FOREGROUND)
# It reads a whole film, perhaps from a slow disk.
SCAN = ResourceLimits(wall_seconds=1800, cpu_seconds=300, output_bytes=32 * MIB, nice=BACKGROUND)


class Player:
    def __init__(self, jobs: Jobs, children: Children, cache: Cache) -> None:
        self._children = children
        self._is_stopped = False
        self.cache = cache
        self.converters = Converters(jobs, cache)
        self.films = Films(jobs, cache)
        self._arrivals: Queue[tuple[Media, Path] | None] = Queue(MOST_ARRIVALS)
        self._scans_ordered: set[Content] = set()
        self.runs = (self.films.run, self._prepare_on)
        # A lock is forgotten when no one holds it.
        self._locks: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
        self._locks_lock = threading.Lock()

    def register(self, server: MediaServer) -> None:
        server.register_waiting(MOST_SEGMENTS, segment=of_file(self.segment))
        others = {"plan": self.plan, "begin": self.begin, "init": self.init, "film": self.film}
        server.register(MOST_ANSWERS, **{kind: of_file(each) for kind, each in others.items()})

    def stop(self) -> None:
        self._is_stopped = True
        with suppress(Full):
            self._arrivals.put_nowait(None)
        self.films.stop()
        self.converters.stop()

    # Requests

    def plan(self, question: Facts) -> Facts:
        """Make a plan if there is none. Raises CannotConvert."""
        content = content_of(question)
        self._plan(content, blob_of(question))
        content_folders.publish_again(folder_of(content) / plans.PLAN)
        return {}

    def begin(self, question: Facts) -> Facts:
        """Start on what a player requests first, while its page still loads.

        Raises Busy, CannotConvert.
        """
        content, blob = content_of(question), blob_of(question)
        for rendition in self._plan(content, blob).first():
            question = {**question, "rendition": rendition.name}
            work = self._work(question, rendition)
            if not work.has(0) and not self.cache.fetch_published(work.path(0)):
                self.converters.begin(work)
            self.init(question)
        return {}

    def init(self, question: Facts) -> Facts:
        """Make what players need before the first segment. Raises CannotConvert, NotFound."""
        content, blob = content_of(question), blob_of(question)
        rendition = self._rendition(content, blob, str(question["rendition"]))
        path = folder_of(content) / rendition.name / "init.mp4"
        with self._alone(path):
            if is_there(path):
                content_folders.publish_again(path)
                return {}
            if content_folders.fetch_published(path):
                return {}
            if rendition.is_copied:
                self._survey(content, blob, probe_now(self._children, content, blob), SCAN)
            else:
                content_folders.write_durably(path, encoded_init(rendition))
                content_folders.publish(path)
        return {}

    def segment(self, question: Facts, has_left: HasLeft = lambda: False) -> Facts:
        """Make a segment. Raises Busy, CannotConvert, NotFound."""
        content, blob = content_of(question), blob_of(question)
        rendition = self._rendition(content, blob, str(question["rendition"]))
        number = int(question["number"])
        if not 0 <= number < rendition.count:
            raise NotFound
        work = self._work(question, rendition)
        is_old = work.has(number)
        path = self.converters.segment(work, number, SEGMENT_SECONDS, has_left)
        if is_old:
            content_folders.publish_again(path)
        return {}

    def film(self, question: Facts) -> Facts:
        """Request a film as MP4, and return its progress. Raises CannotConvert."""
        content, blob = content_of(question), blob_of(question)
        media = probe_now(self._children, content, blob)
        plan = self._plan(content, blob)
        return self.films.want(content, blob, convert(media.probed, Probed), plan)

    # On arrival

    def queue_survey(self, media: Media, blob: Path) -> None:
        """Queue a new film for a survey. If the queue is full, it is surveyed when someone asks."""
        if media.kind in probing.PLAYABLE and media.state == Media.State.PROBED:
            with suppress(Full):
                self._arrivals.put_nowait((media, blob))

    def _prepare_on(self) -> None:
        while not self._is_stopped:
            self.prepare_one()

    def prepare_one(self) -> None:
        arrival = self._arrivals.get()
        try:
            if arrival and not self._is_stopped:
                self.prepare(*arrival)
        except Exception:
            log.exception("finding keyframes failed")

    def prepare(self, media: Media, blob: Path) -> None:
        """Find where a new film can be cut, reading all of it if need be."""
        content = Content(media.sha1, media.size_bytes)
        plan = plans.find_plan(folder_of(content))
        if plan is None:
            with suppress(CannotConvert, Busy), self._alone(folder_of(content)):
                plan = self._survey(content, blob, media, LOOK)
        if plan is not None and not plan.is_final:
            # This takes long, and no one may have to wait for it: the known plan is enough to play.
            with suppress(CannotConvert, Busy):
                self._survey(content, blob, media, SCAN)

    # Plans

    def _rendition(self, content: Content, blob: Path, name: str) -> Rendition:
        rendition = self._plan(content, blob).rendition(name)
        if rendition is None:
            raise NotFound
        return rendition

    def _work(self, question: Facts, rendition: Rendition) -> ConverterWork:
        folder = folder_of(content_of(question)) / rendition.name
        make_folder(folder)
        work = ConverterWork(blob_of(question), folder, rendition)
        if rendition.is_copied and not is_there(work.init):
            self.init(question)
        return work

    def _plan(self, content: Content, blob: Path) -> PlaybackPlan:
        folder = folder_of(content)
        with self._alone(folder):
            plan = plans.find_plan(folder)
            if plan is None:
                refusals.raise_remembered(folder)
                media = probe_now(self._children, content, blob)
                plan = self._survey(content, blob, media, LOOK)
            if not plan.is_final:
                self._order_scan(content, blob)
            return plan

    def _order_scan(self, content: Content, blob: Path) -> None:
        """Queue a scan, but only once per content: every segment requests the plan.

        If the scan was killed, perhaps with its worker, the next worker repeats it.
        """
        if content not in self._scans_ordered:
            with suppress(Full, CannotConvert, Busy):
                media = probe_now(self._children, content, blob)
                self._arrivals.put_nowait((media, blob))
                self._scans_ordered.add(content)

    def _survey(
        self, content: Content, blob: Path, media: Media, limits: ResourceLimits
    ) -> PlaybackPlan:
        """Ask the surveyor, and save the plan. Raises CannotConvert, Busy, NotFound."""
        probed, folder = convert(media.probed, Probed), folder_of(content)
        argv = program(
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
            content_folders.write_durably(folder / name / "init.mp4", init)
            content_folders.publish(folder / name / "init.mp4")
        plan = plan.after(previous)
        save_plan(folder, plan)
        return plan

    def _run_surveyor(self, argv: list[str], limits: ResourceLimits) -> bytes:
        """Run the surveyor; with LOOK a few at once, like all light work. Raises Failed, Busy."""
        with self.converters.light_turn() if limits is LOOK else nullcontext():
            return launcher.run(
                argv, limits=limits, cwd=content_folders.scratch_folder(), environment=ENVIRONMENT
            )

    @contextmanager
    def _alone(self, folder: Path) -> Iterator[None]:
        with self._locks_lock:
            lock = self._locks.setdefault(folder, threading.Lock())
        with lock:
            yield


def folder_of(content: Content) -> Path:
    return content.folder / RENDITIONS


def of_file(
    answer: Callable[Concatenate[Facts, P], Facts],
) -> Callable[Concatenate[Facts, P], Facts]:
    """Wrap an answer for questions that name a file.

    The worker looks up the file's blob itself, so a process that can reach the socket, and nothing
    more, can't learn or choose a path.
    """

    def answer_for_file(question: Facts, /, *args: P.args, **kwargs: P.kwargs) -> Facts:
        file_id = question.pop("file", None)
        rows = File.objects.filter(pk=file_id if type(file_id) is int else 0)
        facts = rows.values("sha1", "size_bytes", "blob").first()
        if facts is None:
            raise NotFound
        # What it answers may have to be made first.
        database_connection.give_back()
        return answer({**question, **facts}, *args, **kwargs)

    return answer_for_file


def content_of(question: Facts) -> Content:
    return Content(str(question["sha1"]), int(question["size_bytes"]))


def save_plan(folder: Path, plan: PlaybackPlan) -> None:
    content_folders.write_durably(folder / plans.PLAN, json.dumps(plan.to_dict()).encode())
    content_folders.publish(folder / plans.PLAN)


def blob_of(question: Facts) -> Path:
    """Return a file with the blob's bytes. Raises NotFound."""
    return library_store().on_disk(str(question["blob"]))


def open_medium(blob: Path) -> FileIO:
    """Open a blob for a child. Raises NotFound if it was deleted since."""
    try:
        return open(blob, "rb", buffering=0)
    except FileNotFoundError as missing:
        raise NotFound from missing


def probe_now(children: Children, content: Content, blob: Path) -> Media:
    """Return the content's row, probed now if need be. Raises CannotConvert, Busy."""
    with open_medium(blob) as medium:
        media = probing.probe_now(children, content, medium, probing.note)
    probing.refuse_unplayable(media)
    return media


def encoded_init(rendition: Rendition) -> bytes:
    argv = encoder_arguments.init(rendition)
    try:
        output = launcher.run(argv, limits=LOOK, cwd=content_folders.scratch_folder())
    except Failed as failed:
        raise refusals.refusal_of(failed) from failed
    return boxes.init_of(output)
