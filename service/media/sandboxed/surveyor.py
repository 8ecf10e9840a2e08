"""A program that finds where a media file can be cut, when tracks end, and what players need first.

It reads packets and decodes none. Its answer is one JSON document.
"""

import io
import json
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.packet import Packet
from av.stream import Stream
from av.video.stream import VideoStream

from service.media.hls.formats import adts, boxes, nal
from service.media.hls.grid import LONGEST_COPIED_SECONDS
from service.media.sandboxed.containers import MICROSECONDS, begins_at, open_sealed, seek, unit_of

# Other formats have no index, or list frames in it that only seem to be key frames.
INDEXED = {"mov", "matroska"}
# How far before the end to look for the last packets of all tracks.
TAIL_SECONDS = 10
SAMPLES = 6
LOOK_FRAMES, REORDERED = 80, 20
UNTOLD = 2
HDR = {16: "pq", 18: "hlg"}  # transfer characteristics of ITU-T H.273


def main() -> None:
    request = json.loads(sys.argv[1])
    with open_sealed(request["path"]) as container:
        result = survey(container, request)
    if result["keys"]:
        with open_sealed(request["path"]) as container:
            stream = container.streams[request["video"]]
            result["keys"] = check_seeks(container, stream, result["keys"])
    sys.stdout.write(json.dumps(result, separators=(",", ":")))


def survey(container: InputContainer, request: dict[str, Any]) -> dict[str, Any]:
    ends = ends_of(container)
    keys = None
    if request["video"] is not None:
        stream = container.streams[request["video"]]
        keys = keys_of(container, stream, ends.get(stream.index, 0), may_scan=request["may_scan"])
    return {
        "ends": ends,
        "keys": keys,
        "inits": {index: init_of(container, index) for index in request["copied"]},
        "shapes": {each.index: shape_of(each) for each in container.streams.video},
    }


def shape_of(stream: VideoStream) -> dict[str, Any]:
    ratio = stream.sample_aspect_ratio or stream.codec_context.sample_aspect_ratio
    rate = stream.average_rate or stream.guessed_rate
    return {
        "pixel_ratio": float(ratio) if ratio else 1.0,
        "rate": str(rate) if rate else "",
        "hdr": HDR.get(int(stream.codec_context.color_trc), ""),
        "has_matrix": int(stream.codec_context.colorspace) != UNTOLD,
    }


# When each track ends


def ends_of(container: InputContainer) -> dict[int, float]:
    """Return the end of each track in seconds from the beginning, or what the container says."""
    whole = (container.duration or 0) / MICROSECONDS
    ends: dict[int, float] = {}
    with suppress(av.FFmpegError):
        seek(container, whole - TAIL_SECONDS)
        for packet in container.demux():
            if packet.pts is not None:
                end = float((packet.pts + (packet.duration or 0)) * packet.time_base)
                index = packet.stream_index
                ends[index] = max(ends.get(index, 0.0), end - begins_at(container))
    return {stream.index: ends.get(stream.index, whole) for stream in container.streams}


# Cut points


def keys_of(
    container: InputContainer, stream: Stream, end: float, *, may_scan: bool
) -> dict[str, Any] | None:
    """Return the key frames, or None if only a scan of the whole file could find them."""
    if INDEXED.intersection(container.format.name.split(",")):
        with suppress(av.FFmpegError):
            seek(container, end / 2)
        keys = read_index(container, stream)
        if is_complete(keys["times"], end):
            return keys
    return scan(container, stream) if may_scan else None


def read_index(container: InputContainer, stream: Stream) -> dict[str, Any]:
    by = "dts" if "mov" in container.format.name.split(",") else "pts"
    places = [(each.timestamp, each.pos) for each in stream.index_entries if each.is_keyframe]
    has_delay = by == "dts" and bool(places)
    delay = presentation_delay(container, stream, places[0][0]) if has_delay else 0
    return keys_at(container, stream, by, places, delay)


def presentation_delay(container: InputContainer, stream: Stream, mark: int) -> int:
    """Return the time from the first key frame's decoding to its showing."""
    container.seek(mark, stream=stream, backward=True)
    packet = next((each for each in container.demux(stream) if each.is_keyframe), None)
    if packet is None or packet.pts is None or packet.dts is None:
        return 0
    return int(packet.pts - packet.dts)


