"""One run of a converter: a program that makes segments from a number on, until it is ended."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from service.errors import Refusal
from service.media import refusals
from service.media.cache import is_there
from service.media.hls import segments
from service.media.hls.formats import boxes
from service.media.hls.renditions import Rendition, RenditionKind
from service.media.sandbox.launcher import FOREGROUND, MIB, Failed, ResourceLimits, start_piped
from service.media.sandbox.ready_copiers import LIGHT, ReadyCopiers

ENCODING = ResourceLimits(
    wall_seconds=4 * 3600, cpu_seconds=8 * 3600, memory_bytes=6144 * MIB, nice=FOREGROUND
)


@dataclass(frozen=True)
class ConverterWork:
    """A rendition of a content, and its segments' folder. Equal, whichever blob is read."""

    blob: Path = field(compare=False)
    folder: Path
    rendition: Rendition

    @property
    def is_light(self) -> bool:
        """Copies, sounds, and texts cost little and end soon; encoding pictures takes hours."""
        return self.rendition.is_copied or self.rendition.kind != RenditionKind.PICTURE

    @property
    def init(self) -> Path:
        return self.folder / "init.mp4"

    def path(self, number: int) -> Path:
        return self.folder / f"{number}.{self.rendition.extension}"

    def has(self, number: int) -> bool:
        return is_there(self.path(number))


class ConverterRun:
    def __init__(self, work: ConverterWork, first: int, last: int, copiers: ReadyCopiers) -> None:
        self.first = self.at = first
        self.has_delivered = self.rests = self.is_ended = False
        self.moved_at, self.moved_at_cpu = time.monotonic(), 0.0
        self._work = work
        if work.rendition.is_copied:
            last = min(last, work.rendition.count - 1)
            scale = boxes.timescale(work.init.read_bytes())
            self._running, self._output = copiers.ask(
                segments.copier_question(work.rendition, work.blob, first, last, scale)
            )
        else:
            argv, options = segments.command(work.rendition, work.blob, first)
            limits = LIGHT if work.is_light else ENCODING
            self._running, self._output = start_piped(
                argv, limits=limits, cwd=work.folder, **options
            )
        self.pid = self._running.pid

    def segments(self) -> Iterator[segments.Segment]:
        """Yield the segments. Raises Failed if the process fails."""
        for segment in segments.read(self._work.rendition, self.first, self._output.read):
            self._move()
            if not segment.may_be_cut_off or self._running.wait() == 0:
                yield segment
            self._move()
        if not self.is_ended and self._running.wait() != 0:
            raise self._running.failure()

    @property
    def cpu_seconds(self) -> float:
        return self._running.cpu_seconds

    def _move(self) -> None:
        self.moved_at, self.moved_at_cpu = time.monotonic(), self.cpu_seconds

    def end(self) -> None:
        """End the process. A thread that reads from it sees the end of the output."""
        self.is_ended = True
        self._running.stop()

    def close(self) -> None:
        self._running.stop()
        self._output.close()

    def refusal(self, trouble: Exception) -> Refusal:
        failed = trouble if isinstance(trouble, Failed) else Failed("what came of it is damaged")
        if failed is not trouble:
            with suppress(Exception):
                failed = self._running.failure() if self._running.wait() != 0 else failed
        return refusals.refusal_of(failed)
