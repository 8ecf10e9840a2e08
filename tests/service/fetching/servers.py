"""Good and bad web servers for fetches, and the worker's side, which waits for events."""

import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from common.addresses.reachable import Reach
from service.fetching.events import FetchEvent, Head, MagnetFound, TorrentFound
from service.fetching.fetch import Fetch
from service.fetching.http.wire import Road
from service.fetching.pace import Pace
from service.fetching.pool import Fetching
from service.torrents.events import Complete, Status, TorrentBroken, TorrentGone
from tests.misbehaving import Misbehaviour, Server, Wire, head

PATIENCE_SECONDS = 90
LOOPBACK = Road(Reach("loopback"))
CONTENT = bytes(range(256)) * 2_000
ENDS = Complete | TorrentBroken | TorrentGone | TorrentFound | MagnetFound
RANGE = re.compile(rb"\r\nrange: bytes=(\d+)-\r\n", re.IGNORECASE)
IF_RANGE = re.compile(rb"\r\nif-range: ([^\r]*)\r\n", re.IGNORECASE)


def in_turn(*misbehaviours: Misbehaviour) -> Misbehaviour:
    """Answer each request with the next misbehavior, and repeat the last one."""
    waiting = list(misbehaviours)

    def misbehave(wire: Wire) -> None:
        (waiting.pop(0) if len(waiting) > 1 else waiting[0])(wire)

    return misbehave


def first_of(wire: Wire) -> int:
    return first_of_head(wire.head)


def first_of_head(raw: bytes) -> int:
    match = RANGE.search(raw)
    return int(match[1]) if match else 0


def file(
    content: bytes = CONTENT, etag: str = '"a"', cut_after: int | None = None, **headers: str
) -> Misbehaviour:
    """Send the content from the requested offset, and hang up after `cut_after` bytes."""

    def misbehave(wire: Wire) -> None:
        validator = IF_RANGE.search(wire.head)
        wanted = first_of(wire) if validator and validator[1].decode() == etag else 0
        rest = content[wanted:]
        named = {"Content_Length": str(len(rest)), "ETag": etag, **headers}
        if wanted:
            named["Content_Range"] = f"bytes {wanted}-{len(content) - 1}/{len(content)}"
        status = "206 Partial Content" if wanted else "200 OK"
        wire.send(head(status, **named), rest[:cut_after])

    return misbehave


def next_part(size_bytes: int) -> Misbehaviour:
    """Send so many bytes from the requested offset, and wait."""

    def misbehave(wire: Wire) -> None:
        file(cut_after=size_bytes)(wire)
        wire.wait()

    return misbehave


def waits_told(waits: list[float]) -> Callable[..., None]:
    """Return a `pause` that records each wait and ends it at once."""

    def pause(line: object, seconds: float) -> None:
        waits.append(seconds)
        line.check()

    return pause


@dataclass
class Side:
    """The worker's side: it adds fetches, lets them proceed, and collects their events."""

    folder: Path
    pace: Pace | None = None
    fetching: Fetching = field(init=False)
    waits: list[float] = field(default_factory=list)
    seen: list[FetchEvent] = field(default_factory=list)
    new: deque[FetchEvent] = field(default_factory=deque)
    lets_go: bool = True
    tick: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.pace = self.pace or Pace(pause=waits_told(self.waits), quiet_seconds=10)
        self.hurry()

    def hurry(self, **wanted: object) -> None:
        """Start over, with these times and limits."""
        self.pace = replace(self.pace, **wanted)
        self.fetching = Fetching(LOOPBACK, self.pace)

    def add(self, url: str, key: str = "7") -> None:
        self.fetching.add(Fetch(key, url, self.folder))

    def until(self, is_it: Callable[[FetchEvent], bool]) -> FetchEvent:
        """Return the next event for which `is_it` is true."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self.listen()
            while self.new:
                if is_it(event := self.new.popleft()):
                    return event
            self.tick.wait(0.005)
        raise TimeoutError(self.seen)

    def until_true(self, is_so: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            if time.monotonic() > deadline:
                raise TimeoutError(self.seen)
            self.listen()
            self.tick.wait(0.005)

    def listen(self) -> None:
        for event in self.fetching.poll():
            self.seen.append(event)
            self.new.append(event)
            if isinstance(event, Head) and self.lets_go:
                self.fetching.proceed(event.key)

    def end(self) -> FetchEvent:
        return self.until(lambda event: isinstance(event, ENDS))

    def fetch(self, url: str) -> FetchEvent:
        self.add(url)
        return self.end()

    def head(self) -> Head:
        return self.until(lambda event: isinstance(event, Head))

    @property
    def heads(self) -> list[Head]:
        return [event for event in self.seen if isinstance(event, Head)]

    @property
    def statuses(self) -> list[Status]:
        return [event for event in self.seen if isinstance(event, Status)]

    @property
    def content(self) -> bytes:
        return (self.folder / "0").read_bytes()


def url_of(server: Server, path: str = "/film.mp4") -> str:
    return f"http://127.0.0.1:{server.port}{path}"
