"""A finished transfer that still seeds. The engine decides when that ends (its seed_limits)."""

from datetime import datetime

from service.torrents.events import TorrentBroken
from service.transfers.download_folders import DownloadPlan
from service.transfers.torrents.facts import TorrentFacts
from service.worker.phases.phase import RunPhase
from service.worker.runs.run import Run


class SeedingPhase(RunPhase):
    def know_files(self, run: Run, facts: TorrentFacts, _plan: DownloadPlan, now: datetime) -> None:
        """Learn the facts again after a restart, and share the files with runs that want them."""
        run.facts = facts
        self._control.share(run, now)

    def end_seeding(self, run: Run) -> None:
        self._control.end_seeding(run)

    def break_off(self, run: Run, _broken: TorrentBroken, _now: datetime) -> None:
        self._control.end_seeding(run)

    def give_up(self, run: Run) -> None:
        self._control.end_seeding(run)
