"""Whole films as MP4, for players without HLS: requested, made one at a time, and cached.

A request is a note in a folder, so that it outlives the worker; a finished film is a file.
"""

import re
import threading
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import msgspec
from msgspec import Struct

from common.storage import locks
from common.storage.durable import sync
from service.errors import DiskFull, NotFound, StoreAway
from service.media import content_folders, refusals
from service.media.cache import FILMS, Cache, is_there, touch
from service.media.content_folders import Content, StoredContent
from service.media.hls import encoder_arguments
from service.media.hls.copyable import container_of, is_picture_kept, is_sound_kept
from service.media.hls.plans import PlaybackPlan, sounds_of
from service.media.hls.renditions import AAC_BITS, Rendition, RenditionKind, main_picture
from service.media.probe import Probed
from service.media.sandbox.ffmpeg_access import opens
from service.media.sandbox.job_turns import Jobs
from service.media.sandbox.launcher import (
    BACKGROUND,
    MIB,
    Failed,
    ResourceLimits,
    RunningProgram,
    start_piped,
)
from service.store.blobs import library_store
from service.store.folders import make_folder

HOURS = 3600
FILM, DRAFT, HOW = "film.mp4", ".film.mp4", "how.json"
WANTED, LOCK = "wanted-films", "lock"
PROGRESS = re.compile(rb"out_time_us=(\d+)")
QUICKTIME = b"qt  "
MOST_BOXES = 64
# How much larger than its estimated size a film may become.
ROOM_BYTES = 64 * MIB


class FilmNote(Struct):
    blob: str
    probed: Probed
    plan: PlaybackPlan


class Films:
    def __init__(self, jobs: Jobs, cache: Cache) -> None:
        self._jobs = jobs
        self._cache = cache
        self._stopped = threading.Event()
        self._progress: dict[Content, float] = {}
        self._running: RunningProgram | None = None

    def want(self, source: StoredContent, probed: Probed, plan: PlaybackPlan) -> dict[str, object]:
        """Request a film, and return its progress. Raises CannotConvert, StoreAway."""
        content, folder = source.content, folder_of(source.content)
        if is_film(source.path, probed):
            content_folders.write_and_publish(folder / HOW, b'{"is_direct": true}')
        if is_ready_elsewhere(folder):
            return {"is_ready": True}
        refusals.raise_remembered(folder)
        self._order(content, msgspec.json.encode(FilmNote(source.blob, probed, plan)))
        # The film may have been finished, and its note removed, just before we wrote ours.
        if is_ready_elsewhere(folder):
            return {"is_ready": True}
        return {"is_ready": False, "progress": round(self._progress.get(content, 0.0), 1)}

    def _order(self, content: Content, note: bytes) -> None:
        """Write a note once: clients ask every few seconds, and the oldest note comes first."""
        path = wanted_folder() / content.folder.name
        with suppress(OSError):
            if path.read_bytes() == note:
                return
        content_folders.write_durably(path, note)

    def stop(self) -> None:
        self._stopped.set()
        running = self._running
        if running:
            running.stop()

    def make_one(self) -> bool:
        """Make the next film; return False if there is none, or another worker makes one."""
        if not wanted_notes():
            return False
        with locks.alone(wanted_folder() / LOCK) as is_alone:
            # Otherwise, we might read a note that the other worker has just removed.
            notes = wanted_notes() if is_alone else []
            if not notes:
                return False
            content = content_folders.content_named(notes[0].name)
            try:
                self._make(content, msgspec.json.decode(notes[0].read_bytes(), type=FilmNote))
            except StoreAway:
                return False
            except (Failed, ValueError, OSError, DiskFull) as trouble:
                if self._stopped.is_set():
                    return False
                self._refuse(content, trouble)
            finally:
                self._progress.pop(content, None)
            notes[0].unlink(missing_ok=True)
            return True

    def _refuse(self, content: Content, trouble: Exception) -> None:
        """Remember that a film can't be made.

        A film for which the machine had no time or space, or that was killed, perhaps for lack of
        memory, is made when it is requested again.
        """
        if isinstance(trouble, Failed) and not (trouble.is_late or trouble.is_killed):
            refusals.remember(folder_of(content), trouble.reason)
        elif isinstance(trouble, ValueError):
            refusals.remember(folder_of(content), "it can't be converted")

    def _make(self, content: Content, note: FilmNote) -> None:
        """Make a film. Raises Failed."""
        folder, plan = folder_of(content), note.plan
        if is_there(folder / FILM):
            content_folders.publish_again(folder / FILM)
            return
        if is_there(folder / HOW) or self._cache.has(folder / FILM):
            return
        try:
            blob = library_store().on_disk(note.blob)
        except NotFound:
            return  # Deleted meanwhile; another file may have the same content.
        make_folder(folder)
        draft = folder / DRAFT
        self._running, output = start_piped(
            film_argv(blob, note.probed, plan, draft),
            limits=limits_of(content, plan, self._cache.budget_bytes),
            cwd=folder,
            opens=opens(blob, keeps_in=folder),
        )
        if self._stopped.is_set():
            self._running.stop()  # `stop` was called before it could see the program.
        with output, self._running as running, self._jobs.filming(running):
            while line := output.readline(4096):
                self._note_progress(content, line, plan)
            if running.wait() != 0:
                draft.unlink(missing_ok=True)
                raise running.failure()
        sync(draft)
        # Syncing may take minutes, after which the cache would take the film for unread.
        touch(draft)
        draft.replace(folder / FILM)
        self._cache.grow((folder / FILM).stat().st_size)
        content_folders.publish(folder / FILM)

    def _note_progress(self, content: Content, line: bytes, plan: PlaybackPlan) -> None:
        if progress := PROGRESS.match(line):
            fraction = int(progress[1]) / 1_000_000 / max(0.1, plan.seconds)
            self._progress[content] = min(99.9, 100 * fraction)


