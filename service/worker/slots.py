"""Share the slots for running transfers: which transfers take one."""

from collections.abc import Iterable
from itertools import islice

from service.worker.run import LARGE_BYTES, Run, Runs


class Slots:
    """The slots of one worker. Of several, one is kept for small transfers.

    Small transfers thus never wait for large ones.
    """

    def __init__(self, most: int, runs: Runs) -> None:
        self._most = most
        self._runs = runs

    def free(self) -> int:
        return self._most - sum(run.has_slot for run in self._runs)

    def free_for_large(self) -> int:
        large = sum(run.has_slot and run.is_large for run in self._runs)
        return min(self.free(), max(1, self._most - 1) - large)

    def has_free_for(self, run: Run) -> bool:
        return (self.free_for_large() if run.is_large else self.free()) > 0

    def choose(self, waiting: Iterable[tuple[int, int]]) -> list[int]:
        """Choose from ids and sizes, by id. Small ones overtake if large ones find no slot."""
        free, in_order = max(0, self.free()), sorted(waiting)
        large = (pk for pk, size in in_order if size >= LARGE_BYTES)
        small = (pk for pk, size in in_order if size < LARGE_BYTES)
        ids = [*islice(large, max(0, self.free_for_large())), *islice(small, free)]
        return sorted(ids)[:free]
