"""Kills and power cuts while a disk is away, read-only, full, or slow.

It is the disk of the database, or that of the library.

What Ferry acknowledged is there afterward, and Health names each trouble within a minute.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from hashlib import sha1
from pathlib import Path
from threading import Event

import httpx
import pytest

from tests.faults.tally import Reckoning
from tests.faults.test_disks import EMAIL, MAKE_ACCOUNT, restart_web
from tests.powercuts.apart import Apart, apart
from tests.powercuts.disk import OPTIONS, cut_off
from tests.powercuts.scenarios import SETTINGS, kill
from tests.running import PASSWORD, START_SECONDS, Ferry, bring_static_files, started
from tests.service.working import until

pytestmark = pytest.mark.slow

FROZEN_SECONDS, THAWED_SECONDS = 6.0, 1.0
NOTED_SECONDS = 60
TOKEN = "a-token-of-sixteen-letters"
Trouble = Callable[[Apart, Path], AbstractContextManager[None]]


# Troubles of a disk


@contextmanager
def away(there: Apart, place: Path) -> Iterator[None]:
    """Cover the disk with an empty one: that is what its mount point looks like without it."""
    there.run("mount", "-t", "tmpfs", "-o", "size=50m", "empty", place)
    yield
    there.run("umount", "--lazy", place)


@contextmanager
def read_only(there: Apart, place: Path) -> Iterator[None]:
    there.run("mount", "--bind", place, place)
    there.run("mount", "-o", "remount,ro,bind", place)
    yield
    there.run("umount", "--lazy", place)


@contextmanager
def full(there: Apart, place: Path) -> Iterator[None]:
    filler = there.path(place) / "filler"
    with filler.open("wb") as file:
        for size_bytes in (2**24, 2**16, 2**12):
            try:
                while True:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, size_bytes)
            except OSError:
                continue
    yield
    with suppress(OSError):  # The power was cut.
        filler.unlink()


@contextmanager
def slow(there: Apart, place: Path) -> Iterator[None]:
    """Let every write wait for some seconds."""
    is_over = Event()

    def hold() -> None:
        while not is_over.is_set():
            there.run("fsfreeze", "--freeze", place)
            is_over.wait(FROZEN_SECONDS)
            there.run("fsfreeze", "--unfreeze", place)
            is_over.wait(THAWED_SECONDS)

    with ThreadPoolExecutor(1) as thread:
        holding = thread.submit(hold)
        try:
            yield
        finally:
            is_over.set()
            holding.result()


# What Health says about them, by place
FINDINGS = {
    ("away", "data"): {"database": "The database isn't responding."},
    ("away", "data/library"): {"library": "The library is missing."},
    ("read_only", "data"): {"disk": "The disk can't be written to."},
    ("read_only", "data/library"): {"disk": "The disk can't be written to."},
    ("full", "data"): {"disk": "The disk is full."},
    ("full", "data/library"): {"disk": "The disk is full."},
    ("slow", "data"): {"disk": "The disk takes seconds to write."},
    ("slow", "data/library"): {"disk": "The disk takes seconds to write."},
}


class Machine:
    """A machine with two disks, and what Ferry acknowledged there."""

    def __init__(self, there: Apart, devices: dict[Path, str]) -> None:
        self.there, self.devices = there, devices
        self.data_dir = next(iter(devices))
        self.sums: dict[str, str] = {}

    @contextmanager
    def running(self, *, insists: bool = True) -> Iterator[Ferry]:
        with started(
            self.data_dir, prefix=self.there.prefix, METRICS_TOKEN=TOKEN, **SETTINGS
        ) as ferry:
            try:
                answers = ferry.output.saw("Ferry answers on port", START_SECONDS)
                assert answers or not insists, ferry.log
                yield ferry
            finally:
                kill(ferry)

    def put(self, ferry: Ferry, name: str) -> None:
        """Upload a file, and remember it if Ferry acknowledges it."""
        content = os.urandom(100_000)
        try:
            with client(ferry) as api:
                answer = api.post("/rest/transfer/file", files={"file": (name, content)})
        except httpx.TransportError:
            return
        assert answer.status_code in (200, 401, 413, 422, 503), ferry.log[-6000:]
        if answer.status_code == 200:
            self.sums[name] = sha1(content).hexdigest()

    def cut(self) -> None:
        for place in self.devices:
            cut_off(self.there.path(place))

    def plug_in_again(self) -> None:
        for place, device in reversed(self.devices.items()):
            self.there.run("umount", place)
            until(lambda name=Path(device).name: not Path(f"/proc/fs/ext4/{name}").exists())
        for place, device in self.devices.items():
            self.there.run("mount", "-o", OPTIONS, device, place)


def client(ferry: Ferry) -> httpx.Client:
    return httpx.Client(base_url=ferry.url, auth=(EMAIL, PASSWORD), timeout=60, trust_env=False)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    data, library = tmp_path / "data", tmp_path / "data" / "library"
    with (
        apart() as there,
        there.disk(data, tmp_path / "first", OPTIONS) as first,
        there.disk(library, tmp_path / "second", OPTIONS) as second,
    ):
        bring_static_files(there.path(data))
        yield Machine(there, {data: first, library: second})


def names_it(ferry: Ferry, expected: dict[str, str]) -> bool:
    with client(ferry) as api:
        answer = api.get("/readyz", headers={"Authorization": f"Bearer {TOKEN}"}, auth=None)
    found = answer.json()["parts"]
    return all(found[part] == words for part, words in expected.items())


@pytest.mark.parametrize("end", ["web", "all", "power"])
@pytest.mark.parametrize("place", ["data", "data/library"])
@pytest.mark.parametrize("trouble", [away, read_only, full, slow])
def test_nothing_acknowledged_is_lost(trouble: Trouble, place: str, end: str, machine, tally):
    at = machine.data_dir.parent / place
    with ExitStack() as troubles, machine.running() as ferry:
        ferry.manage("shell", "--verbosity=0", "-c", MAKE_ACCOUNT)
        machine.put(ferry, "before")
        assert machine.sums
        troubles.enter_context(trouble(machine.there, at))
        restart_web(ferry)
        until(lambda: names_it(ferry, FINDINGS[trouble.__name__, place]), seconds=NOTED_SECONDS)
        for number in range(3):
            machine.put(ferry, f"during {number}")
        if end == "web":
            restart_web(ferry)
            machine.put(ferry, "after the web")
        if end == "all":
            kill(ferry)
            with machine.running(insists=False) as again:
                machine.put(again, "after a start")
        if end == "power" and trouble in (read_only, full):
            machine.cut()
        troubles.close()
        if end == "power":
            machine.put(ferry, "at last")
            machine.cut()
            kill(ferry)
            machine.plug_in_again()
    with machine.running() as ferry:
        until(lambda: httpx.get(f"{ferry.url}/readyz").status_code == 200, seconds=NOTED_SECONDS)
        with client(ferry) as api:
            rows = api.get("/rest/folder").raise_for_status().json()["files"]
            found = {
                row["name"]: sha1(
                    api.get(f"/rest/file/{row['id']}", follow_redirects=True).content
                ).hexdigest()
                for row in rows
            }
    lost = [name for name, digest in machine.sums.items() if found.get(name) != digest]
    tally.faults[f"{end} on a disk that is {trouble.__name__}"] += 1
    tally.add(Reckoning(len(machine.sums), lost=lost))
    assert lost == []