def folder_of(content: Content) -> Path:
    return content.folder / FILMS


def is_ready(folder: Path) -> bool:
    return is_there(folder / HOW) or is_there(folder / FILM)


def is_ready_elsewhere(folder: Path) -> bool:
    """Return whether the machine that asks can have the film. Raises StoreAway."""
    is_published = library_store().is_published
    return is_there(folder / HOW) or (is_there(folder / FILM) and is_published(folder / FILM))


def wanted_folder() -> Path:
    return content_folders.media_folder() / WANTED


def wanted_notes() -> list[Path]:
    """Return the notes, oldest first."""
    return sorted(wanted_folder().glob("*-*"), key=lambda note: note.stat().st_mtime)


# Checking the source


def is_film(blob: Path, probed: Probed) -> bool:
    """Return whether the file already is an MP4 that every phone can play from its start."""
    picture = main_picture(probed)
    sounds = sounds_of(probed)[:1]
    return (
        "mov" in container_of(probed)
        and (picture is None or is_picture_kept(probed, picture))
        and all(is_sound_kept(probed, each) for each in sounds)
        and begins_with_its_index(blob)
    )


def begins_with_its_index(blob: Path) -> bool:
    """Return whether moov is before the data; reads only the headers of top-level boxes."""
    with blob.open("rb") as file:
        size, at = blob.stat().st_size, 0
        for number in range(MOST_BOXES):
            file.seek(at)
            head = file.read(16)
            kind, length = head[4:8], int.from_bytes(head[:4], "big")
            if number == 0 and (kind != b"ftyp" or head[8:12] == QUICKTIME):
                return False
            if kind in (b"moov", b"mdat", b"moof"):
                return kind == b"moov"
            length = int.from_bytes(head[8:16], "big") if length == 1 else length
            at += length
            if length < 8 or at >= size:
                return False
    return False


# Writing the MP4


def film_argv(blob: Path, probed: Probed, plan: PlaybackPlan, target: Path) -> list[str]:
    options = ["-map_metadata", "-1", "-map_chapters", "-1", "-sn", "-dn"]
    pictures = plan.of_kind(RenditionKind.PICTURE)
    picture = max(pictures, key=lambda each: (each.is_copied, each.width), default=None)
    if picture is not None:
        options += ["-map", f"0:{picture.track}", *picture_codec(probed, picture)]
    for order, each in enumerate(sounds_of(probed)):
        is_copied = is_sound_kept(probed, each)
        options += ["-map", f"0:{each.index}", f"-c:a:{order}", "copy" if is_copied else "aac"]
        if not is_copied:
            options += [f"-ac:a:{order}", "2", f"-b:a:{order}", str(AAC_BITS)]
    start = encoder_arguments.source(blob, Fraction(0))
    ending = ["-movflags", "+faststart", "-f", "mp4", "-progress", "pipe:1", "-y", f"file:{target}"]
    return [*start, *options, *ending]


def picture_codec(probed: Probed, picture: Rendition) -> list[str]:
    track = main_picture(probed)
    if track is not None and is_picture_kept(probed, track):
        return ["-c:v", "copy"]
    weave = ["bwdif=mode=send_frame:deint=interlaced"] if picture.is_interlaced else []
    filters = ",".join([*weave, *encoder_arguments.shaping(picture)])
    return ["-vf", filters, *encoder_arguments.quality(picture)]


def limits_of(content: Content, plan: PlaybackPlan, budget_bytes: int) -> ResourceLimits:
    most = sum(each.bits for each in plan.renditions) / 8 * plan.seconds
    output_bytes = min(budget_bytes, round(max(most, content.size_bytes * 1.2)) + ROOM_BYTES)
    return ResourceLimits(
        wall_seconds=24 * HOURS,
        cpu_seconds=48 * HOURS,
        memory_bytes=6144 * MIB,
        output_bytes=output_bytes,
        nice=BACKGROUND,
    )
