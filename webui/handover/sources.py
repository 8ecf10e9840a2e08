"""What belongs to a transfer that is done, as the service lists it, and its bytes."""

import fcntl
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from common.names import safe_name
from webui.connection.connection import Service
from webui.contents.content_check import UNLISTED, Expected, check, expected_file
from webui.contents.remote_file import is_asked_range
from webui.handover import places
from webui.library import folders
from webui.library.entries import ROOT
from webui.models import Sent
from webui.v1.errors import NotFound, Unreadable
from webui.v1.links import Download

MOST_FILES = 100_000
MOST_LEVELS = 50
PIECE_BYTES = 2**20
# <linux/fs.h>: share the blocks of another file until one of both changes.
FICLONE = 0x40049409


class WorkerStops(Exception):  # noqa: N818  Errors are nouns here.
    """The worker stops; the next one continues."""


@dataclass(frozen=True)
class SourceFile:
    """A file of a transfer. `path` is where its copy goes within the whole, with safe names."""

    id: str
    path: Path
    expected: Expected

    @property
    def size_bytes(self) -> int:
        return self.expected.size_bytes or 0


def find_sources(service: Service, row: Sent, now: datetime) -> tuple[str, list[SourceFile]]:
    """Return the name of what a transfer became, and its files. Raises Failure."""
    if row.created_folder_id:
        snapshot = folders.read(service, row.created_folder_id, now=now, at_once=True).snapshot
        return snapshot.name or row.title, list(walk(service, snapshot.folder, now))
    if not row.created_file_id:
        raise NotFound("not_found")
    entry = folders.find_file(service, row.folder_id or ROOT, row.created_file_id)
    name = entry.name if entry else row.title
    expected = expected_file(entry) if entry else UNLISTED
    return name, [SourceFile(row.created_file_id, Path(), expected)]


def walk(service: Service, folder: str, now: datetime) -> Iterator[SourceFile]:
    """Yield the files in a folder and below it. A service may list a folder within itself."""
    left, seen, count = [(folder, Path())], {folder}, 0
    while left:
        folder, path = left.pop()
        contents = folders.read(service, folder, now=now, at_once=True).snapshot.contents
        taken: set[str] = set()
        for entry in contents.entries:
            name = places.free_name(safe_name(entry.name), taken.__contains__)
            taken.add(name)
            below = path / name
            if not entry.is_folder:
                count += 1
                yield SourceFile(entry.id, below, expected_file(entry))
            elif entry.id not in seen:
                seen.add(entry.id)
                left.append((entry.id, below))
        if count > MOST_FILES or len(path.parts) > MOST_LEVELS:
            raise Unreadable("too_many")
    if not count:
        raise NotFound("not_found")


# Bytes


def fetch(
    service: Service, source: SourceFile, target: Path, refuse_without_room: Callable[[], None]
) -> Iterator[int]:
    """Bring a file, from where an earlier try ended, and yield how many bytes came with each step.
    Raises Failure."""
    start = min(target.stat().st_size, source.size_bytes) if target.exists() else 0
    if start and start == source.size_bytes:
        return
    headers = {"Range": f"bytes={start}-"} if start else {}
    v1 = service.v1
    with v1.open(v1.file_link(source.id, headers), headers) as download:
        check(v1, download, source.expected)
        if download.status not in (200, 206):
            raise Unreadable("bad_range", status=download.status)
        if not start or not is_asked_range(download, start):
            start = 0
        with target.open("r+b" if start else "wb") as file:
            if clone(download, file.fileno(), source.size_bytes):
                return
            refuse_without_room()
            file.truncate(start)
            file.seek(start)
            for piece in download:
                file.write(piece)
                yield len(piece)
            end = file.tell()
    if source.expected.size_bytes not in (None, end):
        raise Unreadable("cut_off")


def clone(download: Download, target: int, size_bytes: int) -> bool:
    """Share the blocks of a file of this machine, if its file system can do that."""
    file: Any = download.file
    if file is None or download.status != 200 or not size_bytes:
        return False
    try:
        if os.fstat(file.fileno()).st_size != size_bytes:
            return False
        fcntl.ioctl(target, FICLONE, file.fileno())
    except OSError:
        return False
    return True
