"""A program that cuts a track into segments, copying its frames unchanged.

Its question, a line of JSON, comes by standard input, so that the program can start before there
is one. It writes one MP4 fragment per segment to standard output, from the requested segment on.
It derives decoding times from the times at which frames are shown: half of all containers store
only these, and that way a segment lasts exactly until the next one begins.
"""

import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from av.container import InputContainer
from av.packet import Packet
from av.stream import Stream

from service.media.hls.formats import boxes, nal
from service.media.hls.formats.boxes import Sample
from service.media.hls.grid import BEGIN_SECONDS
from service.media.sandboxed.containers import begins_at, open_sealed, seek
from service.media.sandboxed.surveyor import from_mark

PREROLL_SECONDS = 1.0


class Frame(NamedTuple):
    at: int  # when it is shown, in the segments' units
    data: bytes
    is_key: bool
    duration: int


class Copied:
    """A track of an open media file, with times in the units of the output."""

    def __init__(self, container: InputContainer, request: dict[str, Any]) -> None:
        self._container = container
        self._request = request
        self._stream: Stream = container.streams[request["track"]]
        self._scale = int(request["timescale"])
        begin = Fraction(begins_at(container)).limit_denominator(10**6)
        self._begin = begin - BEGIN_SECONDS
        self._delay = round(request.get("delay", 0) * self._scale)
        context = self._stream.codec_context
        # Without a global AAC configuration (extradata), every frame has a header.
        self._has_headers = context.name.startswith("aac") and not context.extradata
        self._has_codes = not nal.length_bytes(self._stream.codec_context.extradata or b"")

    def segments(self) -> Iterator[bytes]:
        is_video = self._stream.type == "video"
        groups = self._groups_of_pictures() if is_video else self._stretches_of_sound()
        for number, frames, following in groups:
            yield segment_of(number, frames, following, self._delay)

    def _groups_of_pictures(self) -> Iterator[tuple[int, list[Frame], int | None]]:
        number, marks, by = self._request["first"], self._request["marks"], self._request["by"]
        frames: list[Frame] = []
        for packet in from_mark(self._container, self._stream, marks[0], by):
            if packet.pts is None or not packet.size:
                continue
            frame = self._picture(packet)
            is_next = frames and packet.is_keyframe and len(marks) > 1
            if is_next and getattr(packet, by) >= marks[1]:
                yield number, frames, frame.at
                number, marks, frames = number + 1, marks[1:], []
                if number > self._request["last"]:
                    return
            frames.append(frame)
        if frames:
            yield number, frames, None

    def _picture(self, packet: "Packet[Any]") -> Frame:
        data = bytes(packet)
        return Frame(
            self._units(packet, packet.pts or 0),
            nal.with_lengths(data) if self._has_codes else data,
            packet.is_keyframe,
            self._lasting(packet),
        )

    def _stretches_of_sound(self) -> Iterator[tuple[int, list[Frame], int | None]]:
        """Group frames by segment. A frame belongs to the segment in which its middle lies."""
        number, step = self._request["first"], Fraction(self._request["step"]) * self._scale
        begin = BEGIN_SECONDS * self._scale
        frames: list[Frame] = []
        for frame in self._sounds(float(number * step / self._scale)):
            belongs_to = int((frame.at - begin + frame.duration // 2) // step)
            if belongs_to < number:
                continue
            if belongs_to > number and number < self._request["final"]:
                if frames:
                    yield number, frames, frame.at
                number, frames = belongs_to, []
                if number > self._request["last"]:
                    return
            frames.append(frame)
        if frames:
            yield number, frames, None

    def _sounds(self, start: float) -> Iterator[Frame]:
        if start > PREROLL_SECONDS:
            seek(self._container, start - PREROLL_SECONDS)
        latest = -1
        for packet in self._container.demux(self._stream):
            if packet.pts is None or not packet.size:
                continue
            at = self._units(packet, packet.pts)
            if at > latest:
                latest = at
                data = without_header(bytes(packet)) if self._has_headers else bytes(packet)
                yield Frame(at, data, is_key=True, duration=self._lasting(packet))

    def _units(self, packet: "Packet[Any]", at: int) -> int:
        return round((at * packet.time_base - self._begin) * self._scale)

    def _lasting(self, packet: "Packet[Any]") -> int:
        return round((packet.duration or 0) * packet.time_base * self._scale)


def segment_of(number: int, frames: list[Frame], following: int | None, delay: int) -> bytes:
    """Return a segment as a fragment.

    `following` is when the next segment's first frame is shown. `delay` separates decoding from
    showing; without it, frames shown in another order would be late.
    """
    times = sorted(frame.at for frame in frames)
    end = times[-1] + max(1, frames[-1].duration) if following is None else following
    ends = [*times[1:], max(end, times[-1])]
    samples = [
        Sample(frame.data, ends[order] - at, frame.is_key, frame.at - at + delay)
        for order, (frame, at) in enumerate(zip(frames, times, strict=True))
    ]
    return boxes.fragment(number + 1, max(0, times[0] - delay), samples)


def without_header(data: bytes) -> bytes:
    """Strip the header that AAC has in each frame of MPEG-TS; with a checksum it is longer."""
    if len(data) > 7 and data[0] == 0xFF and data[1] & 0xF0 == 0xF0:
        return data[7:] if data[1] & 0x01 else data[9:]
    return data


def main() -> None:
    request = json.loads(sys.stdin.readline())
    with open_sealed(request["path"]) as container:
        for segment in Copied(container, request).segments():
            sys.stdout.buffer.write(segment)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
