"""An engine in a test, with a folder for each order."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from service.torrents.client import Engine
from service.torrents.events import Complete, Event, Metadata, Status, TorrentBroken, TorrentGone
from service.torrents.orders import EngineSettings, Order, TransferLimits
from service.torrents.process import COMMAND
from tests.running import open_files
from tests.service.media.waiting import wait_until
from tests.swarm import Made

E = TypeVar("E")

LISTENING = "0A"  # in /proc/net/tcp

LOOPBACK = EngineSettings(
    network="loopback",
    port=0,
    interface="",
    proxy="",
    utp=False,
    port_mapping=False,
    fetch_private=False,
)
LIMITS = TransferLimits(0, 0, seed_ratio=1.0, seed_minutes=60)


class AwaitedEngine(Engine):
    """An engine for tests that do nothing else while they wait."""

    def wait(self, within_seconds: float) -> None:
        """Wait until there is something to poll, or the time is up."""
        if not self._news:
            self._wake_up.wait(within_seconds)
            self._wake_up.clear()


@dataclass
class Held:
    engine: AwaitedEngine
    home: Path
    events: list[Event] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def folder(self, key: str) -> Path:
        folder = self.home / "transfers" / key
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def add(self, key: str, what: Made | str, **order: Any) -> Path:
        """Add a torrent by its file or by a magnet link, and return its folder."""
        folder = self.folder(key)
        magnet = what if isinstance(what, str) else ""
        if isinstance(what, Made):
            (folder / "metadata.torrent").write_bytes(what.content)
        self.keys.add(key)
        self.engine.add(Order(key, str(folder), magnet, **{"may_download": True, **order}))
        return folder

    def wait(
        self,
        kind: type[E],
        key: str = "",
        where: Callable[[E], bool] = lambda _: True,
        seconds: float = 120,
    ) -> E:
        """Wait for the first such event that no earlier call returned."""
        deadline = time.monotonic() + seconds
        while True:
            for event in self.events:
                is_his = not key or getattr(event, "key", key) == key
                if isinstance(event, kind) and is_his and where(event):
                    self.events.remove(event)
                    return event
            assert time.monotonic() < deadline, f"no {kind.__name__} but {self.describe_events()}"
            if kind not in (TorrentBroken, Status):
                assert not [each for each in self.events if isinstance(each, TorrentBroken)], (
                    self.describe_events()
                )
            self.engine.wait(0.1)
            self.events += self.engine.poll()

    def describe_events(self) -> str:
        return str(self.events)[:2000]

    def renew(self) -> None:
        """Remove all torrents, so that the next case or test can use the same keys."""
        for key in self.keys:
            self.engine.remove(key)
        while self.keys:
            self.engine.wait(0.1)
            self.keys -= {each.key for each in self.engine.poll() if isinstance(each, TorrentGone)}
        self.events.clear()
        shutil.rmtree(self.home / "transfers", ignore_errors=True)

    def complete(self, key: str, what: Made) -> None:
        """Wait until a torrent is complete, and compare every byte at once."""
        self.wait(Complete, key)
        assert content_of(self.folder(key), self.files(key, what)) == dict(what.files)

    def files(self, key: str, what: Made) -> Metadata:
        known = [each for each in self.events if isinstance(each, Metadata) and each.key == key]
        return known[-1]


def content_of(folder: Path, metadata: Metadata) -> dict[tuple[str, ...], bytes]:
    return {
        each.path: (folder / str(each.index)).read_bytes()
        for each in metadata.files
        if not each.is_padding and not each.is_symlink
    }


@contextmanager
def holding(
    home: Path,
    command: tuple[str, ...] = COMMAND,
    clock: Callable[[], float] = time.monotonic,
    limits: TransferLimits = LIMITS,
    **settings: Any,
) -> Iterator[Held]:
    engine = AwaitedEngine(replace(LOOPBACK, **settings), clock, command)
    engine.limit(limits)
    engine.start()
    try:
        yield Held(engine, home)
    finally:
        engine.stop(5)


def listening_port(pid: int) -> int:
    """Return the port of the engine, which it may open only after its first events."""
    ports: list[int] = []

    def is_listening() -> bool:
        sockets = {name for name in open_files(pid) if name.startswith("socket:")}
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        ports.extend(
            int(row[1].split(":")[1], 16)
            for row in rows
            if f"socket:[{row[9]}]" in sockets and row[3] == LISTENING
        )
        return bool(ports)

    wait_until(is_listening, seconds=60)
    return ports[0]
