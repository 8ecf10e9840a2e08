"""Subtitles as WebVTT: text, and which of it is bold, italic, or underlined; nothing else."""

import re
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from service.media.hls.grid import BEGIN_SECONDS

CLOCK = 90_000  # of MPEG, to whose times HLS maps the times of subtitles
# libavcodec decodes every text format to lines of ASS: eight fields, then the text.
FIELDS_BEFORE_TEXT = 8
OVERRIDE = re.compile(r"\{([^{}]*)\}")
SWITCH = re.compile(r"\\([biu])(\d+)")
DRAWING = re.compile(r"\\p[1-9]")
BREAK = re.compile(r"\\[Nn]")
MOST_CUES, LONGEST_DIALOGUE = 2000, 2000


class CaptionCue(NamedTuple):
    start: float  # in seconds
    end: float
    text: str


def write(cues: Iterable[CaptionCue]) -> str:
    lines = ["WEBVTT", f"X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:{BEGIN_SECONDS * CLOCK}", ""]
    for cue in cues:
        lines += [f"{clock(cue.start)} --> {clock(cue.end)}", cue.text, ""]
    return "\n".join(lines)


def clock(seconds: float) -> str:
    whole = round(seconds * 1000)
    minutes, milliseconds = divmod(whole, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{milliseconds // 1000:02}.{milliseconds % 1000:03}"


def text_of(dialogue: str) -> str:
    """Convert the dialogue of an ASS line, without its fields, to WebVTT.

    All markup in it is our own, and is never cut in two, since long dialogue is cut before.
    """
    dialogue = dialogue[:LONGEST_DIALOGUE]
    if DRAWING.search(dialogue):
        return ""
    parts: list[str] = []
    open_tags: list[str] = []
    at = 0
    for match in OVERRIDE.finditer(dialogue):
        parts.append(escape(dialogue[at : match.start()], quote=False))
        parts += tags_for(match[1], open_tags)
        at = match.end()
    parts.append(escape(dialogue[at:], quote=False))
    parts += [f"</{tag}>" for tag in reversed(open_tags)]
    text = BREAK.sub("\n", "".join(parts)).replace("\\h", " ")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def tags_for(codes: str, open_tags: list[str]) -> list[str]:
    """Return the tags for one override's switches, which may overlap in ASS, but not in WebVTT."""
    parts: list[str] = []
    for tag, value in SWITCH.findall(codes):
        if value != "0" and tag not in open_tags:
            open_tags.append(tag)
            parts.append(f"<{tag}>")
        elif value == "0" and tag in open_tags:
            while open_tags:
                closed = open_tags.pop()
                parts.append(f"</{closed}>")
                if closed == tag:
                    break
    return parts


def without_fields(line: str) -> str:
    return line.split(",", FIELDS_BEFORE_TEXT)[-1] if line.count(",") >= FIELDS_BEFORE_TEXT else ""
