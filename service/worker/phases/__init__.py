"""What a run does in each stage, for events and for decisions of the worker and of people."""

from service.worker.phases.importing import ImportingPhase, LeavingPhase, SeedingPhase
from service.worker.phases.phase import RunPhase
from service.worker.phases.unfinished import (
    DownloadingPhase,
    FollowingPhase,
    NewPhase,
    UnfinishedPhase,
    WaitingPhase,
)
from service.worker.runs.run import Run
from service.worker.runs.stages import Stage
from service.worker.transfer_control import TransferControl

PHASES: dict[Stage, type[RunPhase]] = {
    Stage.NEW: NewPhase,
    Stage.ADDED: UnfinishedPhase,
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
