"""Hearing: what the engine, the fetching and the landing tell, and what follows from it."""

import logging
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from service import adoption
from service.adoption import Facts
from service.engine.events import (
    Broken,
    Complete,
    Event,
    Gone,
    Metadata,
    Restarted,
    Seeded,
    Status,
)
from service.engine.fetch_events import FetchEvent, Head, Magnet, Torrent, Waiting
from service.errors import DiskFull, NotFound, Refusal
from service.landing import Landed, NotLanded, Outcome
from service.models import Transfer
from service.places import Plan
from service.runs import Run, Stage
from service.steering import Steering

log = logging.getLogger("ferry.worker")

State = Transfer.State
MOST_STRIKES = 3
MOST_LOSSES = 3
# Each may be a transaction; the lease is to be renewed between them.
MOST_AT_ONCE = 100


class Hearing:
    def __init__(self, steering: Steering) -> None:
        self._steering = steering
        self._runs = steering.runs
        self._heard: deque[Event | FetchEvent] = deque()

    def hear_all(self, now: datetime) -> None:
        tools = self._steering.tools
        for outcome in tools.landing.poll():
            self._hear(outcome, now)
        self._heard.extend([*tools.engine.poll(), *tools.fetching.poll()])
        left = MOST_AT_ONCE
        while self._heard and left:
            event = self._heard.popleft()
            left -= not isinstance(event, Status)
            self._hear(event, now)

    def _hear(self, event: Outcome | Event | FetchEvent, now: datetime) -> None:
        if isinstance(event, Restarted):
            self._restarted(event.suspects, now)
            return
        run = self._runs.get(
            event.transfer_id if isinstance(event, Landed | NotLanded) else int(event.key)
        )
        if run is None:
            return
        with self._steering.stumbling(run, type(event).__name__):
            if isinstance(event, Landed | NotLanded):
                self._landed(run, event, now)
            elif isinstance(event, Gone):
                self._gone(run, now)
            elif run.is_given and not run.awaits_gone:
                self._told(run, event, now)

    def _told(self, run: Run, event: Event | FetchEvent, now: datetime) -> None:
        match event:
            case Status():
                self._observe(run, event, now)
            case Metadata():
                self._know(run, facts_of(event), plan_of(event), now)
            case Head():
                self._head(run, event, now)
            case Torrent() | Magnet():
                self._become_another(run, event, now)
            case Complete():
                self._complete(run, now)
            case Seeded():
                self._steering.end_seeding(run)
            case Waiting():
                self._wait(run, event, now)
            case Broken():
                self._broken(run, event, now)

    # While it comes

    def _observe(self, run: Run, status: Status, now: datetime) -> None:
        run.write(
            upload_bytes_per_second=status.upload_rate,
            peers_connected=status.peers_connected,
            peers_sending=status.peers_sending,
            peers_receiving=status.peers_receiving,
            seeders=status.seeders,
            leechers=status.leechers,
            uploaded_bytes=status.uploaded_bytes,
        )
        is_checking = status.phase == "checking"
        if status.done_bytes > run.done_bytes or is_checking:
            run.hope(now)
        run.done_bytes = status.done_bytes
        is_in_reach = status.peers_connected > 0 and not 0 <= status.availability < 1
        run.has_hope = is_in_reach or is_checking
        if run.stage == Stage.ON and status.phase == "downloading":
            self._observe_download(run, status, now)

    def _observe_download(self, run: Run, status: Status, now: datetime) -> None:
        run.write(download_bytes_per_second=status.download_rate)
        wanted_bytes = status.wanted_bytes or run.transfer.size_bytes
        if wanted_bytes:
            share = min(status.done_bytes / wanted_bytes, 0.999)
            run.write(progress_percent=round(100 * share, 1))
        if run.transfer.state == State.MOVING:
            run.become(State.DOWNLOADING)
        is_waiting = run.transfer.reason == "retrying" and not status.peers_sending
        patience = self._steering.limits.patience
        is_stalled = run.transfer.state == State.STALLED
        if is_stalled and not is_waiting and not run.why_stalled(now, patience):
            self._steering.wake(run)

    # When it is known what will come

    def _know(self, run: Run, facts: Facts, plan: Plan, now: datetime) -> None:
        """Its files are known: whether it may go on is judged next."""
        if run.stage == Stage.SEEDING:
            run.facts = facts
            self._steering.share(run, now)
        if run.stage != Stage.ADDED:
            return None
        if not plan.files:
            return self._steering.fail(run, "invalid_torrent", "There is no file in it.")
        was_known = run.transfer.size_bytes > 0
        try:
            run.place.keep_plan(plan)
        except DiskFull:
            self._steering.hold_back(run, DiskFull.reason, now)
            # It is told of its files again when it is given again.
            return self._steering.let_go(run)
        if not self._steering.adopt(run, facts, now):
            return None
        run.stage = Stage.WAITING
        if run.transfer.state == State.METADATA:
            run.become(State.DOWNLOADING)
        elif run.transfer.state == State.STALLED and not was_known:
            run.become(State.QUEUED)
        return log.info(
            "known transfer=%d files=%d bytes=%d", run.id, len(plan.files), facts.size_bytes
        )

    def _head(self, run: Run, head: Head, now: datetime) -> None:
        if head.is_torrent:
            return self._steering.tools.fetching.proceed(run.key)
        if run.stage == Stage.ON:
            run.stage, run.has_begun = Stage.ADDED, False
        if head.is_page:
            run.write(notice="web_page")
        plan = Plan(is_folder=False, files=((0, (), head.size_bytes),))
        return self._know(run, Facts(head.name, head.size_bytes), plan, now)

    def _become_another(self, run: Run, event: Torrent | Magnet, now: datetime) -> None:
        held = self._steering.lease.held()
        try:
            if isinstance(event, Torrent):
                found = adoption.become_torrent(held, run.transfer, event.content, now)
            else:
                found = adoption.become_magnet(held, run.transfer, event.uri, now)
        except NotFound:
            return self._steering.leave(run)
        except adoption.SameTorrent as same:
            return self._steering.fail(run, same.reason, same.sentence)
        except Refusal as refusal:
            sentence = "What the address led to is no torrent that can be read."
            return self._steering.fail(run, refusal.reason, sentence)
        self._steering.let_go(run)
        run.take_over(found)
        run.stage, run.done_bytes = Stage.NEW, 0
        return log.info("address became a %s transfer=%d", found.kind, run.id)

    # When it is whole

    def _complete(self, run: Run, now: datetime) -> None:
        if run.stage not in (Stage.ADDED, Stage.WAITING, Stage.ON):
            return
        if run.is_fetch and not self._measured(run, now):
            return
        run.is_whole = True
        self._steering.land(run)
        self._steering.share(run, now)

    def _measured(self, run: Run, now: datetime) -> bool:
        """What a server did not tell before is told by the file."""
        size_bytes = run.place.file(0).stat().st_size
        try:
            run.place.keep_plan(Plan(is_folder=False, files=((0, (), size_bytes),)))
        except DiskFull:
            self._broken(run, Broken(run.key, DiskFull.reason, ""), now)
            return False
        is_known = size_bytes == run.transfer.size_bytes
        return is_known or self._steering.adopt(run, Facts("", size_bytes), now)

    def _landed(self, run: Run, outcome: Outcome, now: datetime) -> None:
        if run.stage != Stage.LANDING:
            return None
        if isinstance(outcome, NotLanded):
            return self._not_landed(run, outcome.word, now)
        seconds = (now - run.transfer.created_at).total_seconds()
        log.info("done transfer=%d bytes=%d seconds=%d", run.id, run.transfer.size_bytes, seconds)
        run.changes = {}
        run.transfer.state, run.transfer.is_seeding = State.DONE, outcome.is_seeding
        run.transfer.folder_created_id = outcome.folder_id
        run.transfer.file_created_id = outcome.file_id
        if not outcome.is_seeding:
            return self._steering.leave(run)
        if not run.is_given:
            # The engine died meanwhile, and knows nothing of it.
            return self._steering.begin(run, now)
        run.stage = Stage.SEEDING
        return self._steering.tools.engine.seed(run.key)

    def _not_landed(self, run: Run, word: str, now: datetime) -> None:
        if not word:
            return self._steering.leave(run)
        if word != "incomplete":
            return self._steering.hold_back(run, word, now)
        run.losses += 1
        if run.losses >= MOST_LOSSES:
            sentence = "What had come is not on the disk any more."
            return self._steering.fail(run, "disk_error", sentence)
        run.is_whole, run.stage = False, Stage.NEW
        self._steering.let_go(run)
        return None if run.awaits_gone else self._steering.begin(run, now)

    # When something goes wrong

    def _wait(self, run: Run, waiting: Waiting, now: datetime) -> None:
        """For a server. It leaves its place to others meanwhile."""
        if run.stage not in (Stage.ADDED, Stage.WAITING, Stage.ON):
            return
        at = now + timedelta(seconds=waiting.seconds)
        again = f"Ferry tries again at {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC."
        log.info("stalled transfer=%d reason=retrying", run.id)
        run.become(State.STALLED, "retrying", f"{waiting.sentence} {again}")

    def _broken(self, run: Run, broken: Broken, now: datetime) -> None:
        if run.stage == Stage.SEEDING:
            self._steering.end_seeding(run)
        elif broken.word in ("disk_full", "disk_error"):
            self._steering.hold_back(run, broken.word, now, broken.sentence)
            if run.is_fetch or not run.has_begun:
                # It has ended with that, or knows not yet what it is: it is to be given again.
                self._steering.let_go(run)
        elif broken.word == "same_torrent":
            self._steering.let_go(run)
            run.stage, run.follows = Stage.FOLLOWING, int(broken.sentence or 0)
            run.become(State.QUEUED)
        else:
            self._steering.fail(run, broken.word, broken.sentence)

    def _restarted(self, suspects: Iterable[str], now: datetime) -> None:
        """Everything is given to it again, but for those that it died of too often."""
        log.warning("the engine began anew suspects=%s", ",".join(suspects) or "none")
        for run in self._runs:
            if not run.is_fetch:
                self._give_again(run, now, is_suspect=run.key in suspects)

    def _give_again(self, run: Run, now: datetime, *, is_suspect: bool) -> None:
        was_given, run.is_given, run.has_begun = run.is_given, False, False
        if is_suspect:
            run.write(strikes=run.transfer.strikes + 1)
        if run.awaits_gone:
            self._gone(run, now)
        elif run.transfer.strikes >= MOST_STRIKES and run.stage == Stage.SEEDING:
            self._steering.end_seeding(run)
        elif run.transfer.strikes >= MOST_STRIKES and run.stage != Stage.LANDING:
            sentence = f"The engine died {MOST_STRIKES} times with it."
            self._steering.fail(run, "engine_crashed", sentence)
        elif was_given and run.stage in (Stage.ADDED, Stage.ON, Stage.SEEDING):
            self._steering.begin(run, now)

    def _gone(self, run: Run, now: datetime) -> None:
        if not run.awaits_gone:
            return
        run.awaits_gone = run.is_given = False
        if run.stage == Stage.NEW:
            run.place.clear()
            self._steering.begin(run, now)
        elif run.stage == Stage.FOLLOWING:
            self._follow_or_begin(run, now)

    def _follow_or_begin(self, run: Run, now: datetime) -> None:
        other = self._runs.get(run.follows)
        if other is None:
            self._steering.begin(run, now)
        else:
            self._steering.follow(run, other, now)


def facts_of(told: Metadata) -> Facts:
    return Facts(
        told.name, told.size_bytes, told.is_folder, told.hash_v1, told.hash_v2, told.is_private
    )


def plan_of(told: Metadata) -> Plan:
    """Padding is no file, and a link has no content of its own."""
    kept = (file for file in told.files if not file.is_padding and not file.is_symlink)
    return Plan(told.is_folder, tuple((file.index, file.path, file.size_bytes) for file in kept))
