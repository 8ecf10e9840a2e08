"""Turn a converter's output into segments that match the playlist."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from service.media.hls import encoder_arguments
from service.media.hls.formats import adts, boxes
from service.media.hls.formats.boxes import Read, Sample
from service.media.hls.grid import BEGIN_SECONDS
from service.media.hls.renditions import AAC_RATE, TEXT_SECONDS, Rendition, RenditionKind
from service.media.sandbox.ffmpeg_access import opens
from service.media.sandbox.launcher import ENVIRONMENT, program

# A captioner taken over by a hostile file could write without end.
MOST_TEXT_BYTES = 32 * 2**20


class Segment(NamedTuple):
    number: int
    data: bytes
    may_be_cut_off: bool = False
    """Only the end of the output ended it, which also happens if the program is killed."""


def command(rendition: Rendition, path: Path, first: int) -> tuple[list[str], dict[str, Any]]:
    """Return the command that makes segments of anything but a copy, and options to start it."""
    if rendition.kind == RenditionKind.TEXT:
        span = {"start": first * TEXT_SECONDS, "end": (first + 1) * TEXT_SECONDS}
        argv = program("captioner", path=str(path), track=rendition.track, **span)
        return argv, {"environment": ENVIRONMENT}
    if rendition.kind == RenditionKind.SOUND:
        return encoder_arguments.sounds(rendition, path, first), {"opens": opens(path)}
    return encoder_arguments.pictures(rendition, path, first), {"opens": opens(path)}


def copier_question(
    rendition: Rendition, path: Path, first: int, last: int, scale: int
) -> dict[str, Any]:
    """Return what a copier is asked. `scale`: units per second of the track."""
    where = {"path": str(path), "track": rendition.track, "timescale": scale}
    span = {"first": first, "last": last, "final": rendition.count - 1}
    if rendition.kind == RenditionKind.PICTURE:
        marks = rendition.marks[first : last + 2]
        cuts = {"marks": marks, "by": rendition.by, "delay": rendition.delay}
        return {**where, **span, **cuts}
    return {**where, **span, "step": str(Fraction(rendition.grid.units, 1000))}


def read(rendition: Rendition, first: int, source: Read) -> Iterator[Segment]:
    """Yield the segments in a converter's output. Raises boxes.Malformed."""
    if rendition.kind == RenditionKind.TEXT:
        return _text(first, source)
    if rendition.is_copied:
        return _copies(first, source)
    if rendition.kind == RenditionKind.SOUND:
        return _sounds(rendition, first, source)
    return _pictures(rendition, first, source)


def _text(first: int, source: Read) -> Iterator[Segment]:
    data = source(MOST_TEXT_BYTES + 1)
    if len(data) > MOST_TEXT_BYTES:
        raise boxes.Malformed("too many words")
    if data:
        yield Segment(first, data, may_be_cut_off=True)


def _copies(first: int, source: Read) -> Iterator[Segment]:
    expected = first
    for piece in boxes.pieces(source):
        number = boxes.sequence_of(piece) - 1
        while expected < number:
            # A gap in the source: an empty segment is silent.
            yield Segment(expected, boxes.fragment(expected + 1, boxes.decoded_at(piece), []))
            expected += 1
        yield Segment(number, piece)
        expected = number + 1


def _pictures(rendition: Rendition, first: int, source: Read) -> Iterator[Segment]:
    grid, pieces = rendition.grid, boxes.pieces(source)
    scale = boxes.timescale(next(pieces, b""))
    for number, piece in enumerate(pieces, first):
        at = (grid.seconds_at(grid.start_of(number)) + BEGIN_SECONDS) * scale
        yield Segment(number, boxes.place_fragment(piece, number + 1, int(at)))


def _sounds(rendition: Rendition, first: int, source: Read) -> Iterator[Segment]:
    grid, frames = rendition.grid, adts.frames(source)
    dropped = list(islice(frames, encoder_arguments.frames_to_drop(rendition, first)))
    if not dropped:
        return
    for number in range(first, grid.count):
        samples = [
            Sample(data, encoder_arguments.SAMPLES)
            for data in islice(frames, grid.units_in(number))
        ]
        if not samples:
            return
        at = grid.start_of(number) * encoder_arguments.SAMPLES + BEGIN_SECONDS * AAC_RATE
        data = boxes.fragment(number + 1, at, samples)
        yield Segment(number, data, may_be_cut_off=len(samples) < grid.units_in(number))
