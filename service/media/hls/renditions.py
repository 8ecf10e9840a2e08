"""Choose renditions of a media file: what is encoded, and at which size."""

import itertools
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct

from service.media.hls.copyable import container_of
from service.media.hls.grid import Grid, grid
from service.media.probe import MediaTrack, Probed, TrackKind

KNOWING_KEYS = frozenset({"mov", "matroska", "avi", "flv", "asf"})
MOST_SOUNDS, MOST_TEXTS = 16, 32
USUAL_RATE, FASTEST = Fraction(25), Fraction(60)
FAST = Fraction(31)
HIGH_DEFINITION = 720
AAC_RATE = 48_000
AAC_CODECS, AAC_BITS = "mp4a.40.2", 160_000
TEXT_SECONDS, TEXT_UNIT = 60, 1000
COPIED_SOUND_MS, ENCODED_SOUND_FRAMES = 6000, 188  # 188 frames last four seconds
# How far back to look for subtitles that are still shown.
SUBTITLE_SECONDS = 10
BLU_RAY_SUBTITLES = "hdmv_pgs_subtitle"
DRAWN_SUBTITLES = frozenset({BLU_RAY_SUBTITLES, "dvd_subtitle", "dvb_subtitle", "xsub"})
OVERHEAD = 1.05  # of MP4 around its samples
NAME = re.compile("[a-z][a-z0-9]{0,15}")


class RenditionKind(StrEnum):
    PICTURE = "video"
    SOUND = "audio"
    TEXT = "text"


class PictureBox(NamedTuple):
    """A box to fit a picture into, landscape or portrait."""

    name: str
    long: int
    short: int
    most_bits: int
    level: str
    fast_level: str  # over 30 frames a second


SIZES = (
    PictureBox("v1080", 1920, 1080, 5_000_000, "4.0", "4.2"),
    PictureBox("v720", 1280, 720, 2_800_000, "3.1", "3.2"),
    PictureBox("v480", 854, 480, 1_400_000, "3.0", "3.1"),
)


@dataclass(frozen=True)
class Rendition:
    """A rendition, with its own playlist. Copied pictures have `starts`, all others a grid."""

    name: str
    kind: RenditionKind
    track: int
    seconds: float
    is_copied: bool = False
    codecs: str = ""
    bits: int = 0  # per second, at most
    rate: str = ""  # pictures per second, as a fraction
    width: int = 0
    height: int = 0
    level: str = ""
    language: str = ""
    title: str = ""
    is_default: bool = False
    channels: int = 0
    # Of copied pictures
    starts: tuple[float, ...] = ()
    marks: tuple[int, ...] = ()
    by: str = ""
    delay: int | float = 0  # from decoding to showing, in seconds; stored as it was read
    # Of encoded pictures
    hdr: str = ""
    matrix: str = ""  # of the source's colors, as ffmpeg's scale filter names it
    is_interlaced: bool = False
    preroll: int = 0  # seconds to read before, if no seek leads to a key frame
    burned: int | None = None  # the track of subtitles that are drawn into the pictures
    has_square_subtitles: bool = False  # their pixels are square; otherwise, the film's shape

    def __post_init__(self) -> None:
        """Check the name, since it becomes a path. Raises ValueError."""
        if not NAME.fullmatch(self.name):
            raise ValueError(self.name)

    @property
    def extension(self) -> str:
        return "vtt" if self.kind == RenditionKind.TEXT else "m4s"

    @property
    def count(self) -> int:
        return len(self.starts) if self.starts else self.grid.count

    @property
    def durations(self) -> list[float]:
        if not self.starts:
            return self.grid.durations
        bounds = [0.0, *self.starts[1:], max(self.seconds, self.starts[-1] + 0.001)]
        return [after - at for at, after in itertools.pairwise(bounds)]

    @property
    def grid(self) -> Grid:
        match self.kind, self.is_copied:
            case RenditionKind.PICTURE, _:
                return grid(Fraction(self.rate), self.seconds)
            case RenditionKind.SOUND, False:
                return grid(Fraction(AAC_RATE, 1024), self.seconds, ENCODED_SOUND_FRAMES)
            case RenditionKind.SOUND, True:
                return grid(Fraction(1000), self.seconds, COPIED_SOUND_MS)
        return grid(Fraction(TEXT_UNIT), self.seconds, TEXT_SECONDS * TEXT_UNIT)


# Renditions that copy the source


