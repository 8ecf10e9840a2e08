"""The stages before the import."""

import logging
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from service.details import Details
from service.errors import DiskFull, NotFound, Refusal
from service.fetching.events import FetchEvent, Head, MagnetFound, TorrentFound, Waiting
from service.models import Transfer
from service.torrents.events import Complete, Metadata, Status, TorrentBroken
from service.transfers.download_folders import DownloadPlan
from service.transfers.torrents import identity
from service.transfers.torrents.facts import TorrentFacts
from service.worker.phases.phase import RunPhase
from service.worker.runs.run import Run
from service.worker.runs.stages import OrderState, Transition

log = logging.getLogger("ferry.worker")

State = Transfer.State


class NewPhase(RunPhase):
    def lose_order(self, run: Run, now: datetime) -> None:
        run.folder.clear()
        self._control.begin(run, now)

    def apply_room(self, run: Run, word: str, now: datetime) -> None:
        self._control.judge_held_back(run, word, now)

    def go_on(self, run: Run, now: datetime) -> None:
        self._control.begin(run, now)


class FollowingPhase(RunPhase):
    def lose_order(self, run: Run, now: datetime) -> None:
        leader = self._control.runs.get(run.leader_id)
        if leader is None:
            self._control.begin(run, now)
        else:
            self._control.follow(run, leader, now)


class UnfinishedPhase(RunPhase):
    """The handler of runs whose files are unknown, and of stages that follow."""

    def handle(self, run: Run, event: FetchEvent, now: datetime) -> None:
        match event:
            case Metadata():
                self.know_files(run, facts_of(event), plan_of(event), now)
            case Head():
                self.read_head(run, event, now)
            case TorrentFound() | MagnetFound():
                self.become_another(run, event, now)
            case Complete() if event.choice == run.choice.number:
                self.complete(run, now)
            case Waiting():
                self.await_server(run, event, now)
            case _:
                super().handle(run, event, now)

    def read_head(self, run: Run, head: Head, now: datetime) -> None:
        if head.is_torrent:
            self._control.tools.fetching.proceed(run.key)
            return
        run.can_resume = head.can_resume
        run.write(chooses=False)
        if head.is_page:
            run.write(notice="web_page")
        plan = DownloadPlan(is_folder=False, files=((0, (), head.size_bytes),))
        self.know_files(run, TorrentFacts(head.name, head.size_bytes), plan, now)

    def know_files(self, run: Run, facts: TorrentFacts, plan: DownloadPlan, now: datetime) -> None:
        """Record the files. The worker next checks whether the run may continue."""
        if not plan.files:
            return self._control.fail(run, "invalid_torrent", Details("torrent_empty"))
        was_known, was_asking = run.transfer.size_bytes > 0, run.asks
        try:
            run.folder.keep_plan(plan)
        except DiskFull:
            self._control.hold_back(run, DiskFull.reason, now)
            # The engine reports the files again when the torrent is added again.
            return self._control.withdraw(run)
        goes_on = self._control.identify(run, facts, now, plan)
        self._control.tell_files(run, now)
        if not goes_on:
            return None
        run.take(Transition.KNOW)
        if run.unwanted:
            self._control.tools.engine.choose(run.key, run.unwanted, run.choice.number)
        if was_asking:
            run.become(State.QUEUED)
        elif run.transfer.state == State.METADATA:
            self._keep_slot(run)
        elif run.transfer.state == State.STALLED and not was_known:
            run.become(State.QUEUED)
        return log.info(
            "got metadata transfer=%d files=%d bytes=%d", run.id, len(plan.files), facts.size_bytes
        )

    def _keep_slot(self, run: Run) -> None:
        """Keep the slot in which the size became known, or wait for a slot for large transfers."""
        if not run.leaves_one_slot or self._control.slots_for(run).free_for_large() >= 0:
            run.become(State.DOWNLOADING)
            return
        run.become(State.QUEUED)
        if run.is_fetch:
            # No server waits that long.
            self._control.withdraw(run)

    def become_another(self, run: Run, event: TorrentFound | MagnetFound, now: datetime) -> None:
        """Turn the transfer of a URL into that of the torrent or magnet link it led to."""
        rows = self._control.lease.transfers()
        try:
            if isinstance(event, TorrentFound):
                row = identity.become_torrent(rows, run.transfer, event.content, now)
            else:
                row = identity.become_magnet(rows, run.transfer, event.uri, now)
        except NotFound:
            return self._control.leave(run)
        except identity.SameTorrent as same:
            return self._control.fail(run, same.reason, same.details)
        except Refusal as refusal:
            return self._control.fail(run, refusal.reason, Details("not_a_torrent"))
        run.take(Transition.START_OVER)
        self._control.withdraw(run)
        run.take_over(row)
        run.done_bytes = 0
        return log.info("address became a %s transfer=%d", row.kind, run.id)

    def complete(self, run: Run, now: datetime) -> None:
        if run.is_fetch and not run.is_unpacking and not self._record_size(run, now):
            return
        self._control.start_import(run)
        self._control.share(run, now)

    def _record_size(self, run: Run, now: datetime) -> bool:
        """Record the file's size, which its server may not have sent; return whether it worked."""
        size_bytes = run.folder.file(0).stat().st_size
        try:
            run.folder.keep_plan(DownloadPlan(is_folder=False, files=((0, (), size_bytes),)))
        except DiskFull:
            self.break_off(run, TorrentBroken(run.key, DiskFull.reason), now)
            return False
        is_known = size_bytes == run.transfer.size_bytes
        return is_known or self._control.identify(run, TorrentFacts("", size_bytes), now)

    def await_server(self, run: Run, waiting: Waiting, now: datetime) -> None:
        """Stall until the next try, and leave the slot to others meanwhile."""
        at = now + timedelta(seconds=waiting.seconds)
        details = replace(waiting.details, retry_at=f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}")
        log.info("stalled transfer=%d reason=retrying", run.id)
        run.become(State.STALLED, "retrying", details)

    def give_way(self, run: Run) -> None:
        self._pause(run)
        run.become(State.QUEUED)

    def _pause(self, run: Run) -> None:
        run.take(Transition.WAIT)
        self._control.withdraw(run)


