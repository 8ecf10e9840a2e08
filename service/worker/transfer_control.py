"""What the worker does with one run: orders to the engine, the fetches, and the import."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from service import notifications, signals
from service.details import Details, LogEntry
from service.errors import DiskFull, NotFound
from service.fetching.fetch import Fetch
from service.fetching.pool import Fetching
from service.library import names as library_names
from service.models import File, TorrentFile, Transfer
from service.store.sums import Sums
from service.torrents.client import Engine
from service.torrents.orders import Order
from service.transfers import choices, imports
from service.transfers.download_folders import DownloadFolder, DownloadPlan
from service.transfers.limits import CurrentLimits
from service.transfers.torrents import identity, swarms
from service.transfers.torrents.facts import TorrentFacts
from service.unpacking.unpack import Unpack
from service.worker.changes import Changes, compare_revisions
from service.worker.download_shares import DownloadShares
from service.worker.import_files import FileImport, Job
from service.worker.leases import Lease
from service.worker.progress import ProgressWriter
from service.worker.runs.run import Run, Runs
from service.worker.runs.slots import Slots
from service.worker.runs.stages import OrderState, Stage, Transition
from service.worker.saved_fetches import SavedFetches

log = logging.getLogger("ferry.worker")

State = Transfer.State
DISK_PATIENCE = timedelta(seconds=30)


@dataclass(frozen=True)
class Tools:
    """What a worker uses; created again after it loses its lease."""

    engine: Engine
    fetching: Fetching
    imports: FileImport
    changes: Changes = field(default_factory=compare_revisions)
    saved: SavedFetches | None = None  # where machines share a store


class TransferControl:
    def __init__(self, tools: Tools, lease: Lease, limits: CurrentLimits) -> None:
        self.runs = Runs()
        self.tools = tools
        self.lease = lease
        self.limits = limits
        self.progress = ProgressWriter(lease)
        self.slots = {
            kinds: Slots(limits.active_transfers, self.runs, kinds)
            for kinds in (Transfer.TORRENTS, Transfer.FETCHES)
        }
        self._shares = DownloadShares(tools.engine, tools.fetching)

    @contextmanager
    def log_and_leave(self, run: Run, what: str) -> Iterator[None]:
        """Log a failure with one run, such as an illegal transition, and leave the run.

        The failure never stops other runs and isn't retried: a new run begins from the row.
        """
        try:
            yield
        except Exception:
            log.exception("unexpected %s transfer=%d", what, run.id)
            self.leave(run)

    def slots_for(self, run: Run) -> Slots:
        return self.slots[Transfer.FETCHES if run.is_fetch else Transfer.TORRENTS]

    # Limits

    def apply(self, limits: CurrentLimits, now: datetime) -> None:
        self.limits = limits
        for slots in self.slots.values():
            slots.most = limits.active_transfers
        self._shares.apply(limits.transfers, now)

    def apply_own(self, limits: dict[int, Any]) -> None:
        """Apply the limits that transfers have of their own."""
        for run in self.runs.values():
            own = limits.get(run.id)
            if own != run.transfer.limits:
                run.transfer.limits = own
                tool = self.tools.fetching if run.is_fetch else self.tools.engine
                tool.limit_one(run.key, run.limits)

    # Looks

    def ask_swarms(self, now: datetime) -> None:
        """Ask the engine about the torrents that people look at now."""
        looks = swarms.find_looks() if self.runs else {}
        for run in [self.runs[pk] for pk in looks if pk in self.runs]:
            is_due = not timedelta(0) <= now - run.looked_at < swarms.ASK_EVERY
            if is_due and now - looks[run.id] < swarms.LOOK and run.has_order and not run.is_fetch:
                run.looked_at = now
                self.tools.engine.look(run.key)

    # Beginning

    def begin(self, run: Run, now: datetime) -> None:
        """Give the run to the engine or the fetching, which answer with Metadata or Head."""
        with self.log_and_leave(run, "its beginning"):
            self._begin(run, now)

    def _begin(self, run: Run, now: datetime) -> None:
        if run.transfer.state == State.DONE:
            self._seed_again(run)
        elif twin := self.runs.twin(run):
            self.follow(run, twin, now)
        elif self._make_place(run, now):
            run.take(Transition.ADD)
            run.retry_at = None
            run.restart_patience(now)
            if run.transfer.state in (State.QUEUED, State.NO_ROOM):
                is_known = run.transfer.kind == Transfer.Kind.TORRENT or run.transfer.size_bytes
                run.become(State.DOWNLOADING if is_known else State.METADATA)
            self._give(run)

    def _make_place(self, run: Run, now: datetime) -> bool:
        try:
            if run.folder.make(run.transfer) and run.transfer.progress_percent:
                self._take_over(run)
            run.folder.give_back()
            if run.transfer.torrent_id is not None:
                torrent = TorrentFile.objects.get(pk=run.transfer.torrent_id)
                run.folder.keep_torrent(bytes(torrent.content))
        except DiskFull:
            self.hold_back(run, DiskFull.reason, now)
            return False
        except OSError:
            log.exception("can't create a download folder transfer=%d", run.id)
            self.hold_back(run, "disk_error", now)
            return False
        return True

    def _take_over(self, run: Run) -> None:
        """Continue what another machine had begun, or add a notice that the run starts over."""
        if not (run.is_fetch and self.tools.saved and self.tools.saved.has(run.id)):
            run.write(notice=run.transfer.notice or "started_over", progress_percent=0)

    def _give(self, run: Run) -> None:
        if run.is_unpacking:
            self._give_zip_file(run)
        elif run.is_fetch:
            self.tools.fetching.add(Fetch(run.key, run.transfer.source, run.folder.path))
            self.tools.fetching.limit_one(run.key, run.limits)
        else:
            self._read_choice(run)
            self.tools.engine.add(self._order(run))

    def _give_zip_file(self, run: Run) -> None:
        zip_file = File.objects.filter(account=run.transfer.account, pk=run.transfer.source).first()
        if zip_file is None:
            self.fail(run, "zip_gone", Details("zip_gone"))
        else:
            name, _suffix = library_names.split(zip_file.name)
            self.tools.fetching.add(Unpack(run.key, run.folder.path, zip_file.blob, name))

    @staticmethod
    def _read_choice(run: Run) -> None:
        run.choice = choices.read(run.id)
        run.remainder = imports.find_remainder(run.id)

    @staticmethod
    def _order(run: Run) -> Order:
        transfer = run.transfer
        return Order(
            run.key,
            str(run.folder.path),
            magnet=transfer.source if transfer.kind == Transfer.Kind.MAGNET else "",
            uploaded_bytes=transfer.uploaded_bytes,
            unwanted=run.unwanted,
            choice=run.choice.number,
            limits=run.limits,
        )

    def _seed_again(self, run: Run) -> None:
        """Seed only if all files are there: never fetch them again just for others."""
        plan = run.folder.plan()
        is_there = plan is not None and all(
            not size or run.folder.file(index).exists() for index, _path, size in plan.files
        )
        if not is_there or not run.folder.torrent.exists() or self.runs.twin(run):
            return self.end_seeding(run)
        run.take(Transition.SEED)
        order = replace(self._order(run), magnet="", unwanted=(), seeding=True)
        return self.tools.engine.add(order)

    # One torrent that two accounts want

    def follow(self, run: Run, other: Run, now: datetime) -> None:
        self.wait_for(run, other.id)
        self.tell_files(other, now)
        if other.is_whole or other.stage is Stage.SEEDING:
            self.share(other, now)

    def wait_for(self, run: Run, leader_id: int) -> None:
        run.take(Transition.FOLLOW)
        run.leader_id = leader_id
        run.become(State.QUEUED)

    def tell_files(self, leader: Run, now: datetime) -> None:
        """Tell the runs that follow which files there are: people may be about to choose some."""
        plan = leader.folder.plan()
        for run in self.runs.followers(leader):
            if leader.facts is not None and plan is not None and not run.is_withdrawn:
                with self.log_and_leave(run, "its files"):
                    self._read_choice(run)
                    self.identify(run, leader.facts, now, plan)

    def share(self, leader: Run, now: datetime) -> None:
        """Give the leader's files to the runs that follow it and want no others.

        Those that want others fetch all of theirs once the leader is done.
        """
        for run in self.runs.followers(leader):
            if not run.is_withdrawn and leader.facts is not None:
                with self.log_and_leave(run, "its share"):
                    self._share_with(run, leader, leader.facts, now)

    def _share_with(self, run: Run, leader: Run, facts: TorrentFacts, now: datetime) -> None:
        self._read_choice(run)
        if not self.identify(run, facts, now, leader.folder.plan()):
            return None
        if not set(leader.unwanted).issubset(run.unwanted):
            return None
        try:
            run.folder.make(run.transfer)
            run.folder.borrow(leader.folder)
            run.sums = {}
        except DiskFull:
            return self.hold_back(run, DiskFull.reason, now)
        return self.start_import(run)

    # Going on, and waiting

    def identify(
        self, run: Run, facts: TorrentFacts, now: datetime, plan: DownloadPlan | None = None
    ) -> bool:
        """Record what is known of a run, and return whether it goes on."""
        run.facts = facts
        if run.remainder:
            facts = replace(facts, size_bytes=run.remainder.missing_bytes)
        elif run.choice.is_known:
            facts = replace(facts, size_bytes=run.transfer.size_bytes)
        if run.knows(facts):
            return True
        entries = choices.entries_of(plan) if plan and not run.is_fetch else ()
        try:
            rows = self.lease.transfers()
            row = identity.identify(rows, run.transfer, facts, now, entries)
            run.take_over(row)
        except identity.SameTorrent as same:
            self.fail(run, same.reason, same.details)
            return False
        except NotFound:
            self.leave(run)
            return False
        self._read_choice(run)
        if row.state == State.STOPPED:
            run.log.append(LogEntry(row.state, reason=row.reason))
            self.leave(run)
            return False
        return True

    def choose(self, run: Run) -> None:
        """Fetch the files that people want now. What has arrived stays."""
        is_over = run.stage in (Stage.SEEDING, Stage.LEAVING)
        if is_over or self.tools.imports.is_busy_with(run.id):
            return
        row = self.lease.transfers().filter(pk=run.id).first()
        if row is None:
            return
        run.take_over(row)
        self._read_choice(run)
        run.take(Transition.CHOOSE)
        if run.order in (OrderState.GIVEN, OrderState.STARTED):
            self.tools.engine.choose(run.key, run.unwanted, run.choice.number)

    def judge_held_back(self, run: Run, word: str, now: datetime) -> None:
        """Hold back a run for the reason in `word`, or queue it again if the word is empty."""
        if run.retry_at and now < run.retry_at:
            return
        if word:
            self.hold_back(run, word, now)
        elif run.is_held_back:
            run.retry_at = None
            run.become(State.QUEUED)

    def hold_back(self, run: Run, word: str, now: datetime, details: Details | None = None) -> None:
        if run.transfer.reason != word:
            log.info("held back transfer=%d reason=%s", run.id, word)
        run.take(Transition.WAIT)
        run.become(State.STALLED if word == "disk_error" else State.NO_ROOM, word, details)
        run.retry_at = now + DISK_PATIENCE if word.startswith("disk") else None

    def stall(self, run: Run, word: str) -> None:
        log.info("stalled transfer=%d reason=%s", run.id, word)
        run.become(State.STALLED, word)
        if word == "nothing_comes":
            self._add_again(run)

    def _add_again(self, run: Run) -> None:
        """Add the torrent again, but only once.

        After a peer sent a false piece, libtorrent sometimes takes the piece for still in progress,
        and doesn't request it until the torrent is added again.
        """
        if not run.is_fetch and not run.was_added_again:
            run.was_added_again = True
            run.take(Transition.WAIT)
            self.withdraw(run)

    # Into the library

    def hash_ahead(self, run: Run, index: int, size_bytes: int) -> None:
        """Hash the beginning of a file while the rest arrives, or start over if it has 0 bytes."""
        if not size_bytes:
            run.sums = {}
            return
        sums = run.sums.setdefault(index, Sums())
        self.tools.imports.hash_ahead(run.folder.file(index), sums, size_bytes)

    def start_import(self, run: Run) -> None:
        run.take(Transition.IMPORT)
        run.become(State.MOVING)
        run.write(progress_percent=100)

    def start_imports(self, now: datetime) -> None:
        """Start imports, once the batch is written: it must not follow the import's own write."""
        for run in self.runs.all():
            if run.stage is Stage.IMPORTING and not self.tools.imports.is_busy_with(run.id):
                may_seed = run.has_order and not run.is_fetch and not run.unwanted
                seeds = may_seed and not run.limits.is_enough(self.limits.transfers, 0, 0)
                choice = run.choice.number
                job = Job(run.id, self.lease.name, run.folder, run.sums, choice, seeds, now)
                self.tools.imports.start(job)

    # The end

    def fail(self, run: Run, word: str, details: Details | None) -> None:
        log.info("failed transfer=%d reason=%s", run.id, word)
        run.become(State.FAILED, word, details)
        signals.transfer_ended.send(Transfer, state=State.FAILED)
        self.leave(run)

    def end_seeding(self, run: Run) -> None:
        run.write(is_seeding=False, upload_bytes_per_second=0)
        self.leave(run)

    def withdraw(self, run: Run) -> None:
        """Have the engine or the fetching let go of the folder; they answer with TorrentGone."""
        if run.order in (OrderState.GIVEN, OrderState.STARTED):
            run.take(Transition.WITHDRAW)
            if run.is_fetch:
                self.tools.fetching.remove(run.key, may_continue=run.may_continue)
            else:
                self.tools.engine.remove(run.key)

    def leave(self, run: Run) -> None:
        run.take(Transition.LEAVE)
        self.withdraw(run)

    def discard(self, folder: DownloadFolder, transfer_id: int) -> None:
        """Remove the folder of a transfer that is over, and its saved parts in the store."""
        self.tools.imports.aside(folder.remove)
        if self.tools.saved:
            self.tools.imports.aside(partial(self.tools.saved.forget, folder, transfer_id))

    def finish(self, run: Run, now: datetime) -> None:
        """End a run, and remove its folder unless the transfer may continue one day."""
        self.progress.close(run, now)
        is_over = not Transfer.running().filter(pk=run.id).exists()
        self.runs.pop(run.id, None)
        if is_over:
            self.discard(run.folder, run.id)
        else:
            # A paused transfer may have been resumed before this worker gave it up.
            notifications.notify(run.transfer.account_id)
        for follower in self.runs.followers(run):
            if not follower.is_withdrawn:
                self.begin(follower, now)
