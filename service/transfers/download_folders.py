"""The folder on disk where a transfer's files grow before their import."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

from django.conf import settings

from service.models import Transfer
from service.store.blobs import disk_full_told, make_folder
from service.store.hardlinks import try_link

BORROWED = "borrowed"


@dataclass(frozen=True)
class DownloadPlan:
    """Which file of a place gets which name, as its source says it."""

    is_folder: bool
    files: tuple[tuple[int, tuple[str, ...], int], ...]  # index, path, size in bytes


@dataclass(frozen=True)
class DownloadFolder:
    """No name that somebody sent is ever used here; files are called by their index."""

    folder: Path

    @property
    def torrent(self) -> Path:
        return self.folder / "metadata.torrent"

    def file(self, index: int) -> Path:
        return self.folder / str(index)

    def make(self, transfer: Transfer) -> None:
        """What another transfer left here goes: a restored database counts ids anew.

        Raises DiskFull.
        """
        owner = f"{transfer.account_id} {transfer.created_at.isoformat()}"
        if self._read("owner") != owner:
            self.remove()
        with disk_full_told():
            make_folder(self.folder)
            self._write("owner", owner.encode())

    def keep_torrent(self, content: bytes) -> None:
        """Raises DiskFull."""
        with disk_full_told():
            self._write(self.torrent.name, content)

    def keep_plan(self, plan: DownloadPlan) -> None:
        """Raises DiskFull."""
        if plan != self.plan():
            with disk_full_told():
                self._write("plan", json.dumps(astuple(plan)).encode())

    def plan(self) -> DownloadPlan | None:
        try:
            is_folder, files = json.loads(self._read("plan"))
        except ValueError:
            return None
        return DownloadPlan(
            is_folder, tuple((index, tuple(path), size) for index, path, size in files)
        )

    def borrow(self, other: "DownloadFolder") -> None:
        """Has the very same files, at no cost where the disk has hard links, and none of its own.
        Raises DiskFull."""
        with disk_full_told():
            self._write(BORROWED, b"")
            for source in other.folder.iterdir():
                if source.name.isdecimal():
                    self._link(source)
            for name in ("plan", self.torrent.name):
                if (other.folder / name).exists():
                    self._write(name, (other.folder / name).read_bytes())

    def _link(self, source: Path) -> None:
        draft = self.folder / f"{source.name}.new"
        draft.unlink(missing_ok=True)
        if not try_link(source, draft):
            shutil.copyfile(source, draft)
        draft.replace(self.folder / source.name)
        # Where both were the same file already, replacing does nothing.
        draft.unlink(missing_ok=True)

    def give_back(self) -> None:
        """What is borrowed may be in the library of others: it must never be written to."""
        if (self.folder / BORROWED).exists():
            self.clear()

    def clear(self) -> None:
        """Of what a fetch left, when it turns out to be of another kind."""
        for entry in self.folder.iterdir():
            if entry.name != "owner":
                entry.unlink()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def _write(self, name: str, content: bytes) -> None:
        """Whole or not at all. Not synced: after a power cut, what is missing is made again."""
        draft = self.folder / f"{name}.new"
        draft.write_bytes(content)
        draft.replace(self.folder / name)


def all_places() -> Path:
    return Path(settings.DATA_DIR) / "transfers"


def download_folder(transfer_id: int) -> DownloadFolder:
    return DownloadFolder(all_places() / str(transfer_id))


def ids_on_disk() -> Iterator[int]:
    if all_places().is_dir():
        names = (entry.name for entry in all_places().iterdir())
        yield from (int(name) for name in names if name.isdecimal())
