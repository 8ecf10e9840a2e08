"""Open media files with PyAV: only for programs that run under limits."""

from fractions import Fraction

import av

# PyAV would load these when it first meets subtitles, and by then it can't open files anymore.
import av.subtitles.codeccontext
import av.subtitles.stream
from av.container import InputContainer
from av.stream import Stream

from service.media.formats import LIMITS
from service.media.sandboxed.confinement.landlock import seal

MICROSECONDS = 1_000_000


def open_sealed(path: str) -> InputContainer:
    """Seal this process to this file, and open it.

    It can read no other file then, whatever the file says, even if the process is taken over.
    """
    seal({path: "read"})
    options = LIMITS | {"protocol_whitelist": "file"}
    return av.open(f"file:{path}", container_options=options, metadata_errors="replace")


def begins_at(container: InputContainer) -> float:
    """Return the time, in seconds, that players show as 0."""
    return (container.start_time or 0) / MICROSECONDS


def unit_of(stream: Stream) -> Fraction:
    """Return the unit of the stream's times, in seconds."""
    return stream.time_base or Fraction(1, MICROSECONDS)


def seek(container: InputContainer, seconds: float) -> None:
    """Seek to somewhere before this time, if possible."""
    at = max(0.0, seconds) + begins_at(container)
    container.seek(int(at * MICROSECONDS), backward=True)
