"""Films from the click to the first segment: copied films of two hours, and an encoded one."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Thread

from django.conf import settings
from django.utils import timezone

from lab.bench.harness import ROUNDS, Row
from service.accounts import accounts
from service.content import playback_views
from service.library import library
from service.media.content_folders import Content, forget, scratch_folder
from service.media.hls.plans import find_plan
from service.media.sandbox.children import Children
from service.media.sandbox.ffmpeg_access import ffmpeg
from service.media.work import MediaWork
from service.models import Account, File
from service.store.blobs import library_store
from tests.service.media.waiting import wait_until
from tests.service.reading import reader

HOURS = 2
PIECE_SECONDS = 60
LENGTH_SECONDS = HOURS * 3600


def rows(home: Path) -> Iterator[Row]:
    folder = home / "media"
    folder.mkdir()
    account = accounts.add("media@example.org", None, timezone.now(), space_max_bytes=2**40)
    films = {path.suffix[1:]: add_to_library(account, path) for path in made(folder)}
    with working():
        for name in ("mp4", "mkv"):
            yield from copied(account, films[name], name)
        yield steady(account, films["mp4"])
        yield from encoded(account, films["avi"])


def made(folder: Path) -> list[Path]:
    """Make films of two hours that repeat one minute, and a minute that no browser plays."""
    piece, long = folder / "piece.mp4", folder / "long.mp4"
    source = ["-f", "lavfi", "-i", f"testsrc2=s=1280x720:r=25:d={PIECE_SECONDS}"]
    source += ["-f", "lavfi", "-i", f"sine=440:r=48000:d={PIECE_SECONDS}"]
    run(*source, "-c:v", "libx264", "-preset", "ultrafast", "-g", "50", "-pix_fmt", "yuv420p",
        "-b:v", "1M", "-c:a", "aac", str(piece))  # fmt: skip
    again = str(LENGTH_SECONDS // PIECE_SECONDS - 1)
    run("-stream_loop", again, "-i", str(piece), "-c", "copy", str(long))
    run("-i", str(long), "-c", "copy", str(folder / "long.mkv"))
    large = [word.replace("1280x720", "1920x1080") for word in source]
    run(*large, "-c:v", "mpeg4", "-b:v", "8M", "-c:a", "ac3", str(folder / "other.avi"))
    return [long, folder / "long.mkv", folder / "other.avi"]


def run(*arguments: str) -> None:
    subprocess.run([ffmpeg(), "-nostdin", "-v", "error", "-y", *arguments], check=True)


def add_to_library(account: Account, path: Path) -> File:
    with path.open("rb") as stream:
        stored = library_store().put(stream)
    return library.add_file(account, 0, path.name, stored, timezone.now())


@contextmanager
def working() -> Iterator[None]:
    children = Children(scratch_folder())
    worker = MediaWork(children, lambda: False)
    with worker.going_on():
        wait_until(is_ready)
        yield


def is_ready() -> bool:
    return (settings.DATA_DIR / "media.sock").exists()


def copied(account: Account, file: File, name: str) -> Iterator[Row]:
    content = Content(file.sha1, file.size_bytes)
    indexed = []
    for _ in range(ROUNDS):
        forget(content)
        indexed.append(seconds(lambda: playback_views.plan_of(file)))
    yield Row(f"index of a 2 h {name}", median(indexed), " s", under=1, raw={"seconds": indexed})
    clicks = [click(account, file, ["vcopy", "a1copy"], 0) for _ in range(ROUNDS)]
    yield Row(f"click to first segment, {name} copied", median(clicks), " s", under=0.3,
              raw={"seconds": clicks})  # fmt: skip
    seeks = [click(account, file, ["vcopy"], at) for at in (300, 900, 100, 1100, 600)]
    yield Row(f"a seek, {name} copied", median(seeks), " s", under=0.3, raw={"seconds": seeks})


def encoded(account: Account, file: File) -> Iterator[Row]:
    playback_views.plan_of(file)
    clicks = [click(account, file, ["v720"], 0) for _ in range(ROUNDS)]
    yield Row("click to first segment, 1080p encoded to 720p", median(clicks), " s", under=1.5,
              raw={"seconds": clicks})  # fmt: skip
    seeks = [click(account, file, ["v720"], at) for at in (10, 4, 12, 7, 2)]
    yield Row("a seek, 1080p encoded to 720p", median(seeks), " s", under=1.5,
              raw={"seconds": seeks})  # fmt: skip
    forget_segments(file)
    count = find_plan(folder_of(file)).rendition("v720").count
    taken = seconds(lambda: [fetched(account, file, f"v720/{n}.m4s") for n in range(count)])
    yield Row("1080p encoded to 720p, times real time", PIECE_SECONDS / taken, at_least=4)


def click(account: Account, file: File, names: list[str], number: int) -> float:
    """Time all requests of a player until it can show something, with no segment made before."""
    forget_segments(file)

    def ask() -> None:
        fetched(account, file, "master.m3u8")
        threads = [Thread(target=first, args=(account, file, name, number)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return seconds(ask)


def first(account: Account, file: File, name: str, number: int) -> None:
    for each in (f"{name}/index.m3u8", f"{name}/init.mp4", f"{name}/{number}.m4s"):
        fetched(account, file, each)


def fetched(account: Account, file: File, name: str) -> None:
    link = playback_views.stream_link(account, file, now=timezone.now())
    with reader() as client:
        client.get(link.replace("master.m3u8", name), timeout=60).raise_for_status()


def folder_of(file: File) -> Path:
    return Content(file.sha1, file.size_bytes).folder / "hls"


def forget_segments(file: File) -> None:
    for place in folder_of(file).glob("*/*.m4s"):
        place.unlink()


def steady(account: Account, file: File) -> Row:
    """Compare the CPU time that ten minutes of a film take with the time that they last."""
    forget_segments(file)
    before = spent()
    for number in range(100):
        for name in ("vcopy", "a1copy"):
            fetched(account, file, f"{name}/{number}.m4s")
    percent = 100 * (spent() - before) / 600
    return Row("one viewer of a copied film, of a core", percent, " %", under=2)


def spent() -> float:
    """Return the CPU seconds of this process and of all its children that have ended."""
    return sum(os.times()[:4])


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
