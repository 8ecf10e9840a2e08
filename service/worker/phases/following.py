from datetime import datetime

from service.worker.phases.phase import RunPhase
from service.worker.runs.run import Run


class FollowingPhase(RunPhase):
    def lose_order(self, run: Run, now: datetime) -> None:
        leader = self._control.runs.get(run.leader_id)
        if leader is None:
            self._control.begin(run, now)
        else:
            self._control.follow(run, leader, now)
