"""Share the slots for running transfers: which transfers take one, and how long they keep it."""

from collections.abc import Collection, Iterable, Iterator
from datetime import timedelta
from typing import NamedTuple

from service.worker.runs.run import LARGE_BYTES, Run, Runs, leaves_one_slot

# Bytes per second of a transfer that is slow on any line.
LEAST_SHARE = 20_000
# A transfer is slow if it gets less than this part of what each slot gets on average.
SLOW_PART = 0.25
# At most this many transfers per slot run at once, even if all are slow.
MOST_TIMES = 4
# Without peers, while other transfers wait for a slot: the run keeps looking without a slot.
SHORT_PATIENCE = timedelta(seconds=10)


class Candidate(NamedTuple):
    """A transfer that waits for a slot."""

    id: int
    account_id: int
    rank: int
    size_bytes: int

    @property
    def leaves_one_slot(self) -> bool:
        return leaves_one_slot(self.size_bytes, self.rank)


class Slots:
    """The slots of one worker for some kinds of transfers. Of several, one is for small transfers.

    Small transfers thus never wait for large ones, unless a person put these first. Slow transfers
    take no slot unless there are many of them, so quick ones don't wait for slow ones either.
    Torrents and fetches have slots of their own, and never wait for each other.
    """

    def __init__(self, most: int, runs: Runs, kinds: Collection[str]) -> None:
        self.most = most
        self._runs = runs
        self.kinds = kinds

    @property
    def fair_share(self) -> float:
        """Return the bytes per second below which a transfer is slow."""
        total = sum(run.transfer.download_bytes_per_second for run in self.running())
        return max(LEAST_SHARE, total / self.most * SLOW_PART)

    def running(self) -> Iterator[Run]:
        return (run for run in self._runs.all() if run.has_slot and run.transfer.kind in self.kinds)

    def ready(self) -> list[Candidate]:
        """Return the runs that need only a slot, by their ids."""
        rows = [run.transfer for run in self._runs.all() if run.is_ready]
        mine = [row for row in rows if row.kind in self.kinds]
        return sorted(Candidate(row.pk, row.account_id, row.rank, row.size_bytes) for row in mine)

    def account_ids(self) -> set[int]:
        """Return the accounts whose runs have a slot, or need one."""
        runs = {run.transfer.account_id for run in self.running()}
        return runs | {each.account_id for each in self.ready()}

    def last_behind(self, waiting: Candidate) -> Run | None:
        """Return the last run of the same account that can give its slot to this transfer."""
        own = (run for run in self.running() if run.transfer.account_id == waiting.account_id)
        behind = [run for run in own if run.transfer.rank > waiting.rank and run.may_give_way]
        return max(behind, key=lambda run: run.transfer.rank, default=None)

    def free(self) -> int:
        running = list(self.running())
        quick = sum(not run.is_slow for run in running)
        return min(self.most - quick, MOST_TIMES * self.most - len(running))

    def free_for_large(self) -> int:
        large = sum(run.is_large and not run.is_slow for run in self.running())
        return min(self.free(), max(1, self.most - 1) - large)

    def beyond(self) -> list[Run]:
        """Return the quick runs, the last ones, that have a slot although there are fewer now."""
        quick = (run for run in self.running() if not run.is_slow)
        return sorted(quick, key=lambda run: run.transfer.rank)[self.most :]

    def has_free_for(self, run: Run) -> bool:
        return (self.free_for_large() if run.leaves_one_slot else self.free()) > 0

    def choose(self, waiting: Iterable[Candidate]) -> list[int]:
        """Choose ids in this order. Small ones overtake if large ones find no slot."""
        free, free_for_large = self.free(), self.free_for_large()
        ids: list[int] = []
        for each in waiting:
            if len(ids) >= free:
                break
            if not each.leaves_one_slot or free_for_large > 0:
                ids.append(each.id)
                free_for_large -= each.size_bytes >= LARGE_BYTES
        return ids


def patience_of(run: Run, patience: timedelta, *, others_wait: bool) -> timedelta:
    """Return how long a run may stall before it gives up its slot."""
    has_nobody = not run.is_fetch and not run.transfer.peers_connected
    return min(patience, SHORT_PATIENCE) if others_wait and has_nobody else patience
