"""Probe video and audio, and draw a frame or the cover."""

import importlib
import io
import pkgutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, BinaryIO, cast

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition, Stream
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from PIL import Image, ImageStat

from service.media.formats import DECODERS, LIMITS
from service.media.pictures.sizes import FRAME, FRAMES, FRAMES_IN_ROW, PictureSize
from service.media.probe import MOST_CHAPTERS, MediaTrack, Probed, TrackKind
from service.media.sandboxed import drawing
from service.media.sandboxed.containers import begins_at, seek
from service.media.sandboxed.drawing import Unfit

MOST_TRACKS = 200
MOST_PIXELS = 8192 * 8192
MOST_PACKETS = 2000  # read to find one frame
LOOK_SECONDS = 6.0
# Fractions of the length at which a film is likely to show something.
POSITIONS = (0.1, 0.3, 0.5, 0.02, 0.7, 0.9)
BLACK, FLAT = 24, 6  # of 255: a lower mean is black, a lower deviation is flat
TEXT_SUBTITLES = {"ass", "ssa", "subrip", "srt", "webvtt", "mov_text", "text", "ttml"}
PROGRESSIVE = (0, 1)  # unknown, progressive
MOST_COVER_BYTES = 32 * 2**20
LONGEST_TITLE = 200
FILMSTRIP_SECONDS = 45.0  # of CPU time
FILMSTRIP_QUALITY = 60


