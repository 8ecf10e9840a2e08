"""A run: what a worker knows about a transfer beyond its row."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from service.accounts.traffic import NOTHING, Bytes
from service.details import Details, LogEntry, encode_details
from service.models import Transfer
from service.store.sums import Sums
from service.torrents.events import Swarm
from service.torrents.orders import TransferLimits
from service.transfers import states
from service.transfers.choices import UNKNOWN, FileChoice
from service.transfers.download_folders import DownloadFolder
from service.transfers.imports import Remainder
from service.transfers.limits import own_limits
from service.transfers.quota import Claim
from service.transfers.ranks import is_put_first
from service.transfers.torrents.facts import TorrentFacts
from service.worker.runs.stages import OrderState, RunPosition, Stage, Transition, next_position

# One slot is kept for transfers that are smaller, or may be.
LARGE_BYTES = 100 * 10**6
SLOW_AFTER = timedelta(seconds=10)
# While connected to peers that have the torrent but send nothing: they may be busy with others.
LONG_PATIENCE = timedelta(minutes=10)
LONG_AGO = datetime.min.replace(tzinfo=UTC)

State = Transfer.State
ADOPTED = (
    "kind",
    "source",
    "torrent_id",
    "title",
    "title_key",
    "folder_id",
    "info_hash_v1",
    "info_hash_v2",
    "is_private",
    "size_bytes",
    "chooses",
    "notice",
)


@dataclass
class Run:
    transfer: Transfer  # its row, and the `changes` not yet written
    folder: DownloadFolder
    obtainable_at: datetime  # when peers in reach last had what is missing
    moved_at: datetime  # when bytes last arrived
    changes: dict[str, Any] = field(default_factory=dict)
    facts: TorrentFacts | None = None
    sums: dict[int, Sums] = field(default_factory=dict)  # of the beginnings of its files, by index
    remainder: Remainder | None = None  # of an earlier import; only its missing files are needed
    choice: FileChoice = UNKNOWN
    percents: tuple[int, ...] = ()  # of its files, by index, if they are not yet written
    log: list[LogEntry] = field(default_factory=list)  # what is not yet written
    swarm: Swarm | None = None  # the same
    traffic: Bytes = NOTHING  # the same
    counted: Bytes = NOTHING  # what the engine or the fetch has reported in all
    looked_at: datetime = LONG_AGO  # when the engine was last asked for it
    is_obtainable: bool = False
    was_added_again: bool = False
    leader_id: int = 0  # the run that it follows
    losses: int = 0
    done_bytes: int = 0
    retry_at: datetime | None = None
    is_paused: bool = False  # by a person, who may resume it
    can_resume: bool = False  # whether the URL's server can send the rest
    slow_since: datetime | None = None
    is_slow: bool = False  # and so leaves its slot to others, while it goes on
    _position: RunPosition = field(default=RunPosition(), init=False)

    def take(self, transition: Transition) -> None:
        """Take a transition. Nothing else changes the stage, the order, or whether it is whole.

        Raises IllegalTransition, and then changes nothing.
        """
        self._position = next_position(self._position, transition)
        self.slow_since, self.is_slow = None, False

    @property
    def stage(self) -> Stage:
        return self._position.stage

    @property
    def order(self) -> OrderState:
        return self._position.order

    @property
    def is_whole(self) -> bool:
        """Return whether every byte is on the disk."""
        return self._position.is_whole

    @property
    def has_order(self) -> bool:
        return self.order is not OrderState.NONE

    @property
    def is_withdrawn(self) -> bool:
        return self.order is OrderState.WITHDRAWN

    @property
    def id(self) -> int:
        return self.transfer.pk

    @property
    def key(self) -> str:
        return str(self.transfer.pk)

    @property
    def is_fetch(self) -> bool:
        """Return whether this process fetches or unpacks it, without the engine."""
        return self.transfer.kind not in Transfer.TORRENTS

    @property
    def is_unpacking(self) -> bool:
        return self.transfer.kind == Transfer.Kind.ZIP

    @property
    def has_details(self) -> bool:
        return bool(self.log or self.swarm)

    @property
    def has_progress(self) -> bool:
        return bool(self.changes or self.percents or any(self.traffic))

    @property
    def has_news(self) -> bool:
        """Return whether something isn't yet written."""
        return self.has_progress or self.has_details

    @property
    def has_slot(self) -> bool:
        stages = (Stage.NEW, Stage.ADDED, Stage.WAITING, Stage.DOWNLOADING)
        return self.stage in stages and self.transfer.state in states.WITH_SLOT and not self.asks

    @property
    def asks(self) -> bool:
        """Return whether it only finds out which files there are, which needs no slot."""
        return self.transfer.chooses and not self.is_fetch

    @property
    def may_continue(self) -> bool:
        """Return whether what has arrived is of use when the order is taken back."""
        return self.stage is not Stage.LEAVING or self.is_paused

    @property
    def may_give_way(self) -> bool:
        """Return whether another transfer can have the slot, and nothing is fetched twice."""
        is_kept = self.stage is Stage.ADDED or not self.is_fetch or self.can_resume
        return is_kept and self.stage in (Stage.ADDED, Stage.DOWNLOADING) and not self.is_slow

    @property
    def is_large(self) -> bool:
        return self.transfer.size_bytes >= LARGE_BYTES

    @property
    def leaves_one_slot(self) -> bool:
        return leaves_one_slot(self.transfer.size_bytes, self.transfer.rank)

    @property
    def hashes(self) -> set[str]:
        return {self.transfer.info_hash_v1, self.transfer.info_hash_v2} - {""}

    @property
    def needs_room(self) -> bool:
        """Return whether bytes must still arrive, or be imported, maybe after a pause."""
        stages = (Stage.NEW, Stage.WAITING, Stage.DOWNLOADING, Stage.IMPORTING)
        keeps_space = self.is_paused and self.transfer.state != State.NO_ROOM
        return keeps_space or (self.stage in stages and not self.is_withdrawn)

    @property
    def claim(self) -> Claim:
        is_waiting = self.stage in (Stage.NEW, Stage.WAITING)
        size_bytes = 0 if self.asks else self.transfer.size_bytes
        if self.is_fetch or not size_bytes:
            # Of a torrent, it includes what pieces have of files that aren't wanted.
            size_bytes = max(size_bytes, self.done_bytes)
        missing_bytes = 0 if self.is_whole else max(1, size_bytes - self.done_bytes)
        account_id, rank = self.transfer.account_id, self.transfer.rank
        return Claim(self.id, account_id, rank, size_bytes, missing_bytes, is_waiting)

    @property
    def is_ready(self) -> bool:
        """Return whether the run needs only a slot."""
        is_queued = self.transfer.state == State.QUEUED and not self.is_withdrawn
        return is_queued and self.stage in (Stage.NEW, Stage.WAITING)

    @property
    def is_held_back(self) -> bool:
        return self.retry_at is not None or self.transfer.state == State.NO_ROOM

    @property
    def is_new_here(self) -> bool:
        """Return whether the files just became known, and the run awaits a check of space."""
        is_begun = self.transfer.state in (State.DOWNLOADING, State.STALLED, State.MOVING)
        return self.stage is Stage.WAITING and is_begun and self.retry_at is None

    @property
    def limits(self) -> TransferLimits:
        return own_limits(self.transfer.limits)

    @property
    def unwanted(self) -> tuple[int, ...]:
        """Return the indexes of files that aren't wanted or are in the library, and seed none."""
        present = self.remainder.present_indexes if self.remainder else ()
        return tuple(sorted(self.choice.unwanted.union(present)))

    def knows(self, facts: TorrentFacts) -> bool:
        """Return whether the row has all these facts already, as after a restart."""
        row = self.transfer
        may_be_named = self.is_fetch or row.title.startswith(row.wire_hash)
        is_settled = self.choice.is_known and not row.chooses and not may_be_named
        return is_settled and all(
            getattr(facts, column) == getattr(row, column)
            for column in ("info_hash_v1", "info_hash_v2", "size_bytes", "is_private")
        )

    def take_over(self, row: Transfer) -> None:
        """Copy what was written separately, and keep the `changes` that wait for the batch."""
        for column in ADOPTED:
            setattr(self.transfer, column, getattr(row, column))

    def write(self, **values: Any) -> None:
        for column, value in values.items():
            if getattr(self.transfer, column) != value:
                setattr(self.transfer, column, value)
                self.changes[column] = value

    def become(self, state: str, reason: str = "", details: Details | None = None) -> None:
        if state != self.transfer.state and not states.may_become(self.transfer.state, state):
            raise ValueError(f"{self.transfer.state} never becomes {state}")
        if not states.may_be_for(state, reason):
            raise ValueError(f"{state} is never for {reason!r}")
        encoded = encode_details(details)
        if (state, reason, encoded) != (
            self.transfer.state,
            self.transfer.reason,
            self.transfer.details,
        ):
            self.log.append(LogEntry(state, reason=reason, details=details))
        self.write(state=state, reason=reason, details=encoded)
        if state != State.DOWNLOADING:
            self.write(download_bytes_per_second=0, peers_sending=0)

    def restate(self) -> None:
        """Write the state again over the row's, which says that the run waits."""
        row = self.transfer
        self.changes |= {"state": row.state, "reason": row.reason, "details": row.details}

    def note_import(self, row: Transfer) -> None:
        """Note a finished import, which itself wrote the row, so that no `changes` are left."""
        self.become(State.DONE)
        for column in ("is_seeding", "folder_created_id", "file_created_id"):
            setattr(self.transfer, column, getattr(row, column))
        self.changes = {}

    def count(self, reported: Bytes) -> None:
        """Count what is new. An engine or fetch that gets the transfer again reports from 0."""
        new = (
            after - before if after >= before else after
            for after, before in zip(reported, self.counted, strict=True)
        )
        self.traffic, self.counted = self.traffic.plus(Bytes(*new)), reported

    def restart_patience(self, now: datetime) -> None:
        self.obtainable_at = self.moved_at = now

    def count_anew(self, now: datetime) -> None:
        self.restart_patience(now)
        self.retry_at = self.retry_at and now

    def note_speed(self, fair_share: float, now: datetime) -> None:
        """Note how fast bytes arrive: a run that is slow for a while needs no slot."""
        if self.transfer.download_bytes_per_second >= fair_share:
            self.slow_since = None
        elif self.slow_since is None or self.slow_since > now:
            self.slow_since = now
        self.is_slow = self.slow_since is not None and now - self.slow_since >= SLOW_AFTER

    def was_obtainable(self, now: datetime) -> bool:
        return self.is_obtainable or self.obtainable_at >= now

    def why_stalled(self, now: datetime, patience: timedelta) -> str:
        """Return the reason for stalling, or an empty string."""
        if self.is_obtainable:
            self.obtainable_at = now
        if now - self.obtainable_at >= patience:
            return "not_available" if self.transfer.peers_connected else "no_peers"
        return "nothing_comes" if now - self.moved_at >= LONG_PATIENCE else ""


def leaves_one_slot(size_bytes: int, rank: int) -> bool:
    """Return whether a transfer leaves one slot to small ones: not if a person put it first."""
    return size_bytes >= LARGE_BYTES and not is_put_first(rank)


class Runs(dict[int, Run]):
    """The runs of one worker, by the ids of their transfers."""

    def all(self) -> list[Run]:
        """Return a copy, so that the caller may end runs meanwhile."""
        return list(self.values())

    def twin(self, run: Run) -> Run | None:
        """Return another run whose order has the same torrent: the engine takes each only once."""
        others = (each for each in self._in_engine() if each is not run)
        return next((each for each in others if each.hashes & run.hashes), None)

    def hashes(self) -> set[str]:
        """Return the hashes of torrents that other runs can follow, see `twin`."""
        return {each for run in self._in_engine() for each in run.hashes}

    def _in_engine(self) -> list[Run]:
        return [run for run in self.values() if run.has_order and not run.is_fetch]

    def followers(self, run: Run) -> list[Run]:
        following = (each for each in self.values() if each.stage is Stage.FOLLOWING)
        return [each for each in following if each.leader_id == run.id]
