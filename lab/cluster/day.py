"""A day of people who use the cluster, in less time, while its parts are killed at random."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from math import pi, sin

import httpx

from tests.cluster import sources
from tests.cluster.kills import LEFT, kill
from tests.cluster.machines import Cluster, Machine
from tests.running import PASSWORD
from tests.service.api.serving import add_account_in
from tests.service.working import until

PEOPLE = 24
PAUSE_SECONDS = 4.0
LARGEST_BYTES = 3_000_000
# Most of what people fetch is small. A large fetch lasts for seconds, and so is often interrupted.
FETCHED_BYTES, LARGE_FETCHED_BYTES, LARGE_SHARE = 2_000_000, 40_000_000, 0.1
MOST_FILES = 10
BETWEEN_KILLS = (20.0, 60.0)
CUT_SECONDS = 25.0
VICTIMS = ("web", "worker", "worker", "database", "store", "link")
END_SECONDS = 300.0
MOST_LOGGED = 3000


class Uncertain(Exception):  # noqa: N818  It is no error.
    """No response arrived, so the request may or may not have taken effect."""


@dataclass
class Report:
    seconds: float
    acts: Counter[str] = field(default_factory=Counter)
    uncertain: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        acts = ", ".join(f"{count} {name}" for name, count in self.acts.most_common())
        kills = ", ".join(f"{count} × {name}" for name, count in self.kills.most_common())
        return "\n".join(
            [
                f"In {self.seconds:.0f} s, {PEOPLE} people did: {acts}.",
                f"Killed or cut off meanwhile: {kills}.",
                f"{self.uncertain} requests had no answer, or 503.",
                f"Lost, doubled, or stuck: {len(self.faults)}.",
                *self.faults[:20],
            ]
        )


class Visitor:
    """A person with an account of their own, who knows what must be there."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        self.email = f"visitor{number}@example.org"
        self.uncertain = 0
        self.acts: Counter[str] = Counter()
        self.faults: list[str] = []
        self._cluster = cluster
        self._chance = random.Random(number)
        self._contents: dict[str, bytes] = {}  # acknowledged, by name
        self._doubtful: set[str] = set()  # names that may or may not be there
        self._fetches: dict[int, tuple[str, int]] = {}
        self._numbers = 0

    def act(self) -> None:
        acts: list[tuple[int, Callable[[], None]]] = [
            (4, self.upload),
            (4, self.read),
            (3, self.list),
            (2, self.rename),
            (2, self.delete),
            (1, self.fetch),
        ]
        weights, each = zip(*acts, strict=True)
        (act,) = self._chance.choices(each, weights)
        try:
            act()
            self.acts[act.__name__] += 1
        except Uncertain:
            self.uncertain += 1

    def pause_seconds(self) -> float:
        return PAUSE_SECONDS * self._chance.uniform(0.5, 1.5)

    def upload(self) -> None:
        if len(self._contents) >= MOST_FILES:
            return self.delete()
        name, content = self._name(), self._chance.randbytes(self._chance.randrange(LARGEST_BYTES))
        self._doubtful.add(name)
        self._ask("POST", "/rest/transfer/file", files={"file": (name, content)})
        self._doubtful.discard(name)
        self._contents[name] = content
        return None

    def read(self) -> None:
        if chosen := self._any():
            files = self._files()
            if chosen not in files:
                return self._fault(f"{chosen} is lost")
            if self._content_of(files[chosen]) != self._contents[chosen]:
                self._fault(f"{chosen} has other bytes")
        return None

    def list(self) -> None:
        missing = self._contents.keys() - self._files().keys()
        if missing:
            self._fault(f"lost: {sorted(missing)}")

    def rename(self) -> None:
        if (old := self._any()) and (file_id := self._files().get(old)):
            new = self._name()
            content = self._contents.pop(old)
            self._doubtful |= {old, new}
            self._ask("POST", f"/rest/file/{file_id}/rename", data={"name": new})
            self._doubtful -= {old, new}
            self._contents[new] = content

    def delete(self) -> None:
        if (name := self._any()) and (file_id := self._files().get(name)):
            self._contents.pop(name)
            self._doubtful.add(name)
            self._ask("DELETE", f"/rest/file/{file_id}")
            self._doubtful.discard(name)

    def fetch(self) -> None:
        is_large = self._chance.random() < LARGE_SHARE
        most_bytes = LARGE_FETCHED_BYTES if is_large else FETCHED_BYTES
        name, size_bytes = self._name(), self._chance.randrange(most_bytes)
        url = sources.url_of(name, size_bytes)
        answer = self._ask("POST", "/rest/transfer/url", data={"url": url})
        self._fetches[answer.json()["id"]] = (name, size_bytes)

    def reckon(self) -> None:
        """Check, at the end, that all is there once, and nothing else."""
        digests = {name: sha256(content).digest() for name, content in self._contents.items()}
        for transfer_id, (name, size_bytes) in self._fetches.items():
            state = self._surely("GET", f"/rest/transfer/{transfer_id}").json()["state"]
            if state != "done":
                self._fault(f"{name} is {state}")
            content = sources.content_of(name, size_bytes)
            digests[f"{name}-{size_bytes}.bin"] = sha256(content).digest()
        listed = self._surely("GET", "/rest/folder").json()["files"]
        names = Counter(each["name"] for each in listed)
        known = {name.removesuffix(".bin").rpartition("-")[0] for name, _n in names.items()}
        lost = digests.keys() - names.keys()
        strange = {
            name for name in names.keys() - digests.keys() - self._doubtful if name not in known
        }
        if lost or strange or max(names.values(), default=1) > 1:
            self._fault(f"lost {sorted(lost)}, strange or doubled {sorted(strange)}")
        for each in listed:
            if (digest := digests.get(each["name"])) is not None:
                found = self._surely("GET", f"/rest/file/{each['id']}", follow_redirects=True)
                if sha256(found.content).digest() != digest:
                    self._fault(f"{each['name']} has other bytes")

    def _name(self) -> str:
        self._numbers += 1
        return f"{self.email.partition('@')[0]}x{self._numbers}x"

    def _any(self) -> str:
        return self._chance.choice(sorted(self._contents)) if self._contents else ""

    def _files(self) -> dict[str, int]:
        return {
            each["name"]: each["id"] for each in self._ask("GET", "/rest/folder").json()["files"]
        }

    def _content_of(self, file_id: int) -> bytes:
        return self._ask("GET", f"/rest/file/{file_id}", follow_redirects=True).content

    def _fault(self, words: str) -> None:
        self.faults.append(f"{self.email}: {words}")

    def _ask(self, method: str, path: str, **more: object) -> httpx.Response:
        web = self._chance.choice(self._cluster.webs)
        login = (self.email, PASSWORD)
        try:
            with httpx.Client(base_url=web.url, auth=login, timeout=30, trust_env=False) as client:
                answer = client.request(method, path, **more)
        except httpx.TransportError as error:
            raise Uncertain from error
        if answer.status_code >= 500:
            if answer.status_code != 503:
                self._fault(f"{method} {path}: {answer.status_code}")
            raise Uncertain
        if answer.is_error:
            self._fault(f"{method} {path}: {answer.status_code} {answer.text[:100]}")
            raise Uncertain
        return answer

    def _surely(self, method: str, path: str, **more: object) -> httpx.Response:
        def answer() -> httpx.Response | None:
            with suppress(Uncertain):
                return self._ask(method, path, **more)
            return None

        return until(answer, END_SECONDS)


