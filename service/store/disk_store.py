"""Blobs in a folder of this machine."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from io import FileIO
from pathlib import Path
from typing import ClassVar

from django.conf import settings

from common.storage.durable import sync, sync_file_system
from common.storage.hardlinks import try_link
from service.errors import DiskFull, NotFound
from service.store.blobs import BLOB, Orphan, Store, StoredBlob, Writer, check_id
from service.store.disk_notes import DiskNotes
from service.store.folders import (
    files_in,
    folders_in,
    free_bytes,
    make_folder,
    no_leftover,
    private,
    translate_disk_full,
)
from service.store.sums import LARGE_CHUNK_BYTES, Stored, Sums, pieces_of, sums_of

MOST_SYNCED_ALONE = 8


def library() -> "DiskStore":
    return DiskStore(Path(settings.DATA_DIR) / "library")


class DiskStore(DiskNotes, Store):
    """Blobs in a folder.

    A blob is written under `incoming/`, synced, and renamed to `blobs/ab/cd/<id>`, whose folder is
    synced too.
    """

    opens_ahead: ClassVar = 0
    may_hash_ahead: ClassVar = True

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        # As text: a ZIP of 10,000 small files would spend half its time in pathlib.
        self._blobs_text = f"{root}/blobs"
        self._blobs = root / "blobs"
        # Until the disk refuses a link.
        self._has_links = True
        self._orphans = root / "orphans"
        # Drafts until they are complete, on the file system of the blobs.
        self.incoming = root / "incoming"

    def _draft(self) -> Path:
        make_folder(self.incoming)
        return self.incoming / secrets.token_hex(16)

    def writer(self, blob: str = "") -> "DiskWriter":
        self.refuse_beyond(1)
        draft = self._draft()
        return DiskWriter(self, draft, check_id(blob or draft.name))

    def link_all(
        self,
        paths: Iterable[Path],
        report: Callable[[int], None] = lambda _size_bytes: None,
        begun: Mapping[Path, Sums] | None = None,
    ) -> list[Stored]:
        """Store files of the same file system by hard links, or copy them if it has none."""
        blobs: list[Stored] = []
        try:
            for path in paths:
                blobs.append(self._link(path, report, (begun or {}).get(path)))  # noqa: PERF401  Some are there if one fails.
            with translate_disk_full():
                self._make_durable(blobs)
        except BaseException:
            self.delete_all([each.blob for each in blobs])
            raise
        return blobs

    def _link(self, path: Path, report: Callable[[int], None], begun: Sums | None) -> Stored:
        if not self._has_links:
            return self._copy(path, report)
        with path.open("rb", buffering=0) as file, translate_disk_full(), syncing(file):
            sums = sums_of(file, report, begun)
        draft = self._draft()
        with no_leftover(draft), translate_disk_full():
            self._has_links = try_link(path, draft)
            if not self._has_links:
                return self._copy(path, report)
            draft.chmod(0o600)
            # For the sweep this blob is new, however old the file is.
            os.utime(draft)
            return self.place(draft, draft.name, sums)

    def _copy(self, path: Path, report: Callable[[int], None]) -> Stored:
        self.refuse_beyond(path.stat().st_size)
        with path.open("rb", buffering=0) as file, self.writer() as writer:
            for piece in pieces_of(file):
                writer.write(piece)
                report(len(piece))
            return writer.place()

    def _make_durable(self, blobs: list[Stored]) -> None:
        """Sync blobs and folders: a few one by one, many by syncing the whole file system.

        The four syncs of one file took 10 ms and more, and a torrent may have 100,000 files.
        """
        if len(blobs) > MOST_SYNCED_ALONE:
            sync_file_system(self._root)
            return
        for each in blobs:
            sync(self.path(each.blob))
            self._sync_folders(each.blob)
        self._sync_root()

    def _sync_folders(self, blob: str) -> None:
        """Sync from the leaf up: each may be new, and losing a folder loses all in it."""
        leaf = self.path(blob).parent
        for folder in (leaf, leaf.parent, self._blobs):
            sync(folder)

    def _sync_root(self) -> None:
        for folder in (self._root, self._root.parent):
            sync(folder)

    def open(self, blob: str) -> FileIO:
        try:
            return open(self._path_of(blob), "rb", buffering=0)
        except FileNotFoundError as missing:
            raise NotFound from missing

    def size(self, blob: str) -> int | None:
        try:
            return os.stat(self._path_of(blob)).st_size  # noqa: PTH116
        except FileNotFoundError:
            return None

    def path(self, blob: str) -> Path:
        """Return the path of a blob; the file may be missing."""
        return Path(self._path_of(blob))

    def on_disk(self, blob: str) -> Path:
        if self.size(blob) is None:
            raise NotFound
        return self.path(blob)

    def internal_path(self, blob: str) -> Path:
        return self.path(blob).relative_to(self._root.parent)

    def delete(self, blob: str) -> bool:
        try:
            self.path(blob).unlink()
        except FileNotFoundError:
            return False
        return True

    def free_bytes(self) -> int:
        make_folder(self._root)
        return free_bytes(self._root)

    def refuse_beyond(self, size_bytes: int) -> None:
        if size_bytes > self.free_bytes():
            raise DiskFull

    def place(self, draft: Path, blob: str, sums: Sums) -> Stored:
        """Move a draft to the blobs; the caller makes content and folders durable."""
        path = self.path(blob)
        with translate_disk_full():
            make_folder(path.parent)
            draft.rename(path)
        return sums.of_blob(blob)

    def keep(self, draft: Path, blob: str, sums: Sums) -> Stored:
        """Move a synced draft to the blobs, durably."""
        is_first = not self._blobs.is_dir()
        stored = self.place(draft, blob, sums)
        with translate_disk_full():
            self._sync_folders(blob)
            if is_first:
                self._sync_root()
        return stored

    def set_aside(self, blob: str, today: date) -> bool:
        folder = self._orphans / today.isoformat()
        make_folder(folder)
        try:
            self.path(blob).rename(folder / blob)
        except FileNotFoundError:
            return False
        return True

    def orphans(self) -> Iterator[Orphan]:
        for since, folder in self._days():
            for entry, facts in files_in(folder):
                written_at = datetime.fromtimestamp(facts.st_mtime, UTC)
                yield Orphan(entry.name, since, written_at, facts.st_size)

    def _days(self) -> list[tuple[date, Path]]:
        """Return the folders of orphans by day; folders with other names aren't ours."""
        days = []
        for folder in folders_in(self._orphans):
            with suppress(ValueError):
                days.append((date.fromisoformat(folder.name), folder))
        return sorted(days)

    def bring_back(self, orphan: Orphan) -> None:
        orphan_path = self._orphans / orphan.since.isoformat() / orphan.blob
        blob_path = self.path(orphan.blob)
        make_folder(blob_path.parent)
        os.utime(orphan_path)
        orphan_path.rename(blob_path)
        self._sync_folders(orphan.blob)

    def drop_orphans(self, until: date) -> int:
        count = 0
        for since, folder in self._days():
            if since <= until:
                count += sum(1 for _entry in files_in(folder))
                shutil.rmtree(folder, ignore_errors=True)
        return count

    def blobs(self) -> Iterator[StoredBlob]:
        for first in folders_in(self._blobs):
            for second in folders_in(first):
                for entry, facts in files_in(second):
                    if BLOB.fullmatch(entry.name):
                        written_at = datetime.fromtimestamp(facts.st_mtime, UTC)
                        yield StoredBlob(entry.name, written_at, facts.st_size)

    def drop_drafts(self, before: datetime) -> int:
        drafts = files_in(self.incoming)
        stale = [Path(entry) for entry, facts in drafts if facts.st_mtime < before.timestamp()]
        for draft in stale:
            draft.unlink(missing_ok=True)
        return len(stale)

    def _path_of(self, blob: str) -> str:
        check_id(blob)
        return f"{self._blobs_text}/{blob[:2]}/{blob[2:4]}/{blob}"


