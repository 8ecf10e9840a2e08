"""Let people use one Ferry, and watch its memory, threads, and handles."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from lab.soak.growth import NAMES, Bound, Sample, sample_of, thirds
from lab.soak.person import Person
from tests.running import PASSWORD, Ferry, running
from tests.swarm import WebSeed, serving_http

PEOPLE = 100
PAUSE_SECONDS = 2.0
SIGN_INS_AT_ONCE = 8
SAMPLES = 90
TICK_SECONDS = 0.05
WARM_UP_SHARE = 0.25
FETCHED_BYTES = 200_000
# Threads and handles vary with how many requests happen to come at once.
BOUNDS = {
    "memory": Bound(share=0.10, more=16),
    "threads": Bound(share=0.10, more=16),
    "handles": Bound(share=0.10, more=48),
}
MAKE_PEOPLE = """
from webui.models import Role, User
for name in {names}:
    User.objects.create_user(name, {password!r}, Role.MEMBER)
"""
BAD_WORDS = ("Traceback", " ERROR ", " CRITICAL ")


@dataclass
class Report:
    people: int
    seconds: float
    acts: int
    troubles: Counter[str]
    samples: list[Sample]
    warnings: Counter[str] = field(default_factory=Counter)

    @property
    def is_well(self) -> bool:
        return not (self.troubles or self.grown)

    @property
    def grown(self) -> list[str]:
        return [name for name in NAMES if not BOUNDS[name].holds(*thirds(self.samples, name))]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.people} people did {self.acts} things in {self.seconds:.0f} s."
        for name in NAMES:
            first, last = thirds(self.samples, name)
            unit = " MiB" if name == "memory" else ""
            mark = "GROWN" if name in self.grown else "ok"
            yield f"  {mark}: {name}, first third {first:.0f}{unit}, last third {last:.0f}{unit}"
        for trouble, count in self.troubles.most_common(20):
            yield f"  TROUBLE, {count} times: {trouble}"
        for warning, count in self.warnings.most_common(20):
            yield f"  logged, {count} times: {warning}"


class Crowd:
    """All people, each in a thread, while the context is open."""

    def __init__(self, people: list[Person], pause_seconds: float) -> None:
        self.people = people
        self._pause_seconds = pause_seconds
        self.troubles: Counter[str] = Counter()
        self._is_over = threading.Event()
        self._door = threading.Semaphore(SIGN_INS_AT_ONCE)
        self._threads = [threading.Thread(target=self._live, args=(each,)) for each in people]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_trouble: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    @property
    def acts(self) -> int:
        return sum(each.acts_done for each in self.people)

    @property
    def is_there(self) -> bool:
        """Return whether anyone may still act."""
        return any(each.is_alive() for each in self._threads)

    def _live(self, person: Person) -> None:
        with closing(person.browser):
            with self._door:
                has_begun = self._does(person.begin)
            while has_begun and not self._is_over.wait(person.pause_seconds(self._pause_seconds)):
                self._does(person.act)

    def _does(self, act: Callable[[], None]) -> bool:
        try:
            act()
        except Exception as trouble:  # noqa: BLE001  The report names it.
            self.troubles[f"{type(trouble).__name__}: {str(trouble)[:200]}"] += 1
            return False
        return True


def soaked(
    home: Path,
    *,
    people: int = PEOPLE,
    seconds: float = 0,
    acts: int = 0,
    pause_seconds: float = PAUSE_SECONDS,
) -> Report:
    """Soak Ferry for `seconds`, or until people have done `acts` things."""
    (home / "given").mkdir()
    (home / "given" / "fetched.bin").write_bytes(bytes(FETCHED_BYTES))
    with (
        serving_http(WebSeed(folder=home / "given")) as web,
        running(home / "data", TORRENT_NETWORK="loopback", TORRENT_PORT="0") as ferry,
        Crowd(list(people_of(ferry, people, f"{web.url}/fetched.bin")), pause_seconds) as crowd,
    ):
        started = time.monotonic()
        if acts:
            samples = list(watched(ferry, crowd, lambda: crowd.acts, acts))
        else:
            samples = list(watched(ferry, crowd, lambda: time.monotonic() - started, seconds))
        took = time.monotonic() - started
    lines = ferry.log.splitlines()
    troubles = crowd.troubles + Counter(filter(is_bad, lines))
    # Cut off the time at the beginning, so that equal warnings count together.
    warnings = Counter(line.partition(" ")[2] for line in lines if " WARNING " in line)
    return Report(people, took, crowd.acts, troubles, samples, warnings)


def people_of(ferry: Ferry, count: int, address: str) -> Iterator[Person]:
    names = [f"person{number}" for number in range(count)]
    script = MAKE_PEOPLE.format(names=names, password=PASSWORD)
    ferry.manage("shell", "--verbosity=0", "-c", script)
    for number, name in enumerate(names):
        yield Person(ferry.url, name, PASSWORD, number, address)


def watched(
    ferry: Ferry, crowd: Crowd, progress: Callable[[], float], goal: float
) -> Iterator[Sample]:
    """Yield samples after a warm-up, in which all sign in and Ferry does its one-time work."""
    step = goal * (1 - WARM_UP_SHARE) / SAMPLES
    for number in range(SAMPLES):
        due = goal * WARM_UP_SHARE + number * step
        while progress() < due and crowd.is_there and not ferry.output.ends(TICK_SECONDS):
            pass
        yield sample_of(ferry.process.pid)


def is_bad(line: str) -> bool:
    return any(word in line for word in BAD_WORDS)
