from service.worker.phases.phase import RunPhase
from service.worker.runs.run import Run


class LeavingPhase(RunPhase):
    def give_up(self, run: Run) -> None:
        pass

    def leave(self, run: Run) -> None:
        pass
