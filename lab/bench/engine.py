"""Measure the archive engine: `python -m lab.bench.engine [folder for temporary files]`."""

import os
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from service.content.archive import Archive, ArchiveFiles, ArchiveFolder, Step, write_plan

MOMENT = datetime(2024, 5, 17, 12, 30, tzinfo=UTC)


def main() -> None:
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=parent) as name:
        home = Path(name)
        small_files(home)
        large_files(home)
        many_entries(home)


def small_files(home: Path) -> None:
    content = os.urandom(4096)
    for number in range(10_000):
        (home / f"{number:05}").write_bytes(content)
    crc = zlib.crc32(content)
    steps: list[Step] = []
    for outer in range(100):
        names = [f"File {inner}.jpg" for inner in range(100)]
        blobs = [f"{outer * 100 + inner:05}" for inner in range(100)]
        files = ArchiveFiles(names, [4096] * 100, [crc] * 100, [MOMENT] * 100, blobs)
        steps += [Step(0, ArchiveFolder(f"Folder {outer}", MOMENT)), Step(1, files)]
    print("10,000 files of 4 KB")
    archive = planned(home, steps, opener(home))
    stream(archive)
    stream(archive)


def large_files(home: Path) -> None:
    block = os.urandom(1 << 20)
    blobs = [f"large{number}" for number in range(4)]
    for blob in blobs:
        with (home / blob).open("wb") as file:
            for _ in range(1024):
                file.write(block)
    names = [f"Film {number}.mkv" for number in range(4)]
    files = ArchiveFiles(names, [1 << 30] * 4, [0] * 4, [MOMENT] * 4, blobs)
    print("4 files of 1 GiB")
    archive = planned(home, [Step(0, files)], opener(home))
    stream(archive)
    stream(archive)


def many_entries(home: Path) -> None:
    print("1,000,000 empty files in folders of 1,000")
    archive = planned(home, steps_to_empty_files(), opener(home))
    stream(archive)
    print(f"  resident at most {resident_mib()} MiB")


def steps_to_empty_files() -> Iterator[Step]:
    names, zeros = [f"File {inner}.txt" for inner in range(1000)], [0] * 1000
    for outer in range(1000):
        yield Step(0, ArchiveFolder(f"Folder {outer}", MOMENT))
        yield Step(1, ArchiveFiles(names, zeros, zeros, [MOMENT] * 1000, ["none"] * 1000))


def opener(home: Path) -> Callable[[str], BinaryIO]:
    return lambda blob: (home / blob).open("rb", buffering=0)


def planned(home: Path, steps: Iterable[Step], open_blob: Callable[[str], BinaryIO]) -> Archive:
    with timed("plan"), (home / "plan").open("wb") as target:
        write_plan(steps, target, MOMENT)
    print(f"  the plan has {(home / 'plan').stat().st_size:,} bytes")
    with timed("open and first byte"):
        archive = Archive(home / "plan", open_blob)
        next(archive.read())
    with timed("a kilobyte from the middle"):
        next(archive.read(archive.size_bytes // 2, archive.size_bytes // 2 + 1024))
    return archive


def stream(archive: Archive) -> None:
    started = time.perf_counter()
    total = sum(map(len, archive.read()))
    seconds = time.perf_counter() - started
    print(f"  stream {total:,} bytes: {seconds:.3f} s, {total / seconds / 1e6:,.0f} MB/s")


@contextmanager
def timed(what: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    print(f"  {what}: {(time.perf_counter() - started) * 1000:.1f} ms")


def resident_mib() -> int:
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) // 1024


if __name__ == "__main__":
    main()
