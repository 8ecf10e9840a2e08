"""Find entries by the names in a path, as people and programs write it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from common.names import NEVER_IN_A_NAME, key_of, split_extension
from webui.connection.connection import Service
from webui.library.bounds import read_recent
from webui.library.entries import ROOT, Entry
from webui.library.snapshot import Snapshot
from webui.library.sorting import Contents


def names_of(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def find_folder(
    service: Service, names: Sequence[str], now: datetime, top: str = ROOT
) -> Snapshot | None:
    """Return the folder at a path below `top`, or None. Raises Failure."""
    snapshot = read_recent(service, top, now)
    for name in names:
        entry = find_entry(service, snapshot.contents, name)
        if entry is None or not entry.is_folder:
            return None
        snapshot = read_recent(service, entry.id, now)
    return snapshot


def find_entry(service: Service, contents: Contents, name: str) -> Entry | None:
    """Return the entry with a name, however its accents were typed."""
    exact = next((entry for own, entry in path_names(service, contents) if own == name), None)
    if exact or name.isascii():
        return exact
    key = key_of(name)
    return next((entry for own, entry in path_names(service, contents) if key_of(own) == key), None)


def path_names(service: Service, contents: Contents) -> Iterator[tuple[str, Entry]]:
    """Yield each entry with the name that a path has for it. Other services may list names that no
    path can hold, or the same name twice."""
    if service.is_embedded:
        yield from ((entry.name, entry) for entry in contents.entries)
        return
    numbers: dict[str, int] = {}
    for entry in contents.entries:
        name = own_name = path_name(entry.name)
        while own_name in numbers:
            numbers[name] += 1
            stem, extension = (name, "") if entry.is_folder else split_extension(name)
            own_name = f"{stem} ({numbers[name]}){extension}"
        numbers[own_name] = 1
        yield own_name, entry


def path_name(name: str) -> str:
    name = NEVER_IN_A_NAME.sub("_", name)
    return f"_{name}" if name in ("", ".", "..") else name
