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
from service.worker.runs.stages import Stage
from service.worker.transfer_control import TransferControl

Phases = dict[Stage, RunPhase]

KINDS: dict[Stage, type[RunPhase]] = {
    Stage.NEW: NewPhase,
    Stage.ADDED: UnfinishedPhase,
    Stage.WAITING: WaitingPhase,
    Stage.DOWNLOADING: DownloadingPhase,
    Stage.FOLLOWING: FollowingPhase,
    Stage.IMPORTING: ImportingPhase,
    Stage.SEEDING: SeedingPhase,
    Stage.LEAVING: LeavingPhase,
}


def make_phases(control: TransferControl) -> Phases:
    return {stage: phase(control) for stage, phase in KINDS.items()}
