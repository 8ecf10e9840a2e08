"""The folder on the disk that a transfer's files are downloaded to before their import."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
from django.conf import settings

from common.storage.hardlinks import try_link
from service.models import Transfer
from service.store.folders import make_folder, translate_disk_full

BORROWED = "borrowed"


class DownloadPlan(NamedTuple):
    """The name of each file in a download folder, according to the source."""

    is_folder: bool
    files: tuple[tuple[int, tuple[str, ...], int], ...]  # index, path, size in bytes


@dataclass(frozen=True)
class DownloadFolder:
    """A download folder. Its files are named by their index, never by a name from outside."""

    path: Path

    @property
    def torrent(self) -> Path:
        return self.path / "metadata.torrent"

    def file(self, index: int) -> Path:
        return self.path / str(index)

    def make(self, transfer: Transfer) -> bool:
        """Create the folder, and return whether it is new. Raises DiskFull.

        Files of another transfer in it are removed: a restored database assigns the same ids again.
        """
        owner = f"{transfer.account_id} {transfer.created_at.isoformat()}"
        is_new = self._read("owner") != owner
        if is_new:
            self.remove()
        with translate_disk_full():
            make_folder(self.path)
            self._write("owner", owner.encode())
        return is_new

    def keep_torrent(self, content: bytes) -> None:
        """Save the torrent file. Raises DiskFull."""
        with translate_disk_full():
            self._write(self.torrent.name, content)

    def keep_plan(self, plan: DownloadPlan) -> None:
        """Save the plan, if it has changed. Raises DiskFull."""
        if plan != self.plan():
            with translate_disk_full():
                self._write("plan", json.dumps(plan).encode())

    def plan(self) -> DownloadPlan | None:
        try:
            return msgspec.json.decode(self._read("plan"), type=DownloadPlan)
        except msgspec.DecodeError:
            return None

    def borrow(self, other: "DownloadFolder") -> None:
        """Replace the files with another folder's. Raises DiskFull.

        This costs nothing if the disk has hard links.
        """
        with translate_disk_full():
            self._write(BORROWED, b"")
            for source in other.path.iterdir():
                if source.name.isdecimal():
                    self._link(source)
            for name in ("plan", self.torrent.name):
                if (other.path / name).exists():
                    self._write(name, (other.path / name).read_bytes())

    def _link(self, source: Path) -> None:
        draft = self.path / f"{source.name}.new"
        draft.unlink(missing_ok=True)
        if not try_link(source, draft):
            shutil.copyfile(source, draft)
        draft.replace(self.path / source.name)
        # If both names are the same file already, `replace` does nothing.
        draft.unlink(missing_ok=True)

    def give_back(self) -> None:
        """Remove borrowed files, which others may have in their libraries: never write to those."""
        if (self.path / BORROWED).exists():
            self.clear()

    def clear(self) -> None:
        """Remove all but the `owner` file, as when a fetched URL turns out to be a torrent."""
        for entry in self.path.iterdir():
            if entry.name != "owner":
                entry.unlink()

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def _read(self, name: str) -> str:
        try:
            return (self.path / name).read_text()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def _write(self, name: str, content: bytes) -> None:
        """Write a file atomically. Don't sync it: after a power cut, it is written again."""
        draft = self.path / f"{name}.new"
        draft.write_bytes(content)
        draft.replace(self.path / name)


def transfers_folder() -> Path:
    return Path(settings.DATA_DIR) / "transfers"


def download_folder(transfer_id: int) -> DownloadFolder:
    return DownloadFolder(transfers_folder() / str(transfer_id))


def ids_on_disk() -> Iterator[int]:
    if transfers_folder().is_dir():
        names = (entry.name for entry in transfers_folder().iterdir())
        yield from (int(name) for name in names if name.isdecimal())
