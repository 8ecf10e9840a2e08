"""Hand each event of the engine, the fetches, and the import to its run."""

import logging
from collections import deque
from datetime import datetime

from service.fetching.events import FetchEvent
from service.torrents.events import Restarted, Status, TorrentGone, TrackerRefused
from service.worker.import_files import ImportDone, ImportFailed, Outcome
from service.worker.phases import Phases
from service.worker.runs.run import Run
from service.worker.runs.stages import Transition
from service.worker.transfer_control import TransferControl

log = logging.getLogger("ferry.worker")

# Each event may open a transaction, and the lease must be renewed between them.
MOST_AT_ONCE = 100

RunEvent = FetchEvent | Outcome


class EventHandler:
    def __init__(self, control: TransferControl, phases: Phases) -> None:
        self._control = control
        self._phases = phases
        self._queue: deque[FetchEvent] = deque()

    def handle_all(self, now: datetime) -> None:
        tools = self._control.tools
        for outcome in tools.imports.poll():
            self._handle(outcome.transfer_id, outcome, now)
        self._queue.extend([*tools.engine.poll(), *tools.fetching.poll()])
        remaining = MOST_AT_ONCE
        while self._queue and remaining:
            event = self._queue.popleft()
            remaining -= not isinstance(event, Status | TrackerRefused)
            if isinstance(event, Restarted):
                self._handle_restart(event, now)
            else:
                self._handle(int(event.key), event, now)

    def _handle(self, transfer_id: int, event: RunEvent, now: datetime) -> None:
        run = self._control.runs.get(transfer_id)
        if run is not None:
            with self._control.log_and_leave(run, type(event).__name__):
                self._dispatch(run, event, now)

    def _dispatch(self, run: Run, event: RunEvent, now: datetime) -> None:
        phase = self._phases[run.stage]
        if isinstance(event, ImportDone | ImportFailed):
            phase.end_import(run, event, now)
        elif isinstance(event, TorrentGone):
            if run.is_withdrawn:
                run.take(Transition.GONE)
                phase.lose_order(run, now)
        elif run.has_order and not run.is_withdrawn:
            phase.handle(run, event, now)

    def _handle_restart(self, restarted: Restarted, now: datetime) -> None:
        """Add every torrent to the engine again, except those that have crashed it too often."""
        log.warning("the engine was restarted suspects=%s", ",".join(restarted.suspects) or "none")
        for run in self._control.runs.all():
            if not run.is_fetch:
                is_suspect = run.key in restarted.suspects
                with self._control.log_and_leave(run, "the engine's restart"):
                    self._phases[run.stage].lose_engine(run, now, is_suspect=is_suspect)
