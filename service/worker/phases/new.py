from datetime import datetime

from service.worker.phases.phase import RunPhase
from service.worker.runs.run import Run


class NewPhase(RunPhase):
    def lose_order(self, run: Run, now: datetime) -> None:
        """Start over."""
        run.folder.clear()
        self._control.begin(run, now)

    def apply_room(self, run: Run, word: str, now: datetime) -> None:
        self._control.judge_held_back(run, word, now)

    def go_on(self, run: Run, now: datetime) -> None:
        self._control.begin(run, now)
