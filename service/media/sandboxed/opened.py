"""A medium opened by PyAV: only inside programs that run under limits."""

import json
import sys
from fractions import Fraction
from typing import Any

import av

# PyAV loads these when it first meets subtitles, and then no file can be opened any more.
import av.subtitles.codeccontext
import av.subtitles.stream
from av.container import InputContainer
from av.stream import Stream

from service.media.formats import FORMATS
from service.media.sandboxed.landlock import seal

MICROSECONDS = 1_000_000


def question() -> dict[str, Any]:
    return dict(json.loads(sys.argv[1]))


def opened(path: str) -> InputContainer:
    """Nothing but this file is read, whatever the file says and whoever takes this process over."""
    seal({path: "read"})
    options = {"format_whitelist": FORMATS, "protocol_whitelist": "file", "max_streams": "500"}
    return av.open(f"file:{path}", container_options=options, metadata_errors="replace")


def begins_at(container: InputContainer) -> float:
    """The second that players show as 0."""
    return (container.start_time or 0) / MICROSECONDS


def unit_of(stream: Stream) -> Fraction:
    """What its times count, in seconds."""
    return stream.time_base or Fraction(1, MICROSECONDS)


def seek(container: InputContainer, seconds: float) -> None:
    """To somewhere before, where that is possible."""
    at = max(0.0, seconds) + begins_at(container)
    container.seek(int(at * MICROSECONDS), backward=True)
