"""The worker's media work: probe new contents, and answer requests."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone
from msgspec import to_builtins

from common.storage import row_cache
from service.errors import Busy, CannotConvert, DiskFull, NotFound
from service.media import probing, refusals
from service.media.cache import Cache
from service.media.content_folders import StoredContent, content_of
from service.media.hls.player import Player
from service.media.pictures import pictures
from service.media.pictures.filmstrips import Filmstrips
from service.media.pictures.sizes import AHEAD, SIZES
from service.media.probe import chapters_of
from service.media.sandbox.children import Children
from service.media.sandbox.job_turns import Jobs
from service.media.sandbox.launcher import Failed
from service.media.serving.media_server import FileRequest, MediaServer, of_file
from service.media.serving.requests import Facts
from service.models import File, Media

log = logging.getLogger("ferry.media")

LEASE = timedelta(minutes=10)
AT_ONCE = 32
NEW_AT_ONCE = 500
MOST_PICTURES = 24
TURN_SECONDS = 15.0
CHAPTERS_SECONDS = 5.0
PAUSE_SECONDS = 1.0
# If there was nothing to do.
IDLE_SECONDS, FILMSTRIP_SECONDS = 3.0, 30.0
STOP_SECONDS = 3.0
NOTE_SECONDS = 5.0
# New files have higher ids. A pass over all files finds those that were missed anyway.
LOOK_AT_ALL = timedelta(hours=1)


class MediaWork:
    """The media work of one worker.

    Only children touch hostile input. This process reads rows, passes descriptors on, and stores
    the results.
    """

    def __init__(self, children: Children, is_wanted: Callable[[], bool]) -> None:
        """`is_wanted` returns whether the service is in use at all."""
        self.stopped = threading.Event()
        self.jobs = Jobs(settings.MEDIA_JOBS)
        self.server = MediaServer()
        self.children = children
        self._is_wanted = is_wanted
        self._last_file_id = 0
        self._looked_at_all: datetime | None = None
        self.filmstrips = Filmstrips(self.jobs, self.children)
        self.server.register(
            MOST_PICTURES, picture=of_file(self.picture), chapters=of_file(self.chapters)
        )
        self.player = Player(self.jobs, self.children, Cache(settings.MEDIA_CACHE))
        self.player.register(self.server)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Work in threads, beside the worker's other work."""
        steps: list[tuple[Callable[[], object], str, float]] = [
            (self.player.films.make_one, "converting a film", PAUSE_SECONDS),
            (self.player.prepare_one, "finding keyframes", 0),
            (self._probe_if_wanted, "examining media", IDLE_SECONDS),
            (self.filmstrips.make_if_idle, "making a filmstrip", FILMSTRIP_SECONDS),
            (partial(self.server.serve, self.stopped), "the media server", PAUSE_SECONDS),
        ]
        if settings.WORKER_ADDRESS:
            serve = partial(self.server.serve_others, settings.WORKER_ADDRESS, self.stopped)
            steps.append((serve, "the media server", PAUSE_SECONDS))
        threads = [threading.Thread(target=self._repeat, args=step, daemon=True) for step in steps]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stop()
            for thread in threads:
                # A scan for cuts reads a whole film; it ends with this process.
                thread.join(STOP_SECONDS)

    def _repeat(self, step: Callable[[], object], what: str, idle_seconds: float) -> None:
        """Repeat a step until stopped, with a longer pause if it fails, or finds nothing to do."""
        while not self.stopped.is_set():
            has_done = None
            try:
                has_done = step()
            except Exception:
                log.exception("%s failed", what)
            finally:
                close_old_connections()
            self.stopped.wait(PAUSE_SECONDS if has_done else idle_seconds)

    def run_once(self) -> None:
        try:
            self._probe_if_wanted()
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop all children; everyone who waits gets Busy."""
        self.stopped.set()
        self.jobs.close()
        self.player.stop()
        self.children.close()

    def picture(self, request: FileRequest) -> Facts:
        """Make a picture that someone waits for. Raises Busy, CannotConvert, NotFound."""
        source, name = request.source, str(request.question["size"])
        if name not in SIZES:
            raise NotFound
        with self.jobs.picturing(TURN_SECONDS), source.open() as medium:
            media = probing.probe_now(self.children, source.content, medium, self._note)
            if not media.has_picture:
                raise CannotConvert(media.reason)
            try:
                pictures.make(self.children, media, medium, [name])
            except Failed as failed:
                probing.give_up_picture(media, failed)
                self._note([media])
                raise refusals.refusal_of(failed) from failed
        return {}

    def chapters(self, request: FileRequest) -> Facts:
        """Read the chapters of a film. Raises Busy, CannotConvert, NotFound."""
        order = {"do": "chapters"}
        with self.jobs.picturing(TURN_SECONDS), request.source.open() as medium:
            try:
                facts = self.children.ask(medium.fileno(), order, CHAPTERS_SECONDS).facts
            except Failed as failed:
                raise refusals.refusal_of(failed) from failed
        return {"chapters": to_builtins(chapters_of(facts))}

    def _note(self, rows: list[Media]) -> None:
        """Save rows. Raises Busy once stopped: work cut short is not the media file's fault."""
        if self.stopped.is_set():
            raise Busy
        probing.note(rows)

    def _probe_if_wanted(self) -> bool:
        return self._is_wanted() and self.probe_once()

    def probe_once(self) -> bool:
        """Probe all new contents, and return whether there were any.

        Results are saved only every few seconds: each save changes the listings that show them,
        which may be long and have many readers.
        """
        self.note_new(timezone.now())
        looked_at: list[Media] = []
        has_found = False
        noted_at = time.monotonic()
        while not self.stopped.is_set() and (some := self._probe_batch()):
            looked_at += some
            has_found = True
            if time.monotonic() - noted_at > NOTE_SECONDS:
                probing.note(looked_at)
                looked_at, noted_at = [], time.monotonic()
        probing.note(looked_at)
        self.children.rest()
        self.player.converters.copiers.rest()
        return has_found

    def note_new(self, now: datetime) -> None:
        """Create the missing row of each content."""
        if self._looked_at_all is None or now - self._looked_at_all > LOOK_AT_ALL:
            self._last_file_id, self._looked_at_all = 0, now
        while batch := self._newer_files():
            pairs = {(sha1, size) for _pk, sha1, size, media_id in batch if media_id is None}
            rows = [Media(sha1=sha1, size_bytes=size) for sha1, size in sorted(pairs)]
            Media.objects.bulk_create(rows, ignore_conflicts=True)
            self._last_file_id = batch[-1][0]

    def _newer_files(self) -> list[tuple[int, str, int, int | None]]:
        newer = File.objects.filter(pk__gt=self._last_file_id).order_by("pk")
        rows = newer.values_list("pk", "sha1", "size_bytes", "media__id")[:NEW_AT_ONCE]
        return row_cache.read(("newer files", self._last_file_id), partial(list, rows))

    def _probe_batch(self) -> list[Media]:
        """Probe a batch and return its rows: none if nothing is left, or no child can run."""
        now = timezone.now()
        rows = probing.lease(AT_ONCE, now, now + LEASE)
        if not rows:
            return []
        files = File.objects.filter(media__id__in=[row.pk for row in rows])
        blobs = dict(files.values_list("media__id", "blob"))
        nobodys = [row.pk for row in rows if row.pk not in blobs]
        probing.without_file().filter(pk__in=nobodys).delete()
        with ThreadPoolExecutor(self.jobs.most, thread_name_prefix="look") as threads:
            are_done = list(threads.map(lambda row: self._probe_one(row, blobs.get(row.pk)), rows))
        done_rows = [row for row, is_done in zip(rows, are_done, strict=True) if is_done]
        others = [row.pk for row in rows if row not in done_rows]
        Media.objects.filter(pk__in=others).update(leased_until=None)
        return done_rows

    def _probe_one(self, media: Media, blob: str | None) -> bool:
        """Probe one content, or return False if that can't be done now.

        Makes no queries, since it runs in many threads.
        """
        try:
            source = StoredContent(content_of(media), blob or "")
            with source.open() as medium, self.jobs.picturing_ahead():
                probing.probe(self.children, media, medium)
                self.player.queue_survey(media, source)
                if media.has_picture:
                    pictures.make(self.children, media, medium, AHEAD)
        except Failed as failed:
            probing.give_up_picture(media, failed)
        except NotFound:
            probing.put_off(media)
        except Busy:
            return False
        except DiskFull:
            log.warning("no room to examine media content=%s", media.sha1)
            probing.put_off(media)
        except Exception:
            log.exception("examining media failed content=%s", media.sha1)
            probing.put_off(media)
        return not self.stopped.is_set()
