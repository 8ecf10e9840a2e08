"""Steering: what is done with one transfer, by giving orders to the engine and the others."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from service import adoption
from service.adoption import Facts
from service.engine.client import Engine
from service.engine.fetching import Fetching, FetchOrder
from service.engine.orders import Order
from service.errors import DiskFull, NotFound
from service.landing import Job, Landing
from service.leases import Lease
from service.ledger import Ledger
from service.models import TorrentFile, Transfer
from service.runs import Run, Runs, Stage

log = logging.getLogger("ferry.worker")

State = Transfer.State
DISK_PATIENCE = timedelta(seconds=30)


@dataclass(frozen=True)
class Limits:
    active_transfers: int
    patience: timedelta  # with torrents that nobody in reach can send
    seeds: bool
    fetch_private: bool
    fetch_most_bytes: int
    download_bytes_per_second: int


@dataclass(frozen=True)
class Tools:
    """What a worker works with; made anew when it has lost its lease."""

    engine: Engine
    fetching: Fetching
    landing: Landing


class Steering:
    def __init__(self, tools: Tools, lease: Lease, limits: Limits) -> None:
        self.runs = Runs()
        self.tools = tools
        self.lease = lease
        self.limits = limits
        self.ledger = Ledger(lease)
        self._to_land: list[Run] = []

    def free_places(self) -> int:
        return self.limits.active_transfers - self.runs.places_taken()

    @contextmanager
    def stumbling(self, run: Run, over: str) -> Iterator[None]:
        """What can't be done for one never stops the others, and nothing asks for it again: the run
        is left, and its transfer taken up anew from its row."""
        try:
            yield
        except Exception:
            log.exception("stumbled over %s transfer=%d", over, run.id)
            self.leave(run)

    # Beginning

    def begin(self, run: Run, now: datetime) -> None:
        """Gives it to the engine or the fetching, which answer with Metadata or Head."""
        with self.stumbling(run, "its beginning"):
            self._begin(run, now)

    def _begin(self, run: Run, now: datetime) -> None:
        if run.transfer.state == State.DONE:
            self._seed_on(run)
        elif run.is_whole:
            self.land(run)
        elif twin := self.runs.twin(run):
            self.follow(run, twin, now)
        elif self._make_place(run, now):
            run.is_given, run.has_begun, run.stage, run.retry_at = True, False, Stage.ADDED, None
            run.hope(now)
            if run.transfer.state in (State.QUEUED, State.NO_ROOM):
                is_known = run.transfer.kind == Transfer.Kind.TORRENT or run.transfer.size_bytes
                run.become(State.DOWNLOADING if is_known else State.METADATA)
            self._give(run)

    def _make_place(self, run: Run, now: datetime) -> bool:
        try:
            run.place.make(run.transfer)
            run.place.give_back()
            if run.transfer.torrent_id is not None:
                torrent = TorrentFile.objects.get(pk=run.transfer.torrent_id)
                run.place.keep_torrent(bytes(torrent.content))
        except DiskFull:
            self.hold_back(run, DiskFull.reason, now)
            return False
        except OSError:
            log.exception("no place can be made transfer=%d", run.id)
            self.hold_back(run, "disk_error", now)
            return False
        return True

    def _give(self, run: Run) -> None:
        transfer, folder = run.transfer, str(run.place.folder)
        if run.is_fetch:
            limits = self.limits
            order = FetchOrder(
                run.key,
                transfer.source,
                folder,
                limits.fetch_private,
                limits.fetch_most_bytes,
                limits.download_bytes_per_second,
            )
            self.tools.fetching.add(order)
        else:
            magnet = transfer.source if transfer.kind == Transfer.Kind.MAGNET else ""
            uploaded = transfer.uploaded_bytes
            self.tools.engine.add(Order(run.key, folder, magnet=magnet, uploaded_bytes=uploaded))

    def _seed_on(self, run: Run) -> None:
        """Only what is there: it must never be fetched again for the sake of others."""
        plan = run.place.plan()
        is_there = plan is not None and all(
            not size or run.place.file(index).exists() for index, _path, size in plan.files
        )
        if not is_there or not run.place.torrent.exists() or self.runs.twin(run):
            return self.end_seeding(run)
        run.is_given, run.stage = True, Stage.SEEDING
        folder, uploaded = str(run.place.folder), run.transfer.uploaded_bytes
        return self.tools.engine.add(Order(run.key, folder, seeding=True, uploaded_bytes=uploaded))

    # One torrent that two accounts want

    def follow(self, run: Run, other: Run, now: datetime) -> None:
        run.stage, run.follows = Stage.FOLLOWING, other.id
        run.become(State.QUEUED)
        if other.is_whole or other.stage == Stage.SEEDING:
            self.share(other, now)

    def share(self, leader: Run, now: datetime) -> None:
        """What has come for one is there for the others as well."""
        for run in self.runs.followers(leader):
            if not run.awaits_gone and leader.facts is not None:
                with self.stumbling(run, "its share"):
                    self._share_with(run, leader, leader.facts, now)

    def _share_with(self, run: Run, leader: Run, facts: Facts, now: datetime) -> None:
        try:
            run.place.make(run.transfer)
            run.place.borrow(leader.place)
        except DiskFull:
            return self.hold_back(run, DiskFull.reason, now)
        if self.adopt(run, facts, now):
            run.is_whole = True
            self.land(run)
        return None

    # Going on, and waiting

    def adopt(self, run: Run, facts: Facts, now: datetime) -> bool:
        run.facts = facts
        if run.knows(facts):
            return True
        try:
            run.take_over(adoption.adopt(self.lease.held(), run.transfer, facts, now))
        except adoption.SameTorrent as same:
            self.fail(run, same.reason, same.sentence)
            return False
        except NotFound:
            self.leave(run)
            return False
        return True

    def go_on(self, run: Run, now: datetime) -> None:
        if run.is_whole:
            return self.land(run)
        if not run.is_given:
            return self.begin(run, now)
        if run.transfer.state not in (State.STALLED, State.MOVING):
            run.become(State.DOWNLOADING)
        run.stage = Stage.ON
        run.hope(now)
        if run.is_fetch:
            self.tools.fetching.proceed(run.key)
        elif run.has_begun:
            self.tools.engine.resume(run.key)
        else:
            self.tools.engine.proceed(run.key)
        run.has_begun = True
        return None

    def hold_back(self, run: Run, word: str, now: datetime, sentence: str = "") -> None:
        if run.stage == Stage.ON:
            self.pause(run)
        if run.transfer.reason != word:
            log.info("held back transfer=%d reason=%s", run.id, word)
        run.stage = Stage.WAITING if run.is_given or run.is_whole else Stage.NEW
        run.become(State.STALLED if word == "disk_error" else State.NO_ROOM, word, sentence)
        run.retry_at = now + DISK_PATIENCE if word.startswith("disk") else None

    def pause(self, run: Run) -> None:
        run.stage = Stage.WAITING
        if run.is_fetch:
            self.let_go(run)
        else:
            self.tools.engine.pause(run.key)

    def give_again(self, run: Run) -> None:
        """Once: of a piece that somebody lied about, libtorrent now and then believes that it is
        still being dealt with, and asks nobody for it until the torrent is added anew."""
        if not run.is_fetch and not run.was_given_again:
            run.was_given_again, run.stage = True, Stage.WAITING
            self.let_go(run)

    def wake(self, run: Run) -> None:
        """A stalled one goes on where a place is free, else in its turn."""
        if self.free_places() > 0:
            run.become(State.DOWNLOADING)
        else:
            self.pause(run)
            run.become(State.QUEUED)

    # Landing

    def land(self, run: Run) -> None:
        run.stage = Stage.LANDING
        run.become(State.MOVING)
        run.write(progress_percent=100)
        self._to_land.append(run)

    def land_next(self, now: datetime) -> None:
        """After the batch is written, which must not come later than the landing's own write."""
        for run in self._to_land:
            if run.stage == Stage.LANDING:
                seeds = self.limits.seeds and run.is_given and not run.is_fetch
                self.tools.landing.start(Job(run.id, self.lease.name, run.place, seeds, now))
        self._to_land = []

    # The end

    def fail(self, run: Run, word: str, sentence: str) -> None:
        log.info("failed transfer=%d reason=%s", run.id, word)
        run.become(State.FAILED, word, sentence)
        self.leave(run)

    def end_seeding(self, run: Run) -> None:
        run.write(is_seeding=False, upload_bytes_per_second=0)
        self.leave(run)

    def let_go(self, run: Run) -> None:
        if run.is_given and not run.awaits_gone:
            run.awaits_gone = True
            tool = self.tools.fetching if run.is_fetch else self.tools.engine
            tool.remove(run.key)

    def leave(self, run: Run) -> None:
        run.stage = Stage.LEAVING
        self.let_go(run)

    def finish(self, run: Run, now: datetime) -> None:
        """The place goes with it, unless the transfer is to go on one day."""
        self.ledger.close(run, now)
        is_over = not Transfer.running().filter(pk=run.id).exists()
        self.runs.drop(run)
        if is_over:
            self.tools.landing.aside(run.place.remove)
        for follower in self.runs.followers(run):
            if not follower.awaits_gone:
                self.begin(follower, now)
