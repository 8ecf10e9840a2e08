"""Code that the handlers of all stages share."""

from datetime import datetime

from service.accounts.traffic import Bytes
from service.details import Details, LogEntry
from service.fetching.events import FetchEvent
from service.torrents.crash_blame import MOST_STRIKES
from service.torrents.events import (
    Arrived,
    FileProgress,
    Status,
    Swarm,
    TorrentBroken,
    TrackerRefused,
)
from service.worker.import_files import Outcome
from service.worker.runs.run import Run
from service.worker.runs.stages import OrderState, Transition
from service.worker.transfer_control import TransferControl


class RunPhase:
    """The handler of one stage of a run.

    It ignores what can't happen in that stage, or happens too late for it.
    """

    def __init__(self, control: TransferControl) -> None:
        self._control = control

    # Events of the engine and the fetching while they have the order

    def handle(self, run: Run, event: FetchEvent, now: datetime) -> None:
        match event:
            case Status():
                self.observe(run, event, now)
            case FileProgress():
                run.percents = event.percents
            case Arrived():
                self._control.hash_ahead(run, event.index, event.size_bytes)
            case Swarm():
                run.swarm = event
            case TrackerRefused():
                refusal = LogEntry("tracker_refused", tracker=event.host, details=event.details)
                run.log.append(refusal)
            case TorrentBroken():
                self.break_off(run, event, now)

    def observe(self, run: Run, status: Status, now: datetime) -> None:
        run.write(
            upload_bytes_per_second=status.upload_rate,
            peers_connected=status.peers_connected,
            peers_sending=status.peers_sending,
            peers_receiving=status.peers_receiving,
            seeders=status.seeders,
            leechers=status.leechers,
            uploaded_bytes=status.uploaded_bytes,
        )
        run.count(Bytes(status.received_bytes, status.sent_bytes))
        is_checking = status.phase == "checking"
        if status.done_bytes > run.done_bytes or is_checking:
            run.restart_patience(now)
        run.done_bytes = status.done_bytes
        is_in_reach = status.peers_connected > 0 and not 0 <= status.availability < 1
        run.is_obtainable = is_in_reach or is_checking

    def break_off(self, run: Run, broken: TorrentBroken, now: datetime) -> None:
        if broken.word in ("disk_full", "disk_error"):
            self.hold_back(run, broken.word, now, broken.details)
            if run.is_fetch or run.order is OrderState.GIVEN:
                # The fetch has ended, or the torrent's files are unknown: add it again.
                self._control.withdraw(run)
        elif broken.word == "same_torrent":
            self._control.wait_for(run, int(broken.other or 0))
            self._control.withdraw(run)
        else:
            self._control.fail(run, broken.word, broken.details)

    def hold_back(self, run: Run, word: str, now: datetime, details: Details | None = None) -> None:
        self._control.hold_back(run, word, now, details)

    # Events after the order is gone

    def lose_order(self, run: Run, now: datetime) -> None:
        """Continue after the engine, or the fetching, has let go of the folder."""

    def lose_engine(self, run: Run, now: datetime, *, is_suspect: bool) -> None:
        """Handle the engine's death, maybe because of this run: the new engine knows no orders."""
        stage, was_withdrawn = run.stage, run.is_withdrawn
        run.take(Transition.LOSE_ENGINE)
        if is_suspect:
            run.write(strikes=run.transfer.strikes + 1)
        if was_withdrawn:
            self.lose_order(run, now)
        elif run.transfer.strikes >= MOST_STRIKES:
            self.give_up(run)
        elif run.stage is not stage:
            self._control.begin(run, now)

    def give_up(self, run: Run) -> None:
        self._control.fail(run, "engine_crashed", Details("engine_crashed"))

    # Events of the import

    def end_import(self, run: Run, outcome: Outcome, now: datetime) -> None:
        pass

    # Decisions of the worker

    def apply_room(self, run: Run, word: str, now: datetime) -> None:
        """Continue or hold back: the word says why there is no space, and is empty if there is."""

    def go_on(self, run: Run, now: datetime) -> None:
        """Continue in the slot that the run got."""

    def give_way(self, run: Run) -> None:
        """Leave the slot, since a person put another first or lowered the limit, and wait again."""

    # Decisions of people

    def leave(self, run: Run) -> None:
        """Leave a transfer that was deleted or stopped, or is another worker's."""
        self._control.leave(run)
