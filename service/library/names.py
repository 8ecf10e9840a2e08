"""Names of files and folders: which are allowed, which are equal, and how to number them."""

import os
import re
import unicodedata
from collections.abc import Iterator
from itertools import count

from service.errors import BadName
from service.library.search_text import search_text
from service.models import LONGEST_NAME, File, Folder

# The slash, control characters (Cc), and lone surrogates (Cs), which UTF-8 can't encode. Direction
# marks stay: they are part of names in some languages, and pages only have to show them safely.
NEVER_IN_A_NAME = re.compile(r"[/\x00-\x1f\x7f-\x9f\ud800-\udfff]")
LONGEST_SUFFIX = 20


def check(name: str) -> None:
    """Raise BadName, unless a name may be kept exactly as it was sent."""
    if not name.strip():
        raise BadName("name_empty")
    if len(name) > LONGEST_NAME or len(key_of(name)) > LONGEST_NAME:
        raise BadName("name_too_long")
    if name in (".", "..") or NEVER_IN_A_NAME.search(name):
        raise BadName("name_not_allowed")


def key_of(name: str) -> str:
    """Return the key of a name: names with the same key are the same, however they were typed."""
    return unicodedata.normalize("NFC", name)


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
        name = shorten(key_of(name))
    return otherwise if name in ("", ".", "..") else name


def shorten(name: str) -> str:
    """Cut a name before its suffix, which shows what kind of file it is."""
    stem, suffix = split(name)
    return stem[: LONGEST_NAME - len(suffix)].rstrip() + suffix


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
