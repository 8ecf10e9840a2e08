"""People who upload, read, and fetch at two machines while something breaks."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Event, Thread

import httpx

from service.store.objects.writer import PART_BYTES
from tests.misbehaving import Wire, head, serving
from tests.running import Ferry
from tests.service.store.clients import client, link_of
from tests.service.store.conftest import Cluster
from tests.service.working import until, until_state

# Only a hang takes this long, even if two Ferrys and all servers share a busy machine. For how long
# people wait for a store, see tests/service/store/test_object_store.py.
READ_SECONDS = 30
WRITE_SECONDS = 50
PAUSE_SECONDS = 0.2
SMALL, LARGE, FETCHED = map(os.urandom, (100_000, PART_BYTES + 7, 300_000))


@dataclass
class Seen:
    """What one person did and saw. A refused upload is made again until it succeeds."""

    name: str
    contents: dict[str, bytes] = field(default_factory=dict)  # acknowledged, by name
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, what: str, answer: httpx.Response, seconds: float, most_seconds: float) -> None:
        self.statuses[answer.status_code] += 1
        is_polite = answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
        if not (answer.is_success or (is_polite and seconds < most_seconds)):
            self.faults.append(f"{what}: {answer.status_code} after {seconds:.1f} s {answer.text}")


class Crowd:
    """People at both machines, who go on until the end of a block."""

    def __init__(self, cluster: Cluster, folder_id: int, readable: dict[str, bytes]) -> None:
        self._folder_id = folder_id
        self._readable = readable
        self._is_over = Event()
        self.writers = [Seen(f"writer {number}") for number in range(2)]
        self.readers = [Seen(f"reader {number}") for number in range(2)]
        self._threads = [
            Thread(target=act, args=(machine, seen))
            for act, each in ((self._write, self.writers), (self._read, self.readers))
            for machine, seen in zip(cluster.machines, each, strict=True)
        ]

    @property
    def everyone(self) -> list[Seen]:
        return [*self.writers, *self.readers]

    def counts(self, status: int) -> list[int]:
        return [seen.statuses[status] for seen in self.everyone]

    def until_served(self, times: int = 2) -> None:
        """Wait until each person was served again, and more than once."""
        before = self.counts(200)
        until(
            lambda: all(
                now >= then + times for now, then in zip(self.counts(200), before, strict=True)
            )
        )

    def until_refused(self) -> None:
        """Wait until the outage has met someone: a server may be back before anyone asks."""
        until(lambda: sum(self.counts(503)))

    @contextmanager
    def busy(self) -> Iterator["Crowd"]:
        for thread in self._threads:
            thread.start()
        try:
            yield self
        finally:
            self._is_over.set()
            for thread in self._threads:
                thread.join()

    def _write(self, machine: Ferry, seen: Seen) -> None:
        number = 0
        with client(machine) as api:
            while not self._is_over.wait(PAUSE_SECONDS):
                name = f"{seen.name} {number}"
                content = name.encode() + (SMALL if number % 4 else LARGE)
                began_at = time.monotonic()
                answer = api.post(
                    "/rest/transfer/file",
                    files={"file": (name, content)},
                    data={"folder_id": self._folder_id},
                )
                seen.note(f"{name}", answer, time.monotonic() - began_at, WRITE_SECONDS)
                if answer.status_code == 200:
                    seen.contents[name] = content
                    number += 1

    def _read(self, machine: Ferry, seen: Seen) -> None:
        with client(machine) as api:
            while True:
                for path, content in self._readable.items():
                    if self._is_over.wait(PAUSE_SECONDS):
                        return
                    began_at = time.monotonic()
                    try:
                        answer = api.get(path)
                    except httpx.RemoteProtocolError:
                        # It had begun, and breaks off instead of ending as if it were whole.
                        continue
                    seen.note(path, answer, time.monotonic() - began_at, READ_SECONDS)
                    if answer.is_success and answer.content != content:
                        seen.faults.append(f"{path}: {len(answer.content)} other bytes")


@dataclass
class Slow:
    """A file at a web server that sends the second half only once it is released."""

    content: bytes
    may_go_on: Event = field(default_factory=Event)

    def __call__(self, wire: Wire) -> None:
        half = len(self.content) // 2
        wire.send(head(Content_Length=str(len(self.content))), self.content[:half])
        self.may_go_on.wait(120)
        wire.send(self.content[half:])


@contextmanager
def under_load(
    cluster: Cluster, folder_id: int, readable: dict[str, bytes]
) -> Iterator[tuple[Crowd, Slow]]:
    """Let people work while the block breaks something. Then check that all is there, once."""
    slow = Slow(FETCHED)
    one, other = cluster.machines
    with serving(slow) as server, client(one) as api:
        crowd = Crowd(cluster, folder_id, readable)
        with crowd.busy():
            crowd.until_served()
            sent = {"url": f"http://127.0.0.1:{server.port}/fetched", "folder_id": folder_id}
            fetch_id = api.post("/rest/transfer/url", data=sent).json()["id"]
            assert server.got_request.wait(60)
            yield crowd, slow
            slow.may_go_on.set()
            crowd.until_served()
        until_state(api, fetch_id, "done")
    assert [seen.faults for seen in crowd.everyone] == [[]] * 4
    assert sum(crowd.counts(503))
    expected = Counter({sha256(FETCHED).hexdigest(): 1})
    for seen in crowd.writers:
        expected.update(sha256(content).hexdigest() for content in seen.contents.values())
    for machine in (one, other):
        with client(machine) as api:
            assert contents_of(api, folder_id) == expected
            assert api.get("/rest/transfer").json()["transfers"] == []
        assert "Traceback" not in machine.log


def contents_of(api: httpx.Client, folder_id: int) -> Counter[str]:
    files = api.get(f"/rest/folder/{folder_id}").json()["files"]
    paths = [link_of(api, each["id"]) for each in files]
    return Counter(sha256(api.get(path).content).hexdigest() for path in paths)