def make_ready() -> None:
    """Load now what would otherwise be loaded on first use."""
    for module in pkgutil.walk_packages(av.__path__, "av."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@contextmanager
def open_film(medium: BinaryIO) -> Iterator[InputContainer]:
    """Open a media file. Raises Unfit.

    Formats that refer to other files are refused, and so are all protocols.
    """
    options = LIMITS | {"protocol_whitelist": "none"}
    try:
        container = av.open(medium, "r", metadata_errors="replace", container_options=options)
    except av.FFmpegError as trouble:
        raise Unfit(f"it can't be read: {trouble.strerror}") from trouble
    with container:
        if len(container.streams) > MOST_TRACKS:
            raise Unfit("it has too many tracks", is_limit=True)
        refuse_rare_codecs(container)
        yield container


def refuse_rare_codecs(container: InputContainer) -> None:
    """Raise Unfit if a track needs a decoder that few files need. libav has this list, too.

    Covers need none of libav's decoders: Pillow draws them.
    """
    for stream in (*container.streams.video, *container.streams.audio):
        context = stream.codec_context
        if stream.disposition & Disposition.attached_pic:
            continue
        if context is not None and context.codec.name not in DECODERS.split(","):
            raise Unfit(f"Ferry doesn't read its codec, {context.codec.canonical_name}")


def probe(container: InputContainer) -> Probed:
    film = film_of(container)
    # Only the first frame shows the rotation, and whether the film can be read.
    frame = next(frames(container, film), None) if film else None
    tracks = (track_of(stream, frame) for stream in container.streams)
    return Probed(
        container.format.name, duration_of(container), tuple(each for each in tracks if each)
    )


def duration_of(container: InputContainer) -> float:
    if container.duration is not None:
        return max(0.0, container.duration / av.time_base)
    lengths = [
        float(each.duration * each.time_base)
        for each in container.streams
        if each.duration and each.time_base
    ]
    return max(lengths, default=0.0)


def track_of(stream: Stream, frame: VideoFrame | None) -> MediaTrack | None:
    kind = kind_of(stream)
    if kind is None:
        return None
    facts: dict[str, Any] = {
        "index": stream.index,
        "kind": kind,
        "codec": codec_of(stream),
        "language": language_of(stream),
        "title": stream.metadata.get("title", "")[:200],
        "is_default": bool(stream.disposition & Disposition.default),
        "profile": (stream.profile or "") if stream.codec_context else "",
        "is_text": kind == TrackKind.SUBTITLE and codec_of(stream) in TEXT_SUBTITLES,
    }
    if isinstance(stream, VideoStream) and stream.codec_context:
        facts |= picture_facts(stream, frame if kind == TrackKind.VIDEO else None)
    if isinstance(stream, AudioStream) and stream.codec_context:
        context = stream.codec_context
        facts |= {"channels": context.channels, "sample_rate": context.sample_rate}
    return MediaTrack(**facts)


def language_of(stream: Stream) -> str:
    language = (stream.language or "")[:35]
    return "" if language == "und" else language


def kind_of(stream: Stream) -> TrackKind | None:
    match stream.type:
        case "video":
            is_cover = stream.disposition & (Disposition.attached_pic | Disposition.still_image)
            return TrackKind.PICTURE if is_cover else TrackKind.VIDEO
        case "audio":
            return TrackKind.AUDIO
        case "subtitle":
            return TrackKind.SUBTITLE
    return None


def codec_of(stream: Stream) -> str:
    context = stream.codec_context
    return context.codec.canonical_name if context else "unknown"


def picture_facts(stream: VideoStream, frame: VideoFrame | None) -> dict[str, Any]:
    context = stream.codec_context
    rate = stream.average_rate or stream.guessed_rate
    is_interlaced = context.field_order not in PROGRESSIVE or bool(frame and frame.interlaced_frame)
    return {
        "width": context.width,
        "height": context.height,
        "pixel_format": context.pix_fmt or "",
        "frames_per_second": round(float(rate), 3) if rate else 0,
        "rotation_degrees": rotation_of(frame) if frame else 0,
        "is_interlaced": is_interlaced,
    }


def rotation_of(frame: VideoFrame) -> int:
    """Return the clockwise rotation in steps of 90 degrees; ffmpeg counts counterclockwise."""
    return round(-frame.rotation / 90) * 90 % 360


def film_of(container: InputContainer) -> VideoStream | None:
    """Return the video track with which a player would begin."""
    films = [each for each in container.streams.video if is_film(each)]
    return max(films, key=lambda each: bool(each.disposition & Disposition.default), default=None)


def is_film(stream: VideoStream) -> bool:
    context = stream.codec_context
    if kind_of(stream) != TrackKind.VIDEO or context is None:
        return False
    return 0 < context.width * context.height <= MOST_PIXELS


def draw(container: InputContainer, sizes: Sequence[PictureSize]) -> list[bytes]:
    """Draw a frame that shows something, or the cover of audio, in each of the sizes."""
    stream = film_of(container)
    if stream is None:
        return draw_cover(container, sizes)
    frame = choose_frame(container, stream)
    if frame is None:
        raise Unfit("it shows no picture that can be read")
    return drawing.encode(image_of(frame, stream, sizes), sizes)


def draw_cover(container: InputContainer, sizes: Sequence[PictureSize]) -> list[bytes]:
    """Draw the embedded cover, which is a complete picture file."""
    covers = [each for each in container.streams.video if kind_of(each) == TrackKind.PICTURE]
    packet = next(container.demux(covers[:1]), None) if covers else None
    cover = bytes(packet)[:MOST_COVER_BYTES] if packet is not None else b""
    image = drawing.open_image(io.BytesIO(cover))
    if image is None:
        raise Unfit("it has no picture")
    return drawing.draw(image, sizes)


def choose_frame(container: InputContainer, stream: VideoStream) -> VideoFrame | None:
    """Return a frame that is neither black nor plain if found quickly, else the most varied."""
    deadline = time.monotonic() + LOOK_SECONDS
    best, most = None, -1.0
    for frame in candidates(container, stream):
        brightness, variety = measure_frame(frame)
        if brightness > BLACK and variety > FLAT:
            return frame
        if variety > most:
            best, most = frame, variety
        if time.monotonic() > deadline:
            break
    return best


def candidates(container: InputContainer, stream: VideoStream) -> Iterator[VideoFrame]:
    length = duration_of(container)
    for position in POSITIONS if length else ():
        frame = frame_at(container, stream, position * length)
        if frame is not None:
            yield frame
    with suppress(av.FFmpegError):
        container.seek(container.start_time or 0)
    yield from islice(frames(container, stream), 3)


def frames(container: InputContainer, stream: VideoStream) -> Iterator[VideoFrame]:
    """Yield key frames from the current position on, except from damaged parts."""
    context = stream.codec_context
    if not context.is_open:
        context.skip_frame = "NONKEY"
        context.thread_count = 1
        context.options = {"max_pixels": str(MOST_PIXELS)}
    with suppress(av.FFmpegError):
        for packet in islice(container.demux(stream), MOST_PACKETS):
            with suppress(av.InvalidDataError):
                yield from packet.decode()


def draw_filmstrip(container: InputContainer) -> bytes:
    """Draw what a film shows at even intervals, in rows of one picture."""
    stream, length = film_of(container), duration_of(container)
    if stream is None or not length:
        raise Unfit("it has no length, or no picture that can be read")
    deadline = time.process_time() + FILMSTRIP_SECONDS
    sheet: Image.Image | None = None
    for number in range(FRAMES):
        frame = frame_at(container, stream, length * (number + 0.5) / FRAMES)
        if frame is None:
            continue
        small = image_of(frame, stream, [FRAME])
        if sheet is None:
            (width, height), rows = small.size, FRAMES // FRAMES_IN_ROW
            sheet = Image.new("RGB", (width * FRAMES_IN_ROW, height * rows))
        sheet.paste(small, (number % FRAMES_IN_ROW * width, number // FRAMES_IN_ROW * height))
        if time.process_time() > deadline:
            raise Unfit("it takes too much computing", is_limit=True)
    if sheet is None:
        raise Unfit("it shows no picture that can be read")
    return drawing.file_of(sheet, FILMSTRIP_QUALITY)


def frame_at(container: InputContainer, stream: VideoStream, seconds: float) -> VideoFrame | None:
    """Return the last key frame before a time."""
    with suppress(av.FFmpegError):
        seek(container, seconds)
        return next(frames(container, stream), None)
    return None


def chapters(container: InputContainer) -> list[dict[str, Any]]:
    """Return when each chapter begins, in seconds, and its title."""
    begin = begins_at(container)
    entries = []
    for each in container.chapters()[:MOST_CHAPTERS]:
        start = float(each["start"] * (each["time_base"] or 0)) - begin
        title = each["metadata"].get("title", "")[:LONGEST_TITLE]
        entries.append({"start": max(0.0, start), "title": title})
    return entries


def measure_frame(frame: VideoFrame) -> tuple[float, float]:
    """Return the mean and the standard deviation of brightness."""
    small = frame.reformat(width=32, height=32, format="gray", interpolation="AREA")
    (plane,) = small.planes
    greys = Image.frombytes("L", (32, 32), bytes(plane), "raw", "L", plane.line_size)
    facts = ImageStat.Stat(greys)
    return facts.mean[0], facts.stddev[0]


def image_of(frame: VideoFrame, stream: VideoStream, sizes: Sequence[PictureSize]) -> Image.Image:
    """Return an upright image with square pixels, no larger than the largest of the sizes."""
    ratio = stream.codec_context.sample_aspect_ratio
    width = max(1, round(frame.width * ratio)) if ratio else frame.width
    size = min(width, MOST_PIXELS // frame.height), frame.height
    orientation = drawing.ROTATIONS.get(rotation_of(frame), 1)
    shown = size[::-1] if orientation in drawing.SIDEWAYS else size
    box = drawing.stored_box(shown, sizes, orientation)
    small: Any = frame.reformat(*box, format="rgb24", interpolation="AREA")
    return drawing.upright(cast("Image.Image", small.to_image()), orientation)
