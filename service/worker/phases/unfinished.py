"""Code that the handlers of stages before the import share."""

import logging
from datetime import UTC, datetime, timedelta

from service.errors import DiskFull, NotFound, Refusal
from service.fetching.events import Head, MagnetFound, TorrentFound, Waiting
from service.models import Transfer
from service.torrents.events import TorrentBroken
from service.transfers.download_folders import DownloadPlan
from service.transfers.torrents import identity
from service.transfers.torrents.facts import TorrentFacts
from service.worker.phases.phase import RunPhase
from service.worker.runs.run import Run
from service.worker.runs.stages import Transition

log = logging.getLogger("ferry.worker")

State = Transfer.State


class UnfinishedPhase(RunPhase):
    def read_head(self, run: Run, head: Head, now: datetime) -> None:
        if head.is_torrent:
            self._control.tools.fetching.proceed(run.key)
            return
        if head.is_page:
            run.write(notice="web_page")
        plan = DownloadPlan(is_folder=False, files=((0, (), head.size_bytes),))
        self.know_files(run, TorrentFacts(head.name, head.size_bytes), plan, now)

    def _know_files(self, run: Run, facts: TorrentFacts, plan: DownloadPlan, now: datetime) -> None:
        """Record the files. The worker next checks whether the run may continue."""
        if not plan.files:
            return self._control.fail(run, "invalid_torrent", "There is no file in it.")
        was_known = run.transfer.size_bytes > 0
        try:
            run.folder.keep_plan(plan)
        except DiskFull:
            self._control.hold_back(run, DiskFull.reason, now)
            # The engine reports the files again when the torrent is added again.
            return self._control.withdraw(run)
        if not self._control.identify(run, facts, now):
            return None
        run.take(Transition.KNOW)
        if run.transfer.state == State.METADATA:
            self._keep_slot(run)
        elif run.transfer.state == State.STALLED and not was_known:
            run.become(State.QUEUED)
        return log.info(
            "got metadata transfer=%d files=%d bytes=%d", run.id, len(plan.files), facts.size_bytes
        )

    def _keep_slot(self, run: Run) -> None:
        """Keep the slot in which the size became known, or wait for a slot for large transfers."""
        if not run.is_large or self._control.slots_for(run).free_for_large() >= 0:
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
            return self._control.fail(run, same.reason, same.sentence)
        except Refusal as refusal:
            sentence = "What the address led to is no torrent that can be read."
            return self._control.fail(run, refusal.reason, sentence)
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
            self.break_off(run, TorrentBroken(run.key, DiskFull.reason, ""), now)
            return False
        is_known = size_bytes == run.transfer.size_bytes
        return is_known or self._control.identify(run, TorrentFacts("", size_bytes), now)

    def await_server(self, run: Run, waiting: Waiting, now: datetime) -> None:
        """Stall until the next try, and leave the slot to others meanwhile."""
        at = now + timedelta(seconds=waiting.seconds)
        again = f"Ferry will try again at {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC."
        log.info("stalled transfer=%d reason=retrying", run.id)
        run.become(State.STALLED, "retrying", f"{waiting.sentence} {again}")
