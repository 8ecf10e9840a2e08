"""A fake engine and fake fetches, which do what a test says and record their calls."""

import os
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from django.conf import settings

from service.details import Details
from service.fetching.events import Head
from service.fetching.pace import RateLimit
from service.store.blobs import library_store
from service.torrents import events as torrents_events
from service.torrents.events import (
    Complete,
    FileOf,
    FileProgress,
    Metadata,
    SessionStatus,
    Status,
    Swarm,
    SwarmPieces,
    TorrentGone,
    TrackerRefused,
)
from service.torrents.orders import TransferLimits
from service.transfers.download_folders import download_folder
from service.transfers.limits import CurrentLimits
from service.worker.import_files import FileImport
from service.worker.leases import Lease
from service.worker.transfer_control import Tools
from service.worker.worker import Worker
from tests.service.builders import NOW


class Helper:
    """The common part of `FakeEngine` and `FakeFetching`."""

    def __init__(self):
        self.orders = {}
        self.own_limits = {}
        self.added = {}  # also those that were removed since
        self.continued = set()  # those of which the removed order should save what has arrived
        self.log = []
        self.news = []
        self.lets_go = True
        self.is_stopped = False

    def add(self, order):
        self.orders[order.key] = self.added[order.key] = order
        self.log.append(("add", order.key))

    def limit_one(self, key, limits):
        self.own_limits[key] = limits

    def proceed(self, key):
        self.log.append(("proceed", key))

    def remove(self, key, *, may_continue=False):
        self.log.append(("remove", key))
        self.continued |= {key} if may_continue else set()
        self.orders.pop(key, None)
        if self.lets_go:
            self.news.append(TorrentGone(key))

    def poll(self):
        news, self.news = self.news, []
        return news

    def stop(self, within_seconds):
        self.is_stopped = True

    def calls(self, what):
        return [key for word, key in self.log if word == what]

    def status(self, transfer, **facts):
        values = {
            "phase": "downloading",
            "done_bytes": 0,
            "wanted_bytes": transfer.size_bytes or 100,
            "download_rate": 0,
            "upload_rate": 0,
            "peers_connected": 0,
            "peers_sending": 0,
            "peers_receiving": 0,
            "seeders": 0,
            "leechers": 0,
            "availability": -1,
            "uploaded_bytes": 0,
        }
        self.news.append(Status(str(transfer.pk), **(values | facts)))

    def complete(self, transfer, *contents):
        """Write the files of a transfer, and report it as complete."""
        for index, content in enumerate(contents):
            download_folder(transfer.pk).file(index).write_bytes(content)
        key = str(transfer.pk)
        self.news.append(Complete(key, getattr(self.orders[key], "choice", 0)))

    def broken(self, transfer, word, details=None, other=""):
        self.news.append(torrents_events.TorrentBroken(str(transfer.pk), word, details, other))


class FakeEngine(Helper):
    session = SessionStatus()
    limits = None

    def start(self):
        pass

    def limit(self, limits):
        self.limits = limits

    def is_alive(self, now):
        return not self.is_stopped

    def choose(self, key, unwanted, choice):
        self.orders[key] = replace(self.orders[key], unwanted=unwanted, choice=choice)
        self.log.append(("choose", key))

    def pause(self, key):
        self.log.append(("pause", key))

    def resume(self, key):
        self.log.append(("resume", key))

    def seed(self, key):
        self.log.append(("seed", key))

    def metadata(self, transfer, name="Sintel", files=(("Sintel", 100),), **facts):
        """Report metadata; `files` are (path, size), and a lone file has no folder by default."""
        of = tuple(
            FileOf(index, tuple(path.split("/")), size, is_padding=False, is_symlink=False)
            for index, (path, size) in enumerate(files)
        )
        values = {
            "hash_v1": transfer.info_hash_v1,
            "hash_v2": transfer.info_hash_v2,
            "is_private": False,
            "is_folder": len(files) > 1,
            "size_bytes": sum(size for _path, size in files),
        }
        self.news.append(Metadata(key=str(transfer.pk), name=name, files=of, **(values | facts)))

    def look(self, key):
        self.log.append(("look", key))

    def swarm(self, transfer, **facts):
        values = {
            "peer_count": 0,
            "peers": (),
            "trackers": (),
            "pieces": SwarmPieces(),
            "availability": -1.0,
        }
        self.news.append(Swarm(str(transfer.pk), **(values | facts)))

    def tracker_refuses(self, transfer, words, host="tracker.example"):
        details = Details("tracker_says", message=words)
        self.news.append(TrackerRefused(str(transfer.pk), host, details))

    def file_progress(self, transfer, *percents):
        self.news.append(FileProgress(str(transfer.pk), percents))

    def restart(self, *suspects):
        self.orders = {}
        self.news = [torrents_events.Restarted(tuple(str(each.pk) for each in suspects))]


