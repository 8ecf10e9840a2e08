"""Lay out JSON, tables, and subtitles in one pass."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.utils.translation import gettext as _

from common import webvtt
from webui.words import formatting

MOST_COLUMNS = 60
LONGEST_CELL = 500
SEPARATORS = ",;\t|"
DEEPEST = 24
INDENT = "  "
# Each alternative consumes whatever it begins with, so that no text is scanned twice.
JSON_PARTS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
EVENTS = "[Script Info]\n[Events]\n"
MARKUP = re.compile(r"<[^<>]{0,200}>|\{[^{}]{0,500}\}")


@dataclass(frozen=True)
class CueRow:
    time: str
    text: str


@dataclass(frozen=True)
class Table:
    head: list[str]
    rows: list[list[str]]
    more: str  # says how many columns are left out


# JSON


def laid_out(text: str, most_lines: int) -> str:
    """Indent JSON, keeping numbers, order, and duplicate names. Return the text unchanged if the
    result would be too long."""
    lines = list(islice(json_lines(text), most_lines + 1))
    return "\n".join(lines) if len(lines) <= most_lines else text


def json_lines(text: str) -> Iterator[str]:
    """Yield indented lines without parsing: text that isn't JSON is kept, and any depth works."""
    depth, line, is_open = 0, "", False
    for part in JSON_PARTS.findall(text):
        if part in "}]":
            depth = max(depth - 1, 0)
            if not is_open:
                yield line
                line = INDENT * min(depth, DEEPEST)
        elif is_open:
            yield line
            line = INDENT * min(depth, DEEPEST)
        is_open = part in "{["
        depth += is_open
        line += ": " if part == ":" else part
        if part == ",":
            yield line
            line = INDENT * min(depth, DEEPEST)
    yield line


# Tables


def table_of(text: str, extension: str, *, has_head: bool) -> Table | None:
    """Return the table, or None if the text isn't one."""
    lines = text.split("\n")
    separator = "\t" if extension == "tsv" else max(SEPARATORS, key=lines[0].count)
    try:
        records = [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return None
    rows = [[cell[:LONGEST_CELL] for cell in row[:MOST_COLUMNS]] for row in records]
    if not rows:
        return None
    width, widest = max(map(len, rows)), max(map(len, records))
    rows = [row + [""] * (width - len(row)) for row in rows]
    head = rows.pop(0) if has_head else []
    return Table(head, rows, more_columns(widest - width))


def more_columns(count: int) -> str:
    if not count:
        return ""
    return _("%(count)s more columns aren't shown.") % {"count": formatting.count_words(count)}


# Cues


def cues_of(text: str, extension: str) -> list[CueRow]:
    """Return the times and words of SubRip, WebVTT, and Advanced SubStation subtitles."""
    # A later piece of a file doesn't say what it is part of.
    head = EVENTS if extension in ("ass", "ssa") else ""
    return [
        CueRow(webvtt.stamp(cue.start_ms).removeprefix("0"), MARKUP.sub("", cue.text).strip())
        for cue in webvtt.cues_in(head + text)
    ]