def keys_at(
    container: InputContainer, stream: Stream, by: str, places: list[tuple[int, int]], delay: int
) -> dict[str, Any]:
    """Describe key frames by their marks, which are times of the stream, and positions."""
    begin, positions = begins_at(container), [position for _mark, position in places]
    return {
        "by": by,
        "marks": [mark for mark, _position in places],
        "times": [float((mark + delay) * unit_of(stream)) - begin for mark, _position in places],
        # From each key frame to the next; unknown for the last one.
        "bytes": [max(0, after - before) for before, after in pairwise(positions)],
    }


def is_complete(times: list[float], end: float) -> bool:
    """Return whether the key frames lie close enough together to be all of them.

    Without an index, only those that were read by chance are known.
    """
    bounds = [0.0, *times, end]
    return all(after - before <= LONGEST_COPIED_SECONDS for before, after in pairwise(bounds))


def scan(container: InputContainer, stream: Stream) -> dict[str, Any]:
    container.seek(0, backward=True)
    places = [
        (packet.pts, packet.pos or 0)
        for packet in container.demux(stream)
        if packet.is_keyframe and packet.pts is not None and packet.size
    ]
    return keys_at(container, stream, "pts", places, 0)


def check_seeks(
    container: InputContainer, stream: Stream, keys: dict[str, Any]
) -> dict[str, Any] | None:
    """Return None unless seeks to some of the cuts lead there, to frames that need no other."""
    step, delay = max(1, len(keys["marks"]) // SAMPLES), Fraction(0)
    length_bytes = nal.length_bytes(stream.codec_context.extradata or b"")
    for mark in keys["marks"][::step]:
        packets = list(islice(from_mark(container, stream, mark, keys["by"]), LOOK_FRAMES))
        if not packets or not nal.is_instant(bytes(packets[0]), length_bytes):
            return None
        delay = max(delay, delay_in(packets))
    return {**keys, "delay": float(delay)}


def delay_in(packets: list["Packet[Any]"]) -> Fraction:
    """Return how much earlier decoding must start so that each frame is decoded before it is shown.

    The last packets don't count, since frames shown before them may still follow.
    """
    times = [each.pts for each in packets if each.pts is not None]
    late = (at - pts for at, pts in zip(sorted(times), times, strict=True))
    return max(islice(late, max(1, len(times) - REORDERED))) * packets[0].time_base


def from_mark(
    container: InputContainer, stream: Stream, mark: int, by: str
) -> Iterator["Packet[Any]"]:
    """Yield the packets from a key frame on, seeking further back where a seek misses it."""
    back = int(2 / unit_of(stream))
    for attempt in range(4):
        container.seek(mark - attempt * attempt * back, stream=stream, backward=True)
        packets = container.demux(stream)
        for packet in packets:
            at = getattr(packet, by)
            if at is None or not packet.is_keyframe:
                continue
            if at > mark:
                break
            if at == mark:
                yield packet
                yield from packets
                return


# Facts needed before the first segment


def init_of(container: InputContainer, index: int) -> dict[str, str]:
    stream = container.streams[index]
    if isinstance(stream, AudioStream) and not stream.codec_context.extradata:
        supply_config(container, stream)
    output = io.BytesIO()
    flags = {"movflags": "empty_moov+default_base_moof"}
    with av.open(output, "w", format="mp4", options=flags) as muxer:
        muxer.add_stream_from_template(stream)
        muxer.start_encoding()
        content = output.getvalue()
    return {"init": b64encode(boxes.init_of(content)).decode(), "codecs": codecs_of(stream)}


def supply_config(container: InputContainer, stream: AudioStream) -> None:
    """Set the AAC configuration: MPEG-TS has it in each frame, MP4 once."""
    if stream.codec_context.name.startswith("aac"):
        container.seek(0, backward=True)
        for packet in islice(container.demux(stream), 1):
            stream.codec_context.extradata = adts.config_of(bytes(packet))


def codecs_of(stream: Stream) -> str:
    extradata = stream.codec_context.extradata or b""
    if isinstance(stream, VideoStream):
        return f"avc1.{nal.profile_of(extradata).hex()}"
    if stream.codec_context.name.startswith("mp3"):
        return "mp4a.40.34"
    kind = extradata[0] >> 3 if extradata else 2
    return f"mp4a.40.{kind}"


if __name__ == "__main__":
    main()
