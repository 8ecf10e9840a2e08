"""Names of files and folders: how to clean, shorten, and number them."""

import os
from collections.abc import Iterator
from itertools import count

from common.names import LONGEST_NAME, NEVER_IN_A_NAME, find_name_error, key_of
from common.search_text import search_text
from service.errors import BadName
from service.models import File, Folder

LONGEST_SUFFIX = 20


def check(name: str) -> None:
    """Raise BadName, unless a name may be kept exactly as it was sent."""
    if reason := find_name_error(name):
        raise BadName(reason)


def fields_of(name: str) -> dict[str, str]:
    """Return all name columns of a row."""
    return {"name": name, "name_key": key_of(name), "search_text": search_text(name)}


def rename(row: File | Folder, name: str) -> None:
    fields = fields_of(name)
    for field, value in fields.items():
        setattr(row, field, value)
    row.save(update_fields=[*fields])


def clean(text: str, otherwise: str) -> str:
    """Return an allowed name made from untrusted text, or `otherwise` if nothing is left of it."""
    name = " ".join(NEVER_IN_A_NAME.sub(" ", text[: 4 * LONGEST_NAME]).split())
    if max(len(name), len(key_of(name))) > LONGEST_NAME:
        # Cut it before its suffix, which shows what kind of file it is.
        stem, suffix = split(key_of(name))
        name = stem[: LONGEST_NAME - len(suffix)].rstrip() + suffix
    return otherwise if name in ("", ".", "..") else name


def variants(name: str, *, is_folder: bool) -> Iterator[str]:
    """Yield `Name.ext`, `Name (2).ext`, `Name (3).ext`, and so on."""
    yield name
    for number in count(2):
        yield add_number(name, number, is_folder=is_folder)


def add_number(name: str, number: int, *, is_folder: bool) -> str:
    stem, suffix = (key_of(name), "") if is_folder else split(key_of(name))
    mark = f" ({number}){suffix}"
    return stem[: LONGEST_NAME - len(mark)].rstrip() + mark


def split(name: str) -> tuple[str, str]:
    stem, suffix = os.path.splitext(name)  # noqa: PTH122  A name is no path of this machine.
    return (stem, suffix) if len(suffix) <= LONGEST_SUFFIX else (name, "")
