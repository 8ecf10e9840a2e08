"""Scenarios of power cuts: what Ferry is doing, and what it has acknowledged by then."""

import json
import os
import random
import re
import signal
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha1
from pathlib import Path

import httpx

from tests.faults.tally import SEED
from tests.powercuts.disk import Disk, disk_at
from tests.running import (
    BASE,
    PASSWORD,
    START_SECONDS,
    STOP_SECONDS,
    Ferry,
    Output,
    bring_static_files,
    family_of,
    launch,
    started,
)
from tests.service.api.serving import add_account
from tests.service.working import until, until_state
from tests.swarm import WebSeed, seeder, serving_http, torrent
from tests.tools import program

EMAIL = "alice@example.org"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
SETTINGS = {"DATABASE_URL": "", "TORRENT_PORT": "0", "SEED_MINUTES": "0", "WEB_PROCESSES": "1"}
PAGES = ("/", "/transfers/", "/account/", "/account/server/")
# The schema of an older Ferry, to which migrations can go back.
OLDER = (("webui", "0011"), ("service", "0004"))


@dataclass
class Machine:
    """A machine that runs Ferry, and whose power can be cut."""

    disk: Disk
    chance: random.Random
    has_owner: bool = False
    has_account: bool = False
    contents: dict[str, str] = field(default_factory=dict)  # by name, the SHA-1
    transfer_ids: list[int] = field(default_factory=list)  # the file of each is in contents
    folder: str = "data"

    @property
    def data_dir(self) -> Path:
        return self.disk.place / self.folder

    @contextmanager
    def starting(self) -> Iterator[Ferry]:
        """Start Ferry with a new boot ID, as a machine that boots has."""
        boot = self.disk.place.with_name("boot_id")
        boot.write_text(f"{uuid.UUID(int=self.chance.getrandbits(128))}\n")
        script = f'mount --bind "$0" {BOOT_ID} && exec "$@"'
        prefix = (program("unshare"), "--mount", "sh", "-c", script, str(boot))
        with started(self.data_dir, prefix=prefix, **SETTINGS) as ferry:
            try:
                yield ferry
            finally:
                kill(ferry)

    @contextmanager
    def running(self) -> Iterator[Ferry]:
        with self.starting() as ferry:
            assert ferry.output.saw("Ferry answers on port", START_SECONDS), ferry.log
            yield ferry

    def cut(self) -> None:
        self.disk.cut()

    def lose_power(self) -> None:
        """Remount the disk after the cut, once no process runs."""
        self.disk.unplug()
        self.disk.plug_in()

    def settle(self, ferry: Ferry) -> None:
        """Make the owner, who signs in, and an account for programs."""
        ferry.make_owner()
        self.has_owner = True
        add_account(ferry, EMAIL, PASSWORD)
        self.has_account = True
        with sign_in(ferry) as site:
            for path in PAGES:
                site.get(path).raise_for_status()

    def put(self, ferry: Ferry, name: str, content: bytes) -> None:
        with client_of(ferry) as api:
            answer = api.post("/rest/transfer/file", files={"file": (name, content)})
        assert answer.status_code == 200, answer.text
        self.contents[name] = sha1(content).hexdigest()

    def put_some(self, ferry: Ferry, name: str) -> None:
        for number in range(self.chance.randrange(1, 12)):
            size_bytes = self.chance.choice([0, 1, 5_000, 300_000, 3_000_000])
            self.put(ferry, f"{name}-{number}.bin", self.chance.randbytes(size_bytes))


def kill(ferry: Ferry) -> None:
    """Kill all processes, starting with the ones that could start others."""
    family = list(family_of(ferry.process.pid))
    for pid in family:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    ferry.process.wait()
    until(lambda: not any(is_alive(pid) for pid in family))


def is_alive(pid: int) -> bool:
    """Return whether the process has a thread. While one still writes to a disk, its files stay
    open, even if the main thread has ended."""
    return any(state_of(each) not in "ZX" for each in Path(f"/proc/{pid}/task").glob("*/stat"))


