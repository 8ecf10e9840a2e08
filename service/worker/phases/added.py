from datetime import datetime

from service.transfers.download_folders import DownloadPlan
from service.transfers.torrents.facts import TorrentFacts
from service.worker.phases.unfinished import UnfinishedPhase
from service.worker.runs.run import Run


class AddedPhase(UnfinishedPhase):
    def know_files(self, run: Run, facts: TorrentFacts, plan: DownloadPlan, now: datetime) -> None:
        self._know_files(run, facts, plan, now)
