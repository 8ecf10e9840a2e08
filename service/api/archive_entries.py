"""Read `archive_arr`: the files and folders to put into an archive."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from service.api.auth import AccountRequest
from service.http import bodies
from service.http.refusals import BadEntry, MissingField, UnreadableField
from service.library.moves import Chosen

MOST_ENTRIES = 10_000
# So many in bracket form, percent-encoded, take 1.2 MB.
MOST_BYTES = 4 * 2**20
FOLDER, *FILE = "folder", "file", "folder_file"
FIELD = re.compile(
    r"archive_arr(?P<brackets>\[(?P<index>[0-9]{0,9})\](?:\[(?P<property>type|id)\])?)?"
)


def read_selection(request: AccountRequest) -> tuple[Chosen, bodies.Fields]:
    """Return what a request selects, and all of its fields."""
    fields = bodies.fields_of(request, MOST_BYTES)
    return selection_of(fields.pairs), fields


def selection_of(pairs: bodies.Pairs) -> Chosen:
    """Return the selected ids, each once, in the order of the request."""
    entries = list(parse_entries(entries_of(pairs)))
    folder_ids = [number for kind, number in entries if kind == FOLDER]
    file_ids = [number for kind, number in entries if kind != FOLDER]
    return Chosen(list(dict.fromkeys(folder_ids)), list(dict.fromkeys(file_ids)))


def entries_of(pairs: bodies.Pairs) -> list[tuple[int, Any]]:
    """Return the entries of `archive_arr`, each with its index.

    Clients write the array as JSON (`archive_arr`), entry by entry (`archive_arr[]`,
    `archive_arr[0]`), or property by property (`archive_arr[][type]`, `archive_arr[0][type]`).
    """
    entries = Entries()
    for name, value in pairs:
        match = FIELD.fullmatch(name)
        if match is None or value is None:
            continue
        index = int(match["index"]) if match["index"] else None
        if match["property"]:
            entries.add_property(index, match["property"], value)
        elif match["brackets"]:
            entries.add(index, value)
        else:
            for entry in elements_of(value):
                entries.add(None, entry)
    if not entries.by_index:
        raise MissingField("archive_arr")
    return sorted(entries.by_index.items())


class Entries:
    """Entries by index. An entry without an index follows those before it."""

    def __init__(self) -> None:
        self.by_index: dict[int, Any] = {}
        self._next = 0
        self._unnumbered: list[dict[str, Any]] = []
        self._counts: Counter[str] = Counter()

    def add(self, index: int | None, entry: Any) -> None:
        at = self._next if index is None else index
        if len(self.by_index) == MOST_ENTRIES and at not in self.by_index:
            raise BadEntry(at, "is one too many")
        self.by_index[at] = entry
        self._next = max(self._next, at + 1)

    def add_property(self, index: int | None, name: str, value: Any) -> None:
        entry = self._unnumbered_entry(name) if index is None else self.by_index.get(index)
        if not isinstance(entry, dict):
            entry = {}
            self.add(index, entry)
        entry[name] = value

    def _unnumbered_entry(self, name: str) -> dict[str, Any]:
        """Pair the third type with the third id: some clients send all types before all ids."""
        at = self._counts[name]
        self._counts[name] += 1
        if at == len(self._unnumbered):
            self._unnumbered.append({})
            self.add(None, self._unnumbered[-1])
        return self._unnumbered[at]


def elements_of(array: Any) -> list[Any]:
    """Return the entries of an array, of PHP's object with keys, `{"0": {…}}`, or of one entry."""
    if isinstance(array, str):
        array = bodies.json_value(array, "archive_arr")
    if isinstance(array, dict) and array:
        is_keyed = all(isinstance(each, dict) for each in array.values())
        array = list(array.values()) if is_keyed else [array]
    if not isinstance(array, list) or not array:
        raise UnreadableField("archive_arr")
    return array


def parse_entries(entries: list[tuple[int, Any]]) -> Iterator[tuple[str, int]]:
    for index, value in entries:
        entry = value
        if isinstance(value, str):
            with suppress(UnreadableField):
                entry = bodies.json_value(value, "archive_arr")
        if not isinstance(entry, dict):
            raise BadEntry(index, "is no object")
        if entry.get("type") not in (FOLDER, *FILE):
            raise BadEntry(index, "type is none of file, folder, folder_file")
        try:
            yield entry["type"], bodies.number(entry.get("id"), "id")
        except UnreadableField as unreadable:
            raise BadEntry(index, "id is no number") from unreadable
