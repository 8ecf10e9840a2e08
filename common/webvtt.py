"""Convert subtitles of any format to WebVTT with only words, times, and a little emphasis.

What is written contains only what was parsed and understood: no styles, regions, scripts, fonts,
drawings, or comments.
"""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

MOST_CUES = 20_000
MOST_WRITTEN = 4 * 2**20
LONGEST_CUE = 1_000
# Of an ASS line, of which much may be about its look.
LONGEST_DIALOGUE = 4 * LONGEST_CUE
MOST_LINES_A_CUE = 12
SAID_SECONDS = 10

TIME = r"(?:([0-9]{1,3}):)?([0-9]{1,2}):([0-9]{1,2})[.,]([0-9]{1,3})"
TIMING = re.compile(rf"\s{{0,20}}{TIME}\s{{0,20}}-->\s{{0,20}}{TIME}(?![0-9])(.*)")
# The only WebVTT tags without styling.
KEPT = frozenset({"b", "i", "u", "ruby", "rt"})
MARKUP = re.compile(r"<(/?)([A-Za-z]{1,10})(?:[\s./][^<>]{0,300})?>|<[0-9:.]{1,16}>")
KNOWN_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|nbsp|lrm|rlm|#39);")
# What ASS says about the words that follow; SRT has it, too, though only with a backslash.
OVERRIDE = re.compile(r"\{\\[^{}]{0,500}\}")
BLOCK = re.compile(r"\{([^{}]*)\}")
CUT_BLOCK = re.compile(r"\{[^{}]*$")
CUT_TAG = re.compile(r"<[/biu]{0,2}$")
SWITCH = re.compile(r"\\([biu])(\d{1,3})")
DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")
ABOVE = re.compile(r"\{[^{}]{0,500}\\an[789]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
SETTING = re.compile(
    r"align:(?:start|center|end|left|right)|vertical:(?:rl|lr)|"
    r"(?:line|position|size):-?[0-9]{1,3}(?:\.[0-9]{1,2})?%?(?:,(?:start|center|end))?"
)
MOST_SETTINGS = 6
AT_THE_TOP = " line:5%"


class Cue(NamedTuple):
    start_ms: int
    end_ms: int
    text: str
    settings: str = ""


def webvtt(text: str, cut_words: str) -> str:
    """Return WebVTT, empty if there are no cues. If it would be too long, end with `cut_words`."""
    pieces: list[tuple[int, str]] = []
    size, end_ms = 0, 0
    for cue in cues_in(text):
        markup = markup_of(cue.text) if cue.end_ms > cue.start_ms else ""
        if not markup:
            continue
        if len(pieces) >= MOST_CUES or size > MOST_WRITTEN:
            notice = Cue(end_ms, end_ms + SAID_SECONDS * 1000, "")
            pieces.append((end_ms, line_of(notice, html.escape(cut_words, quote=False))))
            break
        pieces.append((cue.start_ms, line_of(cue, markup)))
        size += len(markup)
        end_ms = max(end_ms, cue.end_ms)
    pieces.sort(key=lambda piece: piece[0])
    return "WEBVTT\n\n" + "\n".join(piece for _start, piece in pieces) if pieces else ""


def line_of(cue: Cue, markup: str) -> str:
    return f"{stamp(cue.start_ms)} --> {stamp(cue.end_ms)}{cue.settings}\n{markup}\n"


def stamp(moment_ms: int) -> str:
    seconds, thousandths = divmod(moment_ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{thousandths:03}"


# Reading


def cues_in(text: str) -> Iterator[Cue]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return dialogues(lines) if is_ass(lines) else blocks(lines)


def is_ass(lines: list[str]) -> bool:
    """Return whether the text is ASS or SSA, by its content, whatever the file's extension."""
    first = next((line.strip() for line in islice(lines, 20) if line.strip()), "")
    return first.casefold() == "[script info]" or first.startswith(";")


def blocks(lines: Iterable[str]) -> Iterator[Cue]:
    """Parse SRT and WebVTT: a line of times, then words up to the next empty line."""
    timing: re.Match[str] | None = None
    text_lines: list[str] = []
    for line in lines:
        match = TIMING.match(line[:200]) if "-->" in line else None
        if timing and (match or not line.strip()):
            yield block(timing, text_lines)
            timing, text_lines = None, []
        if match:
            timing = match
        elif timing and line.strip() and len(text_lines) < MOST_LINES_A_CUE:
            text_lines.append(line[:LONGEST_CUE])
    if timing:
        yield block(timing, text_lines)


def block(timing: re.Match[str], text_lines: list[str]) -> Cue:
    text = "\n".join(text_lines)
    words = [word for word in timing[9].split()[:MOST_SETTINGS] if SETTING.fullmatch(word)]
    settings = "".join(f" {word}" for word in words) or (AT_THE_TOP if ABOVE.match(text) else "")
    start_ms, end_ms = milliseconds(timing.groups()[:4]), milliseconds(timing.groups()[4:8])
    return Cue(start_ms, end_ms, OVERRIDE.sub("", text), settings)


def dialogues(lines: Iterable[str]) -> Iterator[Cue]:
    """Parse ASS and SSA: a table of events, whose last column is the text."""
    columns = ["layer", "start", "end", "style", "name", "l", "r", "v", "effect", "text"]
    is_event = False
    for line in lines:
        head, _colon, rest = line.strip().partition(":")
        if head.startswith("["):
            is_event = head.casefold() == "[events]"
        elif is_event and head.casefold() == "format":
            columns = [name.strip().casefold() for name in rest[:1000].split(",")]
        elif is_event and head.casefold() == "dialogue":
            cue = dialogue(dict(zip(columns, rest.split(",", len(columns) - 1), strict=False)))
            if cue:
                yield cue


def dialogue(row: dict[str, str]) -> Cue | None:
    text = row.get("text", "")
    times = f"{row.get('start', '')[:20].strip()} --> {row.get('end', '')[:20].strip()}"
    timing = TIMING.match(times)
    if timing is None:
        return None
    settings = AT_THE_TOP if ABOVE.match(text[:LONGEST_CUE]) else ""
    start_ms, end_ms = milliseconds(timing.groups()[:4]), milliseconds(timing.groups()[4:8])
    return Cue(start_ms, end_ms, tag_emphasis(text), settings)


def tag_emphasis(dialogue: str) -> str:
    """Return the text of an ASS line, its emphasis as tags; empty if it is a drawing."""
    text = dialogue
    if len(text) > LONGEST_DIALOGUE:
        text = CUT_BLOCK.sub("", text[:LONGEST_DIALOGUE])
    if DRAWING.search(text):
        return ""
    for escape, meant in ((r"\N", "\n"), (r"\n", " "), (r"\h", "\xa0")):
        text = text.replace(escape, meant)
    text = BLOCK.sub(lambda block: "".join(map(tag_of, SWITCH.findall(block[1]))), text)
    return text if len(text) <= LONGEST_CUE else CUT_TAG.sub("", text[:LONGEST_CUE])


def tag_of(switch: tuple[str, str]) -> str:
    name, value = switch
    return f"</{name}>" if value == "0" else f"<{name}>"


def milliseconds(parts: Iterable[str | None]) -> int:
    hours, minutes, seconds, fraction = parts
    whole = (int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
    return whole * 1000 + int((fraction or "0").ljust(3, "0"))


# Writing


def markup_of(text: str) -> str:
    """Return the words, with emphasis tags that open and close in order."""
    text = CONTROL.sub("", text[:LONGEST_CUE])
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    text = "\n".join(lines[:MOST_LINES_A_CUE])
    pieces: list[str] = []
    is_open: list[str] = []
    at = 0
    for tag in MARKUP.finditer(text):
        pieces += [escape(text[at : tag.start()]), clean_tag(tag, is_open)]
        at = tag.end()
    pieces.append(escape(text[at:]))
    pieces += [f"</{name}>" for name in reversed(is_open)]
    # An empty line would end the cue, and its rest would be parsed as the author's own WebVTT.
    markup = "".join(pieces)
    return "\n".join(line for line in markup.split("\n") if line.strip())


def clean_tag(tag: re.Match[str], is_open: list[str]) -> str:
    """Return the tag, or a closing tag with those inside it; nothing if it isn't allowed here."""
    name, is_closing = (tag[2] or "").lower(), bool(tag[1])
    if name not in KEPT or is_closing != (name in is_open):
        return ""
    if not is_closing:
        is_open.append(name)
        return f"<{name}>"
    inner = is_open[is_open.index(name) :]
    del is_open[-len(inner) :]
    return "".join(f"</{each}>" for each in reversed(inner))


def escape(text: str) -> str:
    plain = KNOWN_ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return html.escape(plain, quote=False)
