"""What a run does in each stage, for events and for decisions of the worker and of people."""

from service.worker.phases.added import AddedPhase
from service.worker.phases.downloading import DownloadingPhase
from service.worker.phases.following import FollowingPhase
from service.worker.phases.importing import ImportingPhase
from service.worker.phases.leaving import LeavingPhase
from service.worker.phases.new import NewPhase
from service.worker.phases.phase import RunPhase
from service.worker.phases.seeding import SeedingPhase
from service.worker.phases.waiting import WaitingPhase
from service.worker.runs.run import Run
from service.worker.runs.stages import Stage
from service.worker.transfer_control import TransferControl

__all__ = ["Phases", "RunPhase"]

PHASES: dict[Stage, type[RunPhase]] = {
    Stage.NEW: NewPhase,
    Stage.ADDED: AddedPhase,
    Stage.WAITING: WaitingPhase,
    Stage.DOWNLOADING: DownloadingPhase,
    Stage.FOLLOWING: FollowingPhase,
    Stage.IMPORTING: ImportingPhase,
    Stage.SEEDING: SeedingPhase,
    Stage.LEAVING: LeavingPhase,
}


class Phases:
    def __init__(self, control: TransferControl) -> None:
        self._by_stage = {stage: phase(control) for stage, phase in PHASES.items()}

    def of(self, run: Run) -> RunPhase:
        return self._by_stage[run.stage]
