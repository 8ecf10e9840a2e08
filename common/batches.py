"""Split a long iterable into batches."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

ROWS_AT_ONCE = 500
Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int = ROWS_AT_ONCE) -> Iterator[list[Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