def state_of(stat: Path) -> str:
    try:
        return stat.read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def client_of(ferry: Ferry) -> httpx.Client:
    return httpx.Client(base_url=ferry.url, auth=(EMAIL, PASSWORD), timeout=120, trust_env=False)


# Scenarios: each cuts the power before it yields


@contextmanager
def first_start(machine: Machine) -> Iterator[None]:
    """Cut while Ferry makes files, or right after it answered and got its owner."""
    if machine.chance.random() < 0.5:
        cut_while_starting(machine)
    else:
        with machine.running() as ferry:
            machine.settle(ferry)
            with sign_in(ferry):
                machine.cut()
    yield


@contextmanager
def upgrade(machine: Machine) -> Iterator[None]:
    """Cut during or after an upgrade of an older Ferry's schema and static files, with content."""
    bring_static_files(machine.data_dir)
    with machine.running() as ferry:
        machine.settle(ferry)
        machine.put(ferry, "old.bin", machine.chance.randbytes(100_000))
        for app, migration in OLDER:
            ferry.manage("migrate", app, migration, "--verbosity=0")
    record = machine.data_dir / "static" / "collected.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"fingerprint": "older"}))
    os.sync()
    if machine.chance.random() < 0.5:
        cut_while_starting(machine)
    else:
        with machine.running() as ferry, sign_in(ferry):
            machine.cut()
    yield


def cut_while_starting(machine: Machine) -> None:
    """Cut when Ferry has made a random number of files, or at the latest when it answers."""
    most = machine.chance.randrange(files_in(static_of_all_tests()))
    before = files_in(machine.data_dir)
    with machine.starting() as ferry:
        until(
            lambda: (
                files_in(machine.data_dir) >= before + most or "Ferry answers on port" in ferry.log
            ),
            START_SECONDS,
        )
        machine.cut()


def static_of_all_tests() -> Path:
    return Path(os.environ["DATA_DIR"]) / "static"


def files_in(folder: Path) -> int:
    return sum(len(names) for _folder, _folders, names in os.walk(folder))


@contextmanager
def upload(machine: Machine) -> Iterator[None]:
    """Cut during one of several uploads, after a random byte of it."""
    bring_static_files(machine.data_dir)
    with machine.running() as ferry:
        machine.settle(ferry)
        machine.put_some(ferry, "before")
        last = machine.chance.randbytes(2_000_000)
        with client_of(ferry) as api, suppress(httpx.TransportError):
            headers = {"Content-Type": "multipart/form-data; boundary=b"}
            answer = api.post(
                "/rest/transfer/file", content=cut_within(machine, last), headers=headers
            )
            assert answer.status_code != 200, "What the disk has lost was acknowledged."
    yield


def cut_within(machine: Machine, content: bytes) -> Iterator[bytes]:
    at = machine.chance.choice([0, machine.chance.randrange(len(content)), len(content)])
    yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="half"\r\n\r\n'
    yield content[:at]
    if at < len(content):
        machine.cut()
        yield content[at:]
    else:
        machine.cut()
    yield b"\r\n--b--\r\n"


@contextmanager
def transfers(machine: Machine) -> Iterator[None]:
    """Cut while transfers, as torrents and from URLs, come into the library."""
    bring_static_files(machine.data_dir)
    chance, source = machine.chance, machine.disk.place.with_name("source")
    source.mkdir()
    names = [f"{number}.bin" for number in range(8)]
    contents = {name: chance.randbytes(chance.randrange(1, 3_000_000)) for name in names}
    with seeder() as seeds, serving_http(WebSeed(folder=source)) as web:
        with machine.running() as ferry, client_of(ferry) as api:
            machine.settle(ferry)
            for number, (name, content) in enumerate(contents.items()):
                made = torrent(name, content)
                (source / name).write_bytes(content)
                if number % 3 == 0:
                    seeds.give(made, source / "given")
                    fields = {"magnet": made.magnet(peer=seeds.address)}
                    answer = api.post("/rest/transfer/magnet", data=fields)
                elif number % 3 == 1:
                    answer = api.post("/rest/transfer/url", data={"url": f"{web.url}/{name}"})
                else:
                    seeded = torrent(name, content, **{"url-list": f"{web.url}/{name}"})
                    files = {"file": (f"{name}.torrent", seeded.content)}
                    answer = api.post("/rest/torrent/file", files=files)
                assert answer.status_code == 200, answer.text
                machine.transfer_ids.append(answer.json()["id"])
                machine.contents[name] = sha1(content).hexdigest()
            enough = chance.randrange(len(names) + 1)
            blobs = machine.data_dir / "library" / "blobs"
            until(lambda: files_in(blobs) >= enough)
            machine.cut()
        yield


