"""Fetching a large file from a web server, beside programs that do only that."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from threading import Event

from common.addresses.reachable import Reach
from lab.bench.harness import Row, forget_peak, in_turns, memory_bytes, peer
from lab.bench.streams import nginx
from service.fetching.events import Head
from service.fetching.fetch import Fetch
from service.fetching.http.wire import Road
from service.fetching.pace import Pace
from service.fetching.pool import Fetching
from service.torrents.events import Complete

SIZE_BYTES = 2**30
ROUNDS = 3


def rows(home: Path) -> Iterator[Row]:
    program = peer("nginx")
    if program is None:
        yield Row("1 GiB fetched, of curl", None, missing="nginx")
        return
    with nginx(program, home / "web", "") as address:
        with (home / "web" / "film").open("wb") as file:
            file.truncate(SIZE_BYTES)
        yield from beside_others(f"{address}/film", home)
        yield memory(f"{address}/film", home)


def beside_others(url: str, home: Path) -> Iterator[Row]:
    """Compare with other programs, although only Ferry's file is surely on the disk when done."""
    target = home / "film"
    others = {"curl": ["curl", "--silent", "--fail", "--noproxy", "*", "--output", str(target)]}
    if aria2 := peer("aria2c"):
        others["aria2"] = [aria2, "--quiet", "--no-conf", "--file-allocation=none"]
        others["aria2"] += ["--allow-overwrite", f"--dir={home}", "--out=film"]
    else:
        yield Row("1 GiB fetched, of aria2", None, missing="aria2c")
    runs = {name: running([*command, url], target) for name, command in others.items()}
    taken = in_turns(ROUNDS, ferry=lambda: fetched(url, home / "transfer"), **runs)
    for name in runs:
        ratio = median(taken[name]) / median(taken["ferry"])
        raw = {"ferry s": taken["ferry"], f"{name} s": taken[name]}
        yield Row(f"1 GiB fetched, of {name}", ratio, "x", at_least=0.8, relative="speed", raw=raw)


def memory(url: str, home: Path) -> Row:
    forget_peak()
    before = memory_bytes("VmRSS")
    fetched(url, home / "transfer")
    grown = (memory_bytes("VmHWM") - before) / 2**20
    return Row("memory of fetching 1 GiB", grown, " MiB", under=32)


def running(command: list[str], target: Path) -> Callable[[], None]:
    def run() -> None:
        subprocess.run(command, check=True)
        target.unlink()

    return run


def fetched(url: str, folder: Path) -> None:
    folder.mkdir()
    fetching = Fetching(Road(Reach("loopback")), Pace())
    fetching.add(Fetch("1", url, folder))
    tick = Event()
    while not is_complete(fetching):
        tick.wait(0.005)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def is_complete(fetching: Fetching) -> bool:
    events = fetching.poll()
    if any(isinstance(event, Head) for event in events):
        fetching.proceed("1")
    return any(isinstance(event, Complete) for event in events)
