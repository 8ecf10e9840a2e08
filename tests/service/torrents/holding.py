"""An engine in a test, with a folder for each order."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from service.torrents.client import Engine
from service.torrents.events import Broken, Complete, Event, Gone, Metadata, Status
from service.torrents.orders import EngineSettings, Order
from service.torrents.process import COMMAND
from tests.running import open_files
from tests.swarm import Made

E = TypeVar("E")

LOOPBACK = EngineSettings(
    network="loopback",
    port=0,
    interface="",
    proxy="",
    utp=False,
    port_mapping=False,
    fetch_private=False,
    download_limit_bytes=0,
    upload_limit_bytes=0,
    seed_ratio=1.0,
    seed_minutes=60,
)


@dataclass
class Held:
    engine: Engine
    home: Path
    events: list[Event] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def folder(self, key: str) -> Path:
        folder = self.home / "transfers" / key
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def add(self, key: str, what: Made | str, **order: Any) -> Path:
        """A torrent by its file, or by a magnet link."""
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
        """The first such event that was not waited for yet."""
        deadline = time.monotonic() + seconds
        while True:
            for event in self.events:
                is_his = not key or getattr(event, "key", key) == key
                if isinstance(event, kind) and is_his and where(event):
                    self.events.remove(event)
                    return event
            assert time.monotonic() < deadline, f"no {kind.__name__} but {self.told()}"
            if kind not in (Broken, Status):
                assert not [each for each in self.events if isinstance(each, Broken)], self.told()
            self.engine.wait(0.1)
            self.events += self.engine.poll()

    def told(self) -> str:
        return str(self.events)[:2000]

    def renew(self) -> None:
        """Remove all that was added, so that the next case or test can use the same keys."""
        for key in self.keys:
            self.engine.remove(key)
        while self.keys:
            self.engine.wait(0.1)
            self.keys -= {each.key for each in self.engine.poll() if isinstance(each, Gone)}
        self.events.clear()
        shutil.rmtree(self.home / "transfers", ignore_errors=True)

    def complete(self, key: str, what: Made) -> None:
        """Waits for it, and looks at every byte at once."""
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
    **settings: Any,
) -> Iterator[Held]:
    engine = Engine(replace(LOOPBACK, **settings), clock, command)
    engine.start()
    try:
        yield Held(engine, home)
    finally:
        engine.stop(5)


def listening_port(pid: int) -> int:
    """Of the engine's process, as the kernel knows it. Its list of sockets may miss some while
    others come and go, so we read it until it has ours."""
    sockets = [name for name in open_files(pid) if name.startswith("socket:")]
    inodes = {name.removeprefix("socket:[").rstrip("]") for name in sockets}
    for _ in range(100):
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        ours = [row[1] for row in rows if row[9] in inodes and row[3] == "0A"]
        if ours:
            return int(ours[0].split(":")[1], 16)
    raise AssertionError("the engine listens nowhere")