def lived(cluster: Cluster, seconds: float) -> Report:
    """Simulate a day in this many seconds, and return a report."""
    people = [Visitor(cluster, number) for number in range(PEOPLE)]
    for each in people:
        add_account_in(cluster.environment, each.email, PASSWORD)
    report = Report(seconds)
    began_at = time.monotonic()
    is_over = threading.Event()

    def live(person: Visitor) -> None:
        while not is_over.is_set():
            person.act()
            share = min(1, (time.monotonic() - began_at) / seconds)
            # At noon people do three times as much as at midnight.
            is_over.wait(person.pause_seconds() / (1 + 2 * sin(pi * share)))

    with ThreadPoolExecutor(PEOPLE) as pool:
        lives = [pool.submit(live, each) for each in people]
        try:
            break_things(cluster, began_at + seconds, report)
        finally:
            is_over.set()
        for each in lives:
            each.result()
    report.faults += stuck(cluster)
    for each in people:
        each.reckon()
        report.acts.update(each.acts)
        report.uncertain += each.uncertain
        report.faults += each.faults
    for machine in cluster.machines:
        report.faults += tracebacks(machine)
    return report


def tracebacks(machine: Machine) -> list[str]:
    _before, mark, after = machine.log.partition("Traceback")
    return [f"{machine.host.name} logged: {mark}{after[:MOST_LOGGED]}"] if mark else []


def stuck(cluster: Cluster) -> list[str]:
    """Return the transfers that don't end although nothing is broken anymore."""
    try:
        until(lambda: not cluster.say(LEFT), END_SECONDS)
    except AssertionError:
        return [f"stuck: {each}" for each in cluster.say_all(STUCK)]
    return []


STUCK = """
SELECT id, kind, state, reason, progress_percent, size_bytes, leased_by FROM service_transfer
WHERE state NOT IN ('done', 'failed')
"""


def break_things(cluster: Cluster, until_at: float, report: Report) -> None:
    chance, pause = random.Random(7), threading.Event()
    while (left := until_at - time.monotonic()) > 0:
        pause.wait(min(left, chance.uniform(*BETWEEN_KILLS)))
        victim = chance.choice(VICTIMS)
        report.kills[victim] += 1
        if victim == "link":
            with chance.choice(cluster.machines).host.cut_off():
                pause.wait(CUT_SECONDS)
        elif dead := kill(cluster, victim, chance.choice(cluster.machines)):
            report.faults += tracebacks(dead)
            dead.again()
