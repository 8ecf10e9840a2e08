"""How much of a library is searched."""

from typing import NamedTuple


class Coverage(NamedTuple):
    """How many of the known folders the worker has read."""

    read: int
    known: int
    is_full: bool  # the library is larger than the index may become

    @property
    def is_whole(self) -> bool:
        return self.read == self.known
