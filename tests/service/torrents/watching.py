"""Watch a folder with inotify for every name that appears, however briefly."""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IN_CREATE, IN_MOVED_TO, IN_Q_OVERFLOW = 0x100, 0x80, 0x4000
HEAD = struct.Struct("iIII")


class Watch:
    def __init__(self, folder: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        watched = libc.inotify_add_watch(self.fd, bytes(folder), IN_CREATE | IN_MOVED_TO)
        assert min(self.fd, watched) >= 0, os.strerror(ctypes.get_errno())

    def names(self) -> set[str]:
        found: set[str] = set()
        while events := self._read():
            at = 0
            while at < len(events):
                _watch, mask, _cookie, length = HEAD.unpack_from(events, at)
                assert not mask & IN_Q_OVERFLOW
                at += HEAD.size + length
                found.add(events[at - length : at].rstrip(b"\0").decode())
        return found

    def _read(self) -> bytes:
        try:
            return os.read(self.fd, 2**20)
        except BlockingIOError:
            return b""


@contextmanager
def watching(folder: Path) -> Iterator[Watch]:
    watch = Watch(folder)
    try:
        yield watch
    finally:
        os.close(watch.fd)
