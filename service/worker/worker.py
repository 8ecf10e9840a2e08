"""The worker: carry out transfers, and record what happened."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.db.models import QuerySet

from service.accounts import traffic
from service.details import LogEntry
from service.errors import StoreAway
from service.library.upkeep.database_match import refuse_other
from service.library.upkeep.sweep import is_certain
from service.models import Transfer
from service.store.blobs import Store
from service.transfers import download_folders, quota, states, wishlist
from service.transfers.download_folders import download_folder
from service.transfers.limits import CurrentLimits, find_own
from service.transfers.ranks import in_rank_order
from service.transfers.torrents import swarms
from service.transfers.transfers import has_result
from service.worker.events import EventHandler
from service.worker.leases import Expelled, Lease
from service.worker.phases import make_phases
from service.worker.runs.queue import Queue, same_torrents
from service.worker.runs.run import Run
from service.worker.runs.slots import patience_of
from service.worker.runs.stages import Stage
from service.worker.transfer_control import Tools, TransferControl

log = logging.getLogger("ferry.worker")

State = Transfer.State

ReadLimits = Callable[[datetime], CurrentLimits]

LONG_AGO = datetime.min.replace(tzinfo=UTC)
LOOK_EVERY = timedelta(seconds=10)
# Without runs, a look finds only what a lost wake-up was about.
IDLE_LOOK_EVERY = timedelta(seconds=30)
JUDGE_EVERY = timedelta(seconds=5)
TIDY_EVERY = timedelta(minutes=1)


class Worker:
    """A worker that carries out what the rows request, `round` by `round`.

    Guarantee: everything in memory may be lost at any line. The rows say what is wanted and what
    was last observed, the download folders hold what has arrived, and the next round, of this
    worker or another, continues from there. Every write is conditional on the lease.
    Cost: what is observed is up to a second old, since it is written in one batch per round.
    """

    def __init__(
        self,
        lease: Lease,
        make_tools: Callable[[], Tools],
        store: Store,
        read_limits: ReadLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lease = lease
        self._make_tools = make_tools
        self._store = store
        self._read_limits = read_limits
        self._clock = clock
        self._shift: Shift | None = None
        self.is_idle = False
        """Whether the next round may wait for a wake-up."""

    def round(self, now: datetime) -> None:
        if self._shift is None:
            tools = self._make_tools()
            tools.engine.start()
            control = TransferControl(tools, self._lease, self._read_limits(now))
            self._shift = Shift(control, self._store, self._read_limits)
        is_engine_alive = self._shift.tools.engine.is_alive(self._clock())
        self.is_idle = is_engine_alive and self._shift.is_idle
        try:
            session = asdict(replace(self._shift.tools.engine.session, received_rate=0))
            self._lease.hold(
                now, is_engine_alive=is_engine_alive, is_idle=self.is_idle, session=session
            )
            self._shift.round(now)
            self.is_idle = self.is_idle and self._shift.is_idle
        except Expelled:
            log.warning("other workers declared this one dead; it starts over")
            self._end_shift(within_seconds=0)

    def stop(self, within_seconds: float) -> None:
        """Finish imports, save what others continue, and free the transfers."""
        self._end_shift(within_seconds)
        self._lease.release()

    def _end_shift(self, within_seconds: float) -> None:
        if self._shift is not None:
            shift, self._shift = self._shift, None
            shift.tools.fetching.stop(within_seconds / 2)
            shift.tools.imports.stop(within_seconds / 4)
            shift.tools.engine.stop(within_seconds / 4)


class Shift:
    """A worker's work during one lease."""

    def __init__(self, control: TransferControl, store: Store, read_limits: ReadLimits) -> None:
        self.tools = control.tools
        self._control = control
        self._read_limits = read_limits
        self._phases = make_phases(control)
        self._events = EventHandler(control, self._phases)
        self._lease = control.lease
        self._runs = control.runs
        self._store = store
        self._queues = [Queue(control.lease, slots) for slots in control.slots.values()]
        self._round_at = self._looked_at = self._judged_at = self._tidied_at = LONG_AGO

    @property
    def is_idle(self) -> bool:
        return not self._runs and not any(queue.has_waiting for queue in self._queues)

    def round(self, now: datetime) -> None:
        if now < self._round_at:
            self._count_anew(now)
        self._round_at = now
        self._apply_limits(now)
        self._events.handle_all(now)
        self._read_rows(now)
        self._check_room(now)
        self._fill_slots(now)
        self._find_stalled(now)
        self._finish_left_runs(now)
        self._report_imports()
        self._control.ask_swarms(now)
        self._control.progress.write(self._runs.values(), now)
        self._control.start_imports(now)
        self._tidy(now)

    def _count_anew(self, now: datetime) -> None:
        """Restart the timers after the clock was set back: they would wait until it caught up."""
        self._looked_at = self._judged_at = self._tidied_at = LONG_AGO
        for run in self._runs.all():
            run.count_anew(now)

    def _apply_limits(self, now: datetime) -> None:
        limits, earlier_limits = self._read_limits(now), self._control.limits
        self._control.apply(limits, now)
        if limits.active_transfers < earlier_limits.active_transfers:
            for queue in self._queues:
                for run in queue.slots.beyond():
                    with self._control.log_and_leave(run, "its lost slot"):
                        self._phases[run.stage].give_way(run)

    # Requested transfers

    def _read_rows(self, now: datetime) -> None:
        """Read the rows when something has changed, and regularly in case a wake-up was lost."""
        is_freed = self._lease.expel_dead(now)
        account_ids = self.tools.changes()
        has_changed = account_ids is None or account_ids or is_freed
        look_every = LOOK_EVERY if self._runs else IDLE_LOOK_EVERY
        if not has_changed and now - self._looked_at < look_every:
            return
        self._looked_at, self._judged_at = now, LONG_AGO
        wishlist.take_up(now, account_ids)
        mine = {each.id: each for each in find_wanted(self._lease.transfers())}
        for run in self._runs.all():
            self._obey(run, mine.get(run.id))
        self._control.apply_own(find_own(self._lease.transfers()))
        wanted_ids = {pk for pk, row in mine.items() if row.state != State.STOPPED}
        # If claiming a batch failed halfway, the rest of our own have no run yet.
        in_hand = wanted_ids - self._runs.keys()
        left = set(find_wanted(free_in_hand()))
        with_slot = (each for each in left if each.state in states.WITH_SLOT)
        need_slots = sorted(each for each in with_slot if not each.chooses)
        in_hand |= {each.id for each in left.difference(need_slots)}
        self._take(sorted(in_hand | same_torrents(self._lease, self._runs.hashes())), now)
        for queue in self._queues:
            own_kinds = (each for each in need_slots if each.kind in queue.slots.kinds)
            queue.left = [each.id for each in in_rank_order(own_kinds)]
            queue.look()

    def _obey(self, run: Run, row: "Wanted | None") -> None:
        """Do what people decided: pause, resume, move, or delete it, or choose its files."""
        if row is None or row.state == State.STOPPED:
            if row and not run.is_paused:
                run.log.append(LogEntry(State.STOPPED))
            run.is_paused = row is not None
            self._phases[run.stage].leave(run)
        else:
            run.transfer.rank = row.rank
            if row.state == State.QUEUED != run.transfer.state and run.stage is not Stage.LEAVING:
                # It was paused and resumed since the last look, and never stopped.
                run.restate()
        if row and row.choice != run.choice.number:
            with self._control.log_and_leave(run, "its choice of files"):
                self._control.choose(run)

    def _take(self, transfer_ids: list[int], now: datetime) -> None:
        if not transfer_ids:
            return
        claimed_ids: set[int] = set()
        # If the store doesn't answer with its files, other workers may reach it. Between tries, the
        # transfers that are under way go on.
        with suppress(StoreAway):
            refuse_other(self._store, insists=False)
            claimed_ids = self._lease.take(transfer_ids, now)
        own = self._lease.transfers().filter(pk__in=transfer_ids)
        rows = own.select_related("account").order_by("rank", "pk")
        for transfer in rows:
            run = Run(transfer, download_folder(transfer.pk), obtainable_at=now, moved_at=now)
            self._runs[run.id] = run
            self._control.begin(run, now)
        if claimed_ids:
            log.info("claimed transfers=%d first=%d", len(claimed_ids), min(claimed_ids))

    # Space and slots

    def _check_room(self, now: datetime) -> None:
        """Check which runs fit: every JUDGE_EVERY, and at once if a run's files became known."""
        is_due = now - self._judged_at >= JUDGE_EVERY
        runs = [run for run in self._runs.values() if run.needs_room]
        if not runs or not (is_due or any(run.is_new_here for run in runs)):
            return
        self._judged_at = now
        account_ids = {run.transfer.account_id for run in runs}
        free_of = quota.free_beside(account_ids, self._lease.name)
        shortages = quota.find_shortages(
            [run.claim for run in runs], free_of, self._store.free_bytes()
        )
        for run in runs:
            with self._control.log_and_leave(run, "its room"):
                self._phases[run.stage].apply_room(run, shortages.get(run.id, ""), now)

    def _fill_slots(self, now: datetime) -> None:
        """Fill free slots with what other workers left, held-back runs, and unclaimed transfers."""
        for queue in self._queues:
            self._take(queue.take_left(), now)
            self._give_slots(queue, queue.choose(), now)
            self._replace_later_runs(queue, now)

    def _give_slots(self, queue: Queue, transfer_ids: list[int], now: datetime) -> None:
        for run in [self._runs[pk] for pk in transfer_ids if pk in self._runs]:
            with self._control.log_and_leave(run, "its slot"):
                self._phases[run.stage].go_on(run, now)
        if new := [pk for pk in transfer_ids if pk not in self._runs]:
            queue.note_begun(new)
            self._take(sorted(new), now)
            queue.look()

    def _replace_later_runs(self, queue: Queue, now: datetime) -> None:
        """Let transfers that people put first have the slots of their accounts' last runs."""
        for waiting in queue.put_first():
            if last := queue.slots.last_behind(waiting):
                self._give_slots(queue, [waiting.id], now)
                run = self._runs.get(waiting.id)
                # Another worker may have been faster, or the disk may be full.
                if run is not None and run.has_slot:
                    with self._control.log_and_leave(last, "its slot"):
                        self._phases[last.stage].give_way(last)

    def _find_stalled(self, now: datetime) -> None:
        for queue in self._queues:
            others_wait = queue.has_waiting or bool(queue.slots.ready())
            for run in queue.slots.running():
                if run.stage in (Stage.ADDED, Stage.DOWNLOADING):
                    self._judge_patience(run, now, others_wait=others_wait)

    def _judge_patience(self, run: Run, now: datetime, *, others_wait: bool) -> None:
        patience = patience_of(run, self._control.limits.patience, others_wait=others_wait)
        if word := run.why_stalled(now, patience):
            with self._control.log_and_leave(run, "its stalling"):
                self._control.stall(run, word)

    # Finished runs and leftovers

    def _finish_left_runs(self, now: datetime) -> None:
        for run in self._runs.all():
            is_busy = run.is_withdrawn or self.tools.imports.is_busy_with(run.id)
            if run.stage is Stage.LEAVING and not is_busy:
                self._control.finish(run, now)
                # People may have resumed it before this worker gave it up.
                self._looked_at = LONG_AGO

    def _report_imports(self) -> None:
        """Report the hashed share as progress between 100 (downloaded) and 101 (done)."""
        for transfer_id, share in self.tools.imports.shares().items():
            run = self._runs.get(transfer_id)
            if run is not None and run.stage is Stage.IMPORTING:
                run.write(progress_percent=round(100 + min(share, 0.99), 2))

    def _tidy(self, now: datetime) -> None:
        if now - self._tidied_at < TIDY_EVERY:
            return
        self._tidied_at = now
        self._sweep_folders()
        wishlist.take_up(now)
        swarms.end_looks(now)
        traffic.roll_up(now)
        for run in self._runs.all():
            if run.stage is Stage.SEEDING and not has_result(run.transfer):
                self._control.end_seeding(run)

    def _sweep_folders(self) -> None:
        """Remove folders of transfers that are over, or were deleted while no worker ran them."""
        if not is_certain(self._store):
            return
        here = set(download_folders.ids_on_disk()) - self._runs.keys()
        wanted_ids = {each.id for each in find_wanted(Transfer.objects.filter(pk__in=here))}
        for transfer_id in here - wanted_ids:
            self._control.discard(download_folder(transfer_id), transfer_id)


class Wanted(NamedTuple):
    id: int
    state: str
    kind: str
    account_id: int
    rank: int
    choice: int
    chooses: bool


def find_wanted(transfers: QuerySet[Transfer]) -> Iterator[Wanted]:
    """Find those of the transfers that should run or seed."""
    undone = transfers.exclude(state=State.DONE).exclude(state=State.FAILED)
    for rows in (undone, transfers.filter(is_seeding=True)):
        yield from map(Wanted._make, rows.order_by().values_list(*Wanted._fields))


def free_in_hand() -> QuerySet[Transfer]:
    """Return the transfers that a worker has begun, and that no worker has now."""
    return Transfer.objects.filter(leased_by="", state__in=(*states.BEGUN, State.DONE))
