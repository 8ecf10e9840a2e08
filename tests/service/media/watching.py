"""A viewer who plays a file through the worker's player, and functions to check the result."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import av

from service.media.cache import Cache
from service.media.content_folders import Content, StoredContent
from service.media.hls import plans
from service.media.hls.plans import PlaybackPlan
from service.media.hls.player import Player
from service.media.hls.renditions import Rendition, RenditionKind
from service.media.sandbox.children import Children
from service.media.sandbox.job_turns import Jobs
from service.media.serving.media_server import FileRequest
from service.models import File
from service.store.blobs import library_store
from tests.service.builders import a_file, an_account

GIB = 2**30


class Frame(NamedTuple):
    start: Fraction
    end: Fraction


class Viewer:
    def __init__(self, player: Player, path: Path) -> None:
        with path.open("rb") as stream:
            stored = library_store().put(stream)
        self.file: File = a_file(an_account(), path.name, blob=stored)
        self.player = player
        self.path = path
        self.content = Content(self.file.sha1, self.file.size_bytes)
        self.folder = self.content.folder / "hls"

    def request(self, **question: object) -> FileRequest:
        return FileRequest(StoredContent(self.content, self.file.blob), question)

    def wait_for_the_cuts(self) -> None:
        """Scan the whole file for cuts, as the worker does in the background during playback."""
        assert not self.plan.is_final
        # Without an order, `prepare_one` would wait forever.
        assert self.player._arrivals.qsize() == 1  # noqa: SLF001  See above.
        self.player.prepare_one()
        assert self.plan.is_final

    @property
    def plan(self) -> PlaybackPlan:
        self.player.plan(self.request())
        found = plans.find_plan(self.folder)
        assert found
        return found

    def rendition(self, name: str) -> Rendition:
        found = self.plan.rendition(name)
        assert found, [each.name for each in self.plan.renditions]
        return found

    def names(self, kind: RenditionKind | None = None) -> list[str]:
        return [each.name for each in self.plan.renditions if kind in (None, each.kind)]

    def segment(self, name: str, number: int) -> bytes:
        self.player.segment(self.request(rendition=name, number=number))
        suffix = "vtt" if name.startswith("t") else "m4s"
        return (self.folder / name / f"{number}.{suffix}").read_bytes()

    def init(self, name: str) -> bytes:
        self.player.init(self.request(rendition=name))
        return (self.folder / name / "init.mp4").read_bytes()

    def source(self) -> BinaryIO:
        return library_store().open(self.file.blob)

    def whole(self, name: str, order: Sequence[int] | None = None) -> bytes:
        """Return the whole rendition, with its segments requested in this order."""
        numbers = range(self.rendition(name).count)
        assert order is None or sorted(order) == list(numbers)
        made = {number: self.segment(name, number) for number in order or numbers}
        return self.init(name) + b"".join(made[number] for number in numbers)


def packets(stream: bytes) -> list[Frame]:
    """Return when each frame is shown, in order."""
    with av.open(io.BytesIO(stream)) as container:
        found = [each for each in container.demux() if each.pts is not None and each.size]
        unit = found[0].time_base
        shown = sorted((each.pts * unit, (each.duration or 0) * unit) for each in found)
    return [Frame(at, at + lasting) for at, lasting in shown]


def gaps(frames: Sequence[Frame]) -> list[float]:
    """Return the seconds between the end of each frame and the next; overlaps are negative."""
    return [float(after.start - before.end) for before, after in pairwise(frames)]


def decoded_frames(stream: bytes) -> int:
    with av.open(io.BytesIO(stream)) as container:
        return sum(1 for _ in container.decode(container.streams[0]))


def converters_of(player: Player) -> list[int]:
    """Return the ids of the processes, which Ferry itself never needs."""
    runs = [each._run for each in player.converters._conversions.values()]  # noqa: SLF001
    return [run.pid for run in runs if run]


@contextmanager
def playing(children: Children, most: int = 2, budget_bytes: int = GIB) -> Iterator[Player]:
    player = Player(Jobs(most), children, Cache(budget_bytes))
    try:
        yield player
    finally:
        player.stop()