class FakeFetching(Helper):
    def __init__(self):
        super().__init__()
        self.throttle = RateLimit(lambda: 0.0)

    def head(self, transfer, name="film.mkv", size_bytes=100, **facts):
        kind = facts.pop("content_type", "video/x-matroska")
        self.news.append(Head(str(transfer.pk), name, size_bytes, kind, **facts))


class Here(Executor):
    """An executor that runs everything at once, in the thread of the caller."""

    def submit(self, act, /, *args, **options):
        future = Future()
        try:
            future.set_result(act(*args, **options))
        except BaseException as trouble:  # noqa: BLE001  As a thread would.
            future.set_exception(trouble)
        return future


class Chosen(Executor):
    """An executor that passes everything on to the current executor of its shift."""

    def __init__(self, shift):
        self.shift = shift

    def submit(self, act, /, *args, **options):
        return self.shift.executor.submit(act, *args, **options)


class Later(Here):
    """An executor that runs nothing until `go_on` is called."""

    def __init__(self):
        self._waiting = []

    def submit(self, act, /, *args, **options):
        future = Future()
        self._waiting.append((future, act, args))
        return future

    def go_on(self):
        for future, act, args in self._waiting:
            future.set_result(act(*args))
        self._waiting = []


class Shift:
    """A worker whose clock advances by a second with every round."""

    def __init__(self, executor=None, **limits):
        self.now = NOW
        self.executor = executor or Here()
        self.limits = limits_of(**limits)
        self.saved = None
        self.begin()

    def begin(self):
        """Start over, as a new process would."""
        self.engine, self.fetching = FakeEngine(), FakeFetching()
        self.lease = Lease(Path(settings.DATA_DIR) / "workers")
        self.store = library_store()
        self.worker = Worker(
            self.lease, self._tools, self.store, lambda _now: self.limits, lambda: 0.0
        )

    def _tools(self):
        if self.engine.is_stopped:
            self.engine, self.fetching = FakeEngine(), FakeFetching()
        imports = FileImport(self.store, Chosen(self))
        return Tools(self.engine, self.fetching, imports, saved=self.saved)

    def round(self, seconds=1):
        self.now += timedelta(seconds=seconds)
        self.worker.round(self.now)

    def rounds(self, count=3):
        for _ in range(count):
            self.round()

    def state(self, transfer):
        transfer.refresh_from_db()
        assert transfer.details or transfer.state != "failed"
        return transfer.state


def end_process_of(lease):
    """Release the lock of a lease, as the kernel does when a process ends."""
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            if descriptor.readlink().name == lease.name:
                os.close(int(descriptor.name))


def limits_of(*, seeds=False, active_transfers=5, **limits):
    usual = {"seed_ratio": 1.0 if seeds else 0.0, "seed_minutes": 60}
    of_all = TransferLimits(**(usual | limits))
    return CurrentLimits(of_all, active_transfers, patience=timedelta(minutes=2))
