"""Unpack one ZIP file of the library into the download folder of its transfer."""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from service.errors import DiskFull, NotFound, StoreAway
from service.fetching.events import FetchEvent
from service.fetching.job import FolderJob
from service.store.blobs import library_store
from service.store.folders import translate_disk_full
from service.torrents.events import Complete, FileOf, Metadata, TorrentBroken
from service.transfers.download_folders import DownloadFolder
from service.unpacking.members import BadZip, members_of, open_zip, without_top

log = logging.getLogger("ferry.unpack")

CHUNK_BYTES = 2**18


class Unpack(FolderJob):
    """A job that unpacks one ZIP file in a thread, like a fetch, in memory of a fixed size.

    Metadata sent ──> proceed ──> files written ──> Complete

    It begins again after a crash, since reading a ZIP file costs no one else anything.
    """

    def __init__(self, key: str, folder: Path, blob: str, name: str) -> None:
        """`folder` gets a file for each member; `name` is that of the new folder."""
        super().__init__(key, folder)
        self._blob = blob
        self._name = name

    def _run(self) -> FetchEvent:
        try:
            self._read_directory()
            self._may_go.wait()
            self._write_files()
        except NotFound as missing:
            raise BadZip("zip_gone") from missing
        except (DiskFull, StoreAway, OSError) as error:
            log.info("unpacking waits transfer=%s %r", self.key, error)
            word = DiskFull.reason if isinstance(error, DiskFull) else "disk_error"
            return TorrentBroken(self.key, word)
        return Complete(self.key)

    @contextmanager
    def _zip_file(self) -> Iterator[ZipFile]:
        with closing(library_store().open(self._blob)) as blob, open_zip(blob) as zip_file:
            yield zip_file

    def _read_directory(self) -> None:
        """Report the files, and keep none of them in memory: there may be no space for days."""
        with self._zip_file() as zip_file:
            files = tuple(
                FileOf(index, path, info.file_size, is_padding=False, is_symlink=False)
                for index, (path, info) in enumerate(without_top(members_of(zip_file), self._name))
            )
        self.wanted_bytes = sum(file.size_bytes for file in files)
        self._means.tell(
            Metadata(
                self.key,
                name="",
                hash_v1="",
                hash_v2="",
                is_private=False,
                is_folder=True,
                size_bytes=self.wanted_bytes,
                files=files,
            )
        )

    def _write_files(self) -> None:
        self._check()
        self.phase, self.is_receiving = "downloading", True
        folder = DownloadFolder(self.folder)
        with self._zip_file() as zip_file:
            for index, member in enumerate(members_of(zip_file)):
                self._write(zip_file, member.info, folder.file(index))
        self.is_receiving = False

    def _write(self, zip_file: ZipFile, info: ZipInfo, path: Path) -> None:
        # An import that failed may have left the file as a blob, whose bytes never change.
        path.unlink(missing_ok=True)
        end = self.done_bytes + info.file_size
        with zip_file.open(info) as source, translate_disk_full(), path.open("xb") as target:
            while chunk := source.read(CHUNK_BYTES):
                self._check()
                target.write(chunk)
                self.done_bytes += len(chunk)
        if self.done_bytes != end:
            raise BadZip("zip_damaged")

    def _check(self) -> None:
        """Stop if no one wants the files. Wait while another worker may be writing them."""
        self._waiter.check()
        self._await_worker()