def preroll_of(probed: Probed, track: MediaTrack) -> int:
    """Return how many seconds to read before a position, to pass a key frame.

    A seek leads to a key frame if the container lists them, else to any frame. The key frame
    before lies some way back: half a second in MPEG-2, any distance elsewhere.
    """
    if container_of(probed) & KNOWING_KEYS:
        return 0
    return 2 if track.codec == "mpeg2video" else 12


def main_picture(probed: Probed) -> MediaTrack | None:
    tracks = probed.of_kind(TrackKind.VIDEO)
    return next((track for track in tracks if track.is_default), tracks[0] if tracks else None)


# Pictures


def encoded_pictures(
    track: MediaTrack, shape: "SurveyedShape", seconds: float, *, below: bool, preroll: int
) -> list[Rendition]:
    """Return the sizes to encode. `below`: only sizes smaller than the source, which is copied."""
    width, height = shown_size(track, shape)
    sizes = [size for size in SIZES if min(width, height) > size.short * 1.1]
    if not below:
        sizes = [holding(width, height), *(size for size in sizes if size != SIZES[0])]
    unique = {size.name: size for size in sorted(sizes, key=lambda size: -size.short)}
    return [encoded_picture(track, shape, size, seconds, preroll) for size in unique.values()]


class SurveyedShape(Struct, frozen=True):
    """What the survey adds to the facts that were probed."""

    pixel_ratio: float = 1
    rate: str = ""
    hdr: str = ""
    has_matrix: bool = False


def shown_size(track: MediaTrack, shape: SurveyedShape) -> tuple[int, int]:
    width, height = max(2, round(track.width * shape.pixel_ratio)), max(2, track.height)
    return (height, width) if track.rotation_degrees % 180 else (width, height)


def holding(width: int, height: int) -> PictureBox:
    """Return the smallest box that needs no scaling down, or the largest of all."""
    long, short = max(width, height), min(width, height)
    large_enough = (size for size in reversed(SIZES) if long <= size.long and short <= size.short)
    return next(large_enough, SIZES[0])


def encoded_picture(
    track: MediaTrack, shape: SurveyedShape, size: PictureBox, seconds: float, preroll: int
) -> Rendition:
    width, height = fit(*shown_size(track, shape), size)
    rate = rate_of(shape, track)
    level = size.fast_level if rate > FAST else size.level
    return Rendition(
        name=size.name,
        kind=RenditionKind.PICTURE,
        track=track.index,
        seconds=seconds,
        codecs=f"avc1.6400{round(float(level) * 10):02x}",
        bits=round(size.most_bits * OVERHEAD),
        rate=str(rate),
        width=width,
        height=height,
        level=level,
        hdr=shape.hdr,
        matrix=matrix_of(track, shape),
        is_interlaced=track.is_interlaced,
        preroll=preroll,
    )


def with_subtitles(picture: Rendition, track: int, codec: str) -> Rendition:
    """Return a rendition into which subtitles are drawn that are pictures."""
    return replace(
        picture,
        name=f"{picture.name}s{track}",
        preroll=max(picture.preroll, SUBTITLE_SECONDS),
        burned=track,
        has_square_subtitles=codec == BLU_RAY_SUBTITLES,
    )


def matrix_of(track: MediaTrack, shape: SurveyedShape) -> str:
    """Return the matrix; if it isn't known, what players assume by the number of lines."""
    if shape.has_matrix:
        return "auto"
    return "bt709" if track.height >= HIGH_DEFINITION else "bt601"


def fit(width: int, height: int, size: PictureBox) -> tuple[int, int]:
    factor = min(1.0, size.long / max(width, height), size.short / min(width, height))
    return tuple(max(2, round(each * factor / 2) * 2) for each in (width, height))  # type: ignore[return-value]


def rate_of(shape: SurveyedShape, track: MediaTrack) -> Fraction:
    source_rate = Fraction(shape.rate or track.frames_per_second)
    rate = source_rate.limit_denominator(1001)
    return USUAL_RATE if rate < 1 else min(rate, FASTEST)


# Sounds and texts


def encoded_sound(track: MediaTrack, seconds: float, *, is_default: bool) -> Rendition:
    return Rendition(
        name=f"a{track.index}",
        kind=RenditionKind.SOUND,
        track=track.index,
        seconds=seconds,
        codecs=AAC_CODECS,
        bits=round(AAC_BITS * OVERHEAD),
        language=track.language,
        title=track.title,
        is_default=is_default,
        channels=2,
    )


def text(track: MediaTrack, seconds: float) -> Rendition:
    return Rendition(
        name=f"t{track.index}",
        kind=RenditionKind.TEXT,
        track=track.index,
        seconds=seconds,
        language=track.language,
        title=track.title,
        is_default=track.is_default,
    )