@contextmanager
def backup(machine: Machine) -> Iterator[None]:
    """Cut while a second backup adds to the first one, or right after it has ended.

    After the cut, restore the newest backup that was acknowledged.
    """
    bring_static_files(machine.data_dir)
    target = machine.disk.place / "backup"
    with machine.running() as ferry:
        machine.settle(ferry)
        machine.put_some(ferry, "first")
        ferry.manage("backup", str(target))
        backed_up, before = dict(machine.contents), files_in(target)
        machine.put_some(ferry, "second")
        news = len(machine.contents) - len(backed_up)
        enough = before + machine.chance.randrange(news + 3)
        second = launch(
            [*ferry.beside, sys.executable, "manage.py", "backup", str(target)],
            cwd=BASE,
            env=ferry.environment,
        )
        output = Output(second)
        until(lambda: second.poll() is not None or files_in(target) >= enough)
        machine.cut()
        assert output.ends(STOP_SECONDS)
        output.close()
        if second.wait() == 0:
            backed_up = dict(machine.contents)
    yield
    restored = replace(machine, folder="restored", contents=backed_up)
    own = {"DATA_DIR": str(restored.data_dir)}
    replace(ferry, beside=()).manage("restore", str(target), **own)
    # The second backup may have been complete although its process was killed before it ended.
    check(restored, machine.contents)


Scenario = Callable[[Machine], AbstractContextManager[None]]
SCENARIOS: tuple[Scenario, ...] = (first_start, upgrade, upload, transfers, backup)


def scenario_of(number: int) -> Scenario:
    return SCENARIOS[number % len(SCENARIOS)]


def cut_power(number: int, folder: Path) -> Machine:
    """Cut the power at a moment that depends on the number, and check what is left."""
    with disk_at(folder) as disk:
        machine = Machine(disk, random.Random(SEED + number))
        with scenario_of(number)(machine):
            machine.lose_power()
            check(machine)
    return machine


# After the cut


def check(machine: Machine, *complete: dict[str, str]) -> None:
    """Check that Ferry starts, its owner signs in, and everything it acknowledged is there.

    Instead, it may have one of the other complete contents.
    """
    with machine.running() as ferry:
        if not machine.has_owner:
            ferry.make_owner()
        with sign_in(ferry) as site:
            for path in PAGES:
                page = site.get(path)
                assert page.status_code == 200, (path, page.status_code, ferry.log)
            sheet = re.findall(r'href="(/static/[^"]+\.css)"', page.text)[0]
            assert site.get(sheet).raise_for_status().content
            assert site.get("/healthz").status_code == 200
        if machine.has_account:
            with client_of(ferry) as api:
                for transfer_id in machine.transfer_ids:
                    until_state(api, transfer_id, "done")
                rows = api.get("/rest/folder").raise_for_status().json()["files"]
                held = {row["name"]: sum_of(api, row["id"]) for row in rows}
                assert held in (machine.contents, *complete), (
                    held.items() ^ machine.contents.items()
                )
        assert "Traceback" not in ferry.log, ferry.log


def sum_of(api: httpx.Client, file_id: int) -> str:
    return sha1(api.get(f"/rest/file/{file_id}", follow_redirects=True).content).hexdigest()


@contextmanager
def sign_in(ferry: Ferry) -> Iterator[httpx.Client]:
    with closing(httpx.Client(base_url=ferry.url, timeout=120, trust_env=False)) as site:
        form = site.get("/signin/").raise_for_status().text
        token = re.findall(r'csrfmiddlewaretoken" value="([^"]+)', form)[0]
        fields = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
        answer = site.post("/signin/", data=fields)
        assert answer.status_code == 302, answer.text
        yield site
