"""The bytes of a fetch on the disk."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from errno import EDQUOT, ENOSPC
from pathlib import Path
from types import TracebackType
from typing import Self

from service.engine import fetch_resume
from service.engine.fetch_errors import Failure
from service.engine.fetch_resume import CONTENT, Resume


class Content:
    """Written from where `resume` says. What is told in `resume.json` is never more than what the
    disk has for sure, and of the same content: it is written before the first byte of another."""

    def __init__(self, folder: Path, resume: Resume) -> None:
        self._folder = folder
        self._resume = resume
        self.size_bytes = resume.safe_bytes
        with disk_told():
            fetch_resume.write(folder, resume)
            self._file = opened(folder / CONTENT, resume.safe_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        with disk_told():
            while rest:
                rest = rest[os.write(self._file, rest) :]
        self.size_bytes += len(chunk)

    def make_safe(self, *, is_complete: bool = False) -> None:
        with disk_told():
            os.fdatasync(self._file)
            self._resume = replace(
                self._resume, safe_bytes=self.size_bytes, is_complete=is_complete
            )
            fetch_resume.write(self._folder, self._resume)


def opened(place: Path, size_bytes: int) -> int:
    """With nothing after so many bytes. What begins anew is a new file: the old one may have
    another name in the library by now."""
    if not size_bytes:
        place.unlink(missing_ok=True)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.ftruncate(descriptor, size_bytes)
        os.lseek(descriptor, size_bytes, os.SEEK_SET)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def disk_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (ENOSPC, EDQUOT):
            raise Failure("The disk is full.", "disk_full") from error
        raise Failure("The disk can't be written to.", "disk_error") from error
