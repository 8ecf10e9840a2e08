"""The import, and the stages after it."""

import logging
from datetime import datetime

from service import signals
from service.details import Details
from service.fetching.events import FetchEvent
from service.models import Transfer
from service.torrents.events import Metadata, Seeded, TorrentBroken
from service.worker.import_files import ImportDone, ImportFailed, Outcome
from service.worker.phases.phase import RunPhase
from service.worker.phases.unfinished import facts_of
from service.worker.runs.run import Run
from service.worker.runs.stages import Transition

log = logging.getLogger("ferry.worker")

MOST_LOSSES = 3


class ImportingPhase(RunPhase):
    def end_import(self, run: Run, outcome: Outcome, now: datetime) -> None:
        if isinstance(outcome, ImportDone):
            self._finish(run, outcome, now)
        else:
            self._fail(run, outcome, now)

    def _finish(self, run: Run, outcome: ImportDone, now: datetime) -> None:
        seconds = (now - run.transfer.created_at).total_seconds()
        log.info("done transfer=%d bytes=%d seconds=%d", run.id, run.transfer.size_bytes, seconds)
        signals.transfer_ended.send(Transfer, state=Transfer.State.DONE)
        run.note_import(outcome.row)
        if not outcome.row.is_seeding:
            self._control.leave(run)
        elif run.has_order:
            run.take(Transition.SEED)
            self._control.tools.engine.seed(run.key)
        else:
            # The engine died meanwhile.
            self._control.begin(run, now)

    def _fail(self, run: Run, outcome: ImportFailed, now: datetime) -> None:
        if not outcome.word:
            self._control.leave(run)
        elif outcome.word == "choice_changed":
            self._control.choose(run)
        elif outcome.word == "incomplete":
            self._start_over(run, now)
        else:
            self._control.hold_back(run, outcome.word, now)

    def _start_over(self, run: Run, now: datetime) -> None:
        run.losses += 1
        if run.losses >= MOST_LOSSES:
            self._control.fail(run, "disk_error", Details("data_lost"))
            return
        run.take(Transition.START_OVER)
        self._control.withdraw(run)
        if not run.is_withdrawn:
            self._control.begin(run, now)

    def give_up(self, run: Run) -> None:
        """Do nothing: the import needs no engine."""


class SeedingPhase(RunPhase):
    """A finished transfer that still seeds. The engine decides when that ends (`has_seeded`)."""

    def handle(self, run: Run, event: FetchEvent, now: datetime) -> None:
        match event:
            case Metadata():
                # After a restart; other runs may want the files.
                run.facts = facts_of(event)
                self._control.share(run, now)
            case Seeded():
                self._control.end_seeding(run)
            case _:
                super().handle(run, event, now)

    def break_off(self, run: Run, _broken: TorrentBroken, _now: datetime) -> None:
        self._control.end_seeding(run)

    def give_up(self, run: Run) -> None:
        self._control.end_seeding(run)


class LeavingPhase(RunPhase):
    def give_up(self, run: Run) -> None:
        pass

    def leave(self, run: Run) -> None:
        pass
