from datetime import datetime

from service.models import Transfer
from service.torrents.events import Status
from service.transfers.download_folders import DownloadPlan
from service.transfers.torrents.facts import TorrentFacts
from service.worker.phases.unfinished import UnfinishedPhase
from service.worker.runs import stalling
from service.worker.runs.run import Run
from service.worker.runs.stages import Transition

State = Transfer.State


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
        if is_stalled and may_wake and not stalling.why_stalled(run, now, patience):
            self._wake(run)

    def _wake(self, run: Run) -> None:
        """Continue if a slot is free, else wait for one."""
        if self._control.slots_for(run).has_free_for(run):
            run.become(State.DOWNLOADING)
        else:
            self._pause(run)
            run.become(State.QUEUED)

    def know_files(self, run: Run, facts: TorrentFacts, plan: DownloadPlan, now: datetime) -> None:
        """Take in the file that a URL leads to after a retry; a torrent never changes."""
        if run.is_fetch:
            run.take(Transition.CHANGE)
            self._know_files(run, facts, plan, now)

    def hold_back(self, run: Run, word: str, now: datetime, sentence: str = "") -> None:
        self._pause(run)
        super().hold_back(run, word, now, sentence)

    def _pause(self, run: Run) -> None:
        run.take(Transition.WAIT)
        if run.is_fetch:
            self._control.withdraw(run)
        else:
            self._control.tools.engine.pause(run.key)

    def apply_room(self, run: Run, word: str, now: datetime) -> None:
        if word:
            self.hold_back(run, word, now)
