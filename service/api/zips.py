"""One ZIP of any files and folders."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.http import HttpResponse

from service import pins
from service.api import answers, bodies
from service.api.errors import BadEntry, Missing, Unreadable
from service.api.http import Request

MOST_ENTRIES = 10_000
# 10,000 entries in bracket form, percent-encoded, have 1.2 MB.
MOST_BYTES = 4 * 2**20
FOLDER, *FILE = "folder", "file", "folder_file"
BRACKETS = re.compile(r"archive_arr\[([0-9]{1,9})\]\[(type|id)\]")
NAME = "Files"


class Selection(NamedTuple):
    """Ids, each once, in the order in which they were named."""

    folder_ids: list[int]
    file_ids: list[int]


def build(request: Request) -> HttpResponse:
    fields = bodies.fields_of(request, MOST_BYTES)
    folder_ids, file_ids = selection_of(fields.values)
    link = pins.pin(request.account, folder_ids, file_ids, NAME, now=request.now)
    return answers.leads_to(request, link)


def selection_of(values: Mapping[str, Any]) -> Selection:
    entries = list(checked(entries_of(values)))
    folder_ids = [number for kind, number in entries if kind == FOLDER]
    file_ids = [number for kind, number in entries if kind != FOLDER]
    return Selection(list(dict.fromkeys(folder_ids)), list(dict.fromkeys(file_ids)))


def entries_of(values: Mapping[str, Any]) -> list[tuple[int, Any]]:
    """As one JSON string, as JSON in a JSON body, or in PHP's bracket form; each with its index."""
    listed = values.get("archive_arr")
    entries = bracketed(values) if listed is None else list(enumerate(as_list(listed)))
    if len(entries) > MOST_ENTRIES:
        raise BadEntry(entries[MOST_ENTRIES][0], "is one too many")
    return entries


def as_list(entries: Any) -> list[Any]:
    if isinstance(entries, str):
        entries = bodies.json_value(entries, "archive_arr")
    if not isinstance(entries, list) or not entries:
        raise Unreadable("archive_arr")
    return entries


def bracketed(values: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    entries: dict[int, dict[str, Any]] = {}
    for name, value in values.items():
        if match := BRACKETS.fullmatch(name):
            entries.setdefault(int(match[1]), {})[match[2]] = value
    if not entries:
        raise Missing("archive_arr")
    return sorted(entries.items())


def checked(entries: list[tuple[int, Any]]) -> Iterator[tuple[str, int]]:
    for index, entry in entries:
        if not isinstance(entry, dict):
            raise BadEntry(index, "is no object")
        if entry.get("type") not in (FOLDER, *FILE):
            raise BadEntry(index, "type is none of file, folder, folder_file")
        try:
            yield entry["type"], bodies.number(entry.get("id"), "id")
        except Unreadable as unreadable:
            raise BadEntry(index, "id is no number") from unreadable