class DiskWriter(Writer):
    def __init__(self, store: DiskStore, draft: Path, blob: str) -> None:
        self._store = store
        self._draft = draft
        self._blob = blob
        self.sums = Sums()
        with translate_disk_full():
            self._file = open(draft, "xb", buffering=0, opener=private)  # noqa: SIM115

    def __exit__(self, *_error: object) -> None:
        self._file.close()
        self._draft.unlink(missing_ok=True)

    def write(self, chunk: bytes | memoryview) -> None:
        self._store.refuse_beyond(len(chunk))
        rest = memoryview(chunk)
        with translate_disk_full():
            while rest:
                rest = rest[self._file.write(rest) :]
        self.sums.add(chunk)

    def place(self) -> Stored:
        """Move the draft to the blobs, not yet durably."""
        return self._store.place(self._draft, self._blob, self.sums)

    def commit(self) -> Stored:
        with translate_disk_full():
            os.fsync(self._file.fileno())
        return self._store.keep(self._draft, self._blob, self.sums)


@contextmanager
def syncing(file: FileIO) -> Iterator[None]:
    """Sync a large file while the block reads it from memory; else one waits for the other."""
    if os.fstat(file.fileno()).st_size <= LARGE_CHUNK_BYTES:
        yield
        return
    with ThreadPoolExecutor(1) as other:
        fsync = other.submit(os.fsync, file.fileno())
        yield
        # The system reports a failed sync only once.
        fsync.result()
