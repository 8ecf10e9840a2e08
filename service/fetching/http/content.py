"""The bytes of a fetch on disk."""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from errno import EDQUOT, ENOSPC
from functools import partial
from pathlib import Path

from service.details import Details
from service.fetching import resume_point
from service.fetching.errors import PermanentFailure
from service.fetching.resume_point import CONTENT, Checkpoints, ResumePoint

# How much may wait in memory before the disk starts to write it, while more arrives.
AHEAD_BYTES = 64 * 2**20


class PartialFile:
    """The file of a fetch, written from the position in `resume`.

    `resume.json` never claims more than is safely on disk, and always describes that content: it
    is rewritten before the first byte of other content.

    The disk writes while bytes arrive, so that hardly anything is left to write at the end, and
    what is safe is saved for other machines meanwhile.
    """

    def __init__(
        self, key: str, folder: Path, resume: ResumePoint, checkpoints: Checkpoints | None
    ) -> None:
        self._key = key
        self._folder = folder
        self._resume = resume
        self.size_bytes = resume.safe_bytes
        with translate_disk_errors():
            resume_point.write(folder, resume)
            self._file = open_at(folder / CONTENT, resume.safe_bytes)
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="syncing")
        self._syncing: Future[None] | None = None
        self._syncs_at_bytes = self.size_bytes + AHEAD_BYTES
        self._checkpoints = checkpoints
        self._saver = ThreadPoolExecutor(1, thread_name_prefix="saving")
        self._saving: Future[None] | None = None
        self._may_save = True

    def close(self) -> None:
        self._may_save = False
        self._saver.shutdown()
        self._aside.shutdown()
        os.close(self._file)

    def write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        with translate_disk_errors():
            while rest:
                rest = rest[os.write(self._file, rest) :]
        self.size_bytes += len(chunk)
        is_syncing = self._syncing is not None and not self._syncing.done()
        if self.size_bytes >= self._syncs_at_bytes and not is_syncing:
            with translate_disk_errors():
                self._sync()

    def _sync(self) -> Future[None]:
        """Start a sync, after raising any error of the last one: the disk reports it only once."""
        if self._syncing is not None:
            self._syncing.result()
        self._syncs_at_bytes = self.size_bytes + AHEAD_BYTES
        self._syncing = self._aside.submit(os.fdatasync, self._file)
        return self._syncing

    def make_safe(self, *, is_complete: bool = False) -> None:
        with translate_disk_errors():
            self._sync().result()
            self._resume = replace(
                self._resume, safe_bytes=self.size_bytes, is_complete=is_complete
            )
            resume_point.write(self._folder, self._resume)
        if self._saving is None or self._saving.done():
            self._start_to_save()

    def save_rest(self) -> None:
        """Save all bytes that are safely on disk, and wait until that is done."""
        self._start_to_save(with_rest=True)
        self._saver.shutdown()

    def _start_to_save(self, *, with_rest: bool = False) -> None:
        if self._checkpoints is not None and self._resume.is_of_use:
            save = partial(self._checkpoints.save, self._key, self._folder, self._resume)
            self._saving = self._saver.submit(save, lambda: self._may_save, with_rest=with_rest)


def open_at(path: Path, size_bytes: int) -> int:
    """Open a file for writing after its first `size_bytes`, without any bytes after them.

    If it starts over, it is a new file: the old one may have another name in the library by now.
    """
    if not size_bytes:
        path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.ftruncate(descriptor, size_bytes)
        os.lseek(descriptor, size_bytes, os.SEEK_SET)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (ENOSPC, EDQUOT):
            raise PermanentFailure(Details("disk_full"), "disk_full") from error
        details = Details("disk_message", message=os.strerror(error.errno or 0))
        raise PermanentFailure(details, "disk_error") from error