class WaitingPhase(UnfinishedPhase):
    """The handler of waiting runs: the engine or the fetching may or may not have their order."""

    def know_files(self, run: Run, facts: TorrentFacts, plan: DownloadPlan, now: datetime) -> None:
        pass

    def apply_room(self, run: Run, word: str, now: datetime) -> None:
        if word or run.is_held_back:
            self._control.judge_held_back(run, word, now)
        elif run.transfer.state != State.QUEUED:
            self.go_on(run, now)

    def go_on(self, run: Run, now: datetime) -> None:
        if run.is_whole:
            self._control.start_import(run)
        elif run.has_order:
            self._start(run, now)
        else:
            self._control.begin(run, now)

    def _start(self, run: Run, now: datetime) -> None:
        was_started = run.order is OrderState.STARTED
        run.take(Transition.START)
        if run.transfer.state not in (State.STALLED, State.MOVING):
            run.become(State.DOWNLOADING)
        run.restart_patience(now)
        tools = self._control.tools
        if run.is_fetch:
            tools.fetching.proceed(run.key)
        elif was_started:
            tools.engine.resume(run.key)
        else:
            tools.engine.proceed(run.key)


class DownloadingPhase(UnfinishedPhase):
    def observe(self, run: Run, status: Status, now: datetime) -> None:
        super().observe(run, status, now)
        if status.phase != "downloading":
            return
        run.write(download_bytes_per_second=status.download_rate)
        run.note_speed(self._control.slots_for(run).fair_share, now)
        wanted_bytes = status.wanted_bytes or run.transfer.size_bytes
        if wanted_bytes:
            share = min(status.done_bytes / wanted_bytes, 0.999)
            run.write(progress_percent=round(100 * share, 1))
        if run.transfer.state == State.MOVING:
            run.become(State.DOWNLOADING)
        is_retrying = run.transfer.reason == "retrying"
        patience = self._control.limits.patience
        is_stalled = run.transfer.state == State.STALLED
        may_wake = status.peers_sending > 0 or (run.was_obtainable(now) and not is_retrying)
        if is_stalled and may_wake and not run.why_stalled(now, patience):
            self._wake(run)

    def _wake(self, run: Run) -> None:
        """Continue if a slot is free, else wait for one."""
        if self._control.slots_for(run).has_free_for(run):
            run.become(State.DOWNLOADING)
        else:
            self.give_way(run)

    def know_files(self, run: Run, facts: TorrentFacts, plan: DownloadPlan, now: datetime) -> None:
        """Take in the file that a URL leads to after a retry; a torrent never changes."""
        if run.is_fetch:
            run.take(Transition.CHANGE)
            super().know_files(run, facts, plan, now)

    def hold_back(self, run: Run, word: str, now: datetime, details: Details | None = None) -> None:
        self._pause(run)
        super().hold_back(run, word, now, details)

    def _pause(self, run: Run) -> None:
        if run.is_fetch:
            super()._pause(run)
        else:
            run.take(Transition.WAIT)
            self._control.tools.engine.pause(run.key)

    def apply_room(self, run: Run, word: str, now: datetime) -> None:
        if word:
            self.hold_back(run, word, now)


def facts_of(metadata: Metadata) -> TorrentFacts:
    return TorrentFacts(
        metadata.name,
        metadata.size_bytes,
        metadata.is_folder,
        metadata.hash_v1,
        metadata.hash_v2,
        metadata.is_private,
    )


def plan_of(metadata: Metadata) -> DownloadPlan:
    """Return the files to import, without padding, and without links, which have no content."""
    files = (file for file in metadata.files if not file.is_padding and not file.is_symlink)
    return DownloadPlan(
        metadata.is_folder, tuple((file.index, file.path, file.size_bytes) for file in files)
    )
