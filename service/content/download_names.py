"""Names that Windows, macOS, and Linux can all hold and tell apart."""

import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from itertools import count

from common.names import DEVICES, LONGEST_NAME_BYTES, UNSAFE, clip, safe_name, split_extension

# A numbered name keeps this much of the original, so that no number ever makes it too long.
NUMBERED_NAME_BYTES = 240

# For names joined by slashes, with one at each end: matches a name that is empty, ends with what
# Windows drops, or is a device's.
NOT_PLAIN = re.compile(rf"//|[. ]/|/{DEVICES} *[./]", re.IGNORECASE)


class DownloadNames:
    """The names taken in one folder; each new name is made safe and unique.

    Only hashes are kept. If two ever collide, a name gets a number that it doesn't need.
    """

    __slots__ = ("_hashes", "_next")

    def __init__(self) -> None:
        self._hashes = _Hashes()
        # Without this, the n-th equal name would try n numbers.
        self._next: dict[int, int] = {}

    def take_all(self, names: Sequence[str]) -> list[str]:
        """Take the names of files, as if one after the other.

        If all are plain, those before the first duplicate take a quarter of the time.
        """
        folded = map(str.lower, names) if are_plain(names) else ()
        unique_count = self._hashes.add_until_known([*map(hash, folded)])
        return [*names[:unique_count], *map(self.take, names[unique_count:])]

    def take(self, raw_name: str, *, is_folder: bool = False) -> str:
        name = safe_name(raw_name)
        if self._hashes.add(hash(_fold(name))):
            return name
        return self._add_number(name, is_folder=is_folder)

    def _add_number(self, name: str, *, is_folder: bool) -> str:
        stem, extension = (name, "") if is_folder else split_extension(name)
        stem = clip(stem, NUMBERED_NAME_BYTES - len(extension.encode()))
        family = hash(_fold(f"{stem}/{extension}"))
        for number in count(self._next.get(family, 2)):
            candidate = f"{stem} ({number}){extension}"
            if self._hashes.add(hash(_fold(candidate))):
                break
        self._next[family] = number + 1
        return candidate


class _Hashes:
    """A set of hashes that takes 12 to 24 bytes for each; open addressing, 0 is an empty slot.

    Python's set takes some 100 bytes, and 200,000 files in one folder do happen.
    """

    __slots__ = ("_count", "_table")

    def __init__(self) -> None:
        self._count = 0
        self._table = array("q", bytes(8 * 64))

    def add(self, number: int) -> bool:
        """Add a hash, and return whether it is new."""
        return self.add_until_known([number]) == 1

    def add_until_known(self, numbers: Sequence[int]) -> int:
        """Add hashes up to the first that is known, and return how many were new."""
        while (self._count + len(numbers)) * 3 >= len(self._table) * 2:
            self._grow()
        new_count = self._put(numbers)
        self._count += new_count
        return new_count

    def _put(self, numbers: Iterable[int]) -> int:
        table = self._table
        last = len(table) - 1
        new_count = 0
        for number in numbers:
            at = (number or 1) & last
            while entry := table[at]:
                if entry == (number or 1):
                    return new_count
                at = (at + 1) & last
            table[at] = number or 1
            new_count += 1
        return new_count

    def _grow(self) -> None:
        old = self._table
        self._table = array("q", bytes(16 * len(old)))
        self._put(filter(None, old))


def are_plain(names: Sequence[str]) -> bool:
    """Return whether all names are ASCII, and `safe_name` would return each unchanged."""
    text = "".join(names)
    return (
        text.isascii()
        and not UNSAFE.search(text)
        and not NOT_PLAIN.search(f"/{'/'.join(names)}/")
        and max(map(len, names), default=0) <= LONGEST_NAME_BYTES
    )


def _fold(name: str) -> str:
    """Return a form that is equal for names that Windows or macOS confuse.

    Windows ignores case; macOS ignores case, NFD, and invisible characters.
    """
    if name.isascii():
        return name.lower()
    folded = unicodedata.normalize("NFD", name).upper().casefold()
    visible = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFD", visible)
