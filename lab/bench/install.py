"""The whole default install, as `make run` starts it: its time to the first answer, its memory,
its pages per second, and the size of each screen."""

import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import httpx
from playwright.sync_api import sync_playwright

from lab.bench.archives import copyparty
from lab.bench.browser import Browser, signed_in
from lab.bench.harness import ROUNDS, Row, peer, running_peer, seconds
from lab.soak.growth import pss_bytes
from tests.browser.chromium import ARGUMENTS
from tests.browser.loading import first_loaded, weight
from tests.browser.shelf import Shelf
from tests.running import Ferry, family_of, running

FILES = 20
READERS = 8
# A child that reads new files ends half a minute after the last one.
CALM_SECONDS, IDLE_SECONDS, BUSY_SECONDS = 40, 30, 8
SETTINGS = {"TORRENT_NETWORK": "loopback", "TORRENT_PORT": "0", "LOG_LEVEL": "ERROR"}
CALM = threading.Event()


def rows(home: Path) -> Iterator[Row]:
    place = home / "install"
    yield from starts(place)
    with running(place, **SETTINGS) as ferry:
        folder = folder_of_small_files(ferry)
        browser = signed_in(ferry.url)
        browser.page(folder)
        CALM.wait(CALM_SECONDS)
        yield Row("memory of the whole install, idle", megabytes(ferry), " MB", at_most=200)
        yield Row(
            "idle CPU of the whole install, of one core", idle_percent(ferry), " %", at_most=0.3
        )
        yield from rates(ferry, browser, folder, home / "install-twin")
        yield from weights(browser, folder)


# Time to the first answer


def starts(place: Path) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as empty:
        first = start_seconds(Path(empty))
    with running(place, **SETTINGS) as ferry:
        ferry.make_owner()
    again = [start_seconds(place) for _ in range(ROUNDS)]
    yield Row("start to first answer, empty data folder", first, " s", raw={"s": [first]})
    yield Row("start to first answer, later", median(again), " s", at_most=1, raw={"s": again})


def start_seconds(place: Path) -> float:
    with ExitStack() as stack:
        return seconds(lambda: answering(stack.enter_context(running(place, **SETTINGS))))


def answering(ferry: Ferry) -> None:
    httpx.get(f"{ferry.url}/healthz", trust_env=False).raise_for_status()


# Memory


def megabytes(ferry: Ferry) -> float:
    """Return the memory of all processes, counting once what several share."""
    places = [Path(f"/proc/{pid}") for pid in family_of(ferry.process.pid)]
    return sum(map(pss_bytes, places)) / 1024 / 1000


# Idle CPU


def idle_percent(ferry: Ferry) -> float:
    before = cpu_seconds(ferry)
    CALM.wait(IDLE_SECONDS)
    return 100 * (cpu_seconds(ferry) - before) / IDLE_SECONDS


def cpu_seconds(ferry: Ferry) -> float:
    """Return what the kernel has counted for all threads, in nanoseconds.

    By clock ticks, a thread that works for a moment may count for a whole tick.
    """
    stats = [each for pid in family_of(ferry.process.pid) for each in threads_of(pid)]
    return sum(int(each.read_text().split()[0]) for each in stats) / 1e9


def threads_of(pid: int) -> Iterator[Path]:
    return Path(f"/proc/{pid}/task").glob("*/schedstat")


# Pages a second


def folder_of_small_files(ferry: Ferry) -> str:
    shelf = Shelf(ferry)
    folder = shelf.folder()
    for number in range(FILES):
        shelf.file(folder, f"File {number}.txt", b"x")
    shelf.close()
    return folder.path


def rates(ferry: Ferry, browser: Browser, folder: str, twin: Path) -> Iterator[Row]:
    name, wrk, party = f"pages of {FILES} files a second", peer("wrk"), peer("copyparty")
    if wrk is None:
        yield Row(name, None, missing="wrk")
        return
    meanwhile: list[float] = []
    looking = threading.Timer(BUSY_SECONDS, lambda: meanwhile.append(megabytes(ferry)))
    looking.start()
    ours = [rate(wrk, browser.url + folder, browser.cookie) for _ in range(ROUNDS)]
    looking.join()
    yield Row(name, median(ours), "/s", at_least=500, raw={"rate": ours})
    yield Row("memory of the whole install meanwhile", meanwhile[0], " MB")
    if party is None:
        yield Row(f"{name}, of copyparty's", None, missing="copyparty")
        return
    with small_twin(party, twin) as url:
        theirs = [rate(wrk, url) for _ in range(ROUNDS)]
    raw = {"copyparty": theirs}
    yield Row(
        f"{name}, of copyparty's",
        median(ours) / median(theirs),
        at_least=0.55,
        relative="speed",
        raw=raw,
    )


@contextmanager
def small_twin(program: str, twin: Path) -> Iterator[str]:
    twin.mkdir()
    for number in range(FILES):
        (twin / f"File {number}.txt").write_bytes(b"x")
    with running_peer(*copyparty(program, twin)) as url:
        yield f"{url}/"


def rate(program: str, url: str, cookie: str = "js=n") -> float:
    command = [program, "-t1", f"-c{READERS}", "-d3s", "-H", f"Cookie: {cookie}"]
    command += ["-H", "User-Agent: Mozilla/5.0 Chrome/140.0", url]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Non-2xx" not in output, output
    return float(re.search(r"Requests/sec:\s*([\d.]+)", output)[1])


# What a first visit loads


def weights(browser: Browser, folder: str) -> Iterator[Row]:
    pages = {"Files": folder, "Transfers": "/transfers/", "Add": "/add/", "Account": "/account/"}
    program = peer("chromium")
    if program is None:
        yield Row("pages first loaded, compressed", None, missing="chromium")
        return
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        for name, path in pages.items():
            sizes = first_loaded(chromium, browser.url + path, browser.state)
            yield Row(f"{name} first loaded, compressed", weight(sizes) / 1000, " KB", under=60)
        chromium.close()
