"""A program that writes the subtitles of a span of a media file to standard output, as WebVTT."""

import html
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import av
from av.container import InputContainer
from av.packet import Packet
from av.stream import Discard, Stream
from av.subtitles.subtitle import AssSubtitle

from common.webvtt import Cue, line_of, markup_of, tag_emphasis
from service.media.hls.grid import BEGIN_SECONDS
from service.media.sandboxed.containers import begins_at, open_sealed, seek

# How far back to look for subtitles that began earlier and are still shown.
PREROLL_SECONDS = 20.0
CLOCK = 90_000  # of MPEG, to whose times HLS maps the times of subtitles
MOST_CUES = 2000
# libavcodec decodes every text format to lines of ASS: eight fields, then the text.
FIELDS_BEFORE_TEXT = 8


def main() -> None:
    request = json.loads(sys.argv[1])
    with open_sealed(request["path"]) as container:
        stream = container.streams[request["track"]]
        cues = list(cues_between(container, stream, request["start"], request["end"]))[:MOST_CUES]
    sys.stdout.write(write(cues))


def cues_between(
    container: InputContainer, stream: Stream, start: float, end: float
) -> Iterator[Cue]:
    for each in container.streams:
        each.discard = Discard.default if each.index == stream.index else Discard.all
    if start > PREROLL_SECONDS:
        seek(container, start - PREROLL_SECONDS)
    begin = begins_at(container)
    for packet in container.demux(stream):
        if packet.pts is None or not packet.size:
            continue
        at = float(packet.pts * packet.time_base) - begin
        if at >= end:
            return
        until = at + float((packet.duration or 0) * packet.time_base)
        text = "\n".join(lines_of(packet))
        if until > max(start, at) and text:
            yield Cue(max(0, round(at * 1000)), round(until * 1000), text)


def lines_of(packet: "Packet[Any]") -> Iterator[str]:
    try:
        subtitles = packet.decode()
    except av.FFmpegError:
        return
    for each in subtitles:
        if isinstance(each, AssSubtitle):
            fields = each.ass.decode(errors="replace").split(",", FIELDS_BEFORE_TEXT)
            # libavcodec has read all markup: what looks like it is text.
            dialogue = html.escape("".join(fields[FIELDS_BEFORE_TEXT:]), quote=False)
            if text := markup_of(tag_emphasis(dialogue)):
                yield text


def write(cues: Iterable[Cue]) -> str:
    times = f"X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:{BEGIN_SECONDS * CLOCK}"
    return "\n".join(["WEBVTT", times, "", *(line_of(cue, cue.text) for cue in cues)])


if __name__ == "__main__":
    main()
