"""The lists that programs ask for: torrents by filter, and the files of one."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from webui.connection.connection import Service
from webui.programs import qbittorrent as records
from webui.programs.calls import ProgramCall
from webui.programs.torrents import Torrent
from webui.v1.errors import NotFound

MOST_FILES = 10_000
Row = dict[str, Any]


def matching(call: ProgramCall, by_hash: Mapping[str, Torrent]) -> list[Row]:
    """Return the rows that a program asks for, filtered, sorted, and cut as qBittorrent does."""
    hashes, fields = frozenset(call.text("hashes").lower().split("|")), call.fields
    chosen = [
        each
        for each in by_hash.values()
        if (not call.text("hashes") or each.hash in hashes)
        and ("category" not in fields or each.category == fields["category"])
        and ("tag" not in fields or has_tag(each, fields["tag"]))
    ]
    name = call.text("filter")
    rows = [row for row in records.rows_of(chosen) if records.is_shown(row, name)]
    sort = call.text("sort")
    if rows and sort in rows[0]:
        rows.sort(key=lambda row: row[sort])
    if call.flag("reverse"):
        rows.reverse()
    offset, limit = call.number("offset"), call.number("limit")
    rows = rows[offset:]
    return rows[:limit] if limit > 0 else rows


def has_tag(torrent: Torrent, tag: str) -> bool:
    return tag in torrent.tags if tag else not torrent.tags


# Files


def files_of(service: Service, torrent: Torrent) -> list[Row]:
    """Return the files. A foreign service tells nothing of them before they are handed over."""
    transfer, path = torrent.transfer, Path(torrent.path)
    if torrent.is_complete and torrent.marks.handed_path and path.exists():
        copies = list(walk(path))
        return [file_row(*each, number) for number, each in enumerate(copies[:MOST_FILES])]
    files = []
    if service.is_embedded and transfer.id:
        with suppress(NotFound):
            files = list(service.v1.transfer_files(transfer.id))
    is_single = len(files) == 1 and files[0].path == transfer.name
    folder = "" if is_single else f"{transfer.name}/"
    return [
        file_row(
            *(f"{folder}{each.path}", each.size_bytes, each.index),
            progress=min(each.progress_percent / 100, torrent.progress),
            priority=int(each.is_wanted),
        )
        for each in files
    ]


def walk(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the files of a copy with their names, as torrents spell them, and their sizes."""
    if not path.is_dir():
        yield path.name, path.stat().st_size
        return
    for folder, _folders, names in os.walk(path):
        for name in sorted(names):
            file = Path(folder, name)
            with suppress(OSError):
                yield str(file.relative_to(path.parent)), file.lstat().st_size


def file_row(
    name: str, size_bytes: int, index: int, *, progress: float = 1, priority: int = 1
) -> Row:
    return {
        "availability": progress,
        "index": index,
        "is_seed": progress == 1,
        "name": name,
        "piece_range": [0, 0],
        "priority": priority,
        "progress": progress,
        "size": size_bytes,
    }
