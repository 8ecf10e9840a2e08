from datetime import datetime

from service.models import Transfer
from service.worker.phases.unfinished import UnfinishedPhase
from service.worker.runs.run import Run
from service.worker.runs.stages import OrderState, Transition

State = Transfer.State


class WaitingPhase(UnfinishedPhase):
    """The handler of waiting runs: the engine or the fetching may or may not have their order."""

    def apply_room(self, run: Run, word: str, now: datetime) -> None:
        if word or run.is_held_back:
            self._control.judge_held_back(run, word, now)
        elif run.transfer.state != State.QUEUED:
            self.go_on(run, now)

    def go_on(self, run: Run, now: datetime) -> None:
        if run.is_whole:
            self._control.start_import(run)
        elif run.has_order:
            self._start(run, now)
        else:
            self._control.begin(run, now)

    def _start(self, run: Run, now: datetime) -> None:
        was_started = run.order is OrderState.STARTED
        run.take(Transition.START)
        if run.transfer.state not in (State.STALLED, State.MOVING):
            run.become(State.DOWNLOADING)
        run.restart_patience(now)
        tools = self._control.tools
        if run.is_fetch:
            tools.fetching.proceed(run.key)
        elif was_started:
            tools.engine.resume(run.key)
        else:
            tools.engine.proceed(run.key)
