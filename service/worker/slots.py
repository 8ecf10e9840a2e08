"""Share the slots for running transfers: which transfers take one."""

from collections.abc import Iterable

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
        """Choose from ids and sizes, in order. Small ones overtake if large ones find no slot."""
        free, free_for_large = self.free(), self.free_for_large()
        ids: list[int] = []
        for pk, size_bytes in waiting:
            if len(ids) >= free:
                break
            if size_bytes < LARGE_BYTES:
                ids.append(pk)
            elif free_for_large > 0:
                ids.append(pk)
                free_for_large -= 1
        return ids
