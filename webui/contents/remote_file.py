"""Fetch pieces of a file from the service, within limits on bytes and time."""

import io
import time

from webui.contents.content_check import Expected, check
from webui.v1.client import Client
from webui.v1.errors import Unavailable, Unreadable
from webui.v1.links import Download

PIECE_BYTES = 256 * 1024
MOST_SECONDS = 15
# A service without range support also sends everything before the piece.
MOST_SKIPPED_BYTES = 16 * 2**20


class TooFar(Exception):  # noqa: N818  Errors are nouns here.
    """Reading on would fetch more of the file than the limit allows."""


class RemoteFile(io.RawIOBase):
    """A file at the service. It fetches only the pieces that are read, up to a limit."""

    def __init__(self, v1: Client, file: str, expected: Expected, most_pieces: int) -> None:
        self._v1, self._file, self._expected = v1, file, expected
        self._size_bytes = expected.size_bytes or 0
        self._most_pieces = most_pieces
        self._pieces: dict[int, bytes] = {}
        self._at = 0
        self._deadline = time.monotonic() + MOST_SECONDS

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size_bytes}[whence]
        if base + offset < 0:
            raise OSError("a seek before the beginning")
        self._at = base + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._size_bytes if size < 0 else min(self._at + size, self._size_bytes)
        if end - self._at > self._most_pieces * PIECE_BYTES:
            raise TooFar
        data = bytearray()
        while self._at < end:
            number, skipped = divmod(self._at, PIECE_BYTES)
            data += self._piece(number)[skipped : skipped + end - self._at]
            self._at = min((number + 1) * PIECE_BYTES, end)
        return bytes(data)

    def _piece(self, number: int) -> bytes:
        if number in self._pieces:
            return self._pieces[number]
        if len(self._pieces) >= self._most_pieces:
            raise TooFar
        if time.monotonic() > self._deadline:
            raise Unavailable("too_slow")
        start = number * PIECE_BYTES
        piece = fetch_piece(self._v1, self._file, self._expected, start)
        if len(piece) < min(PIECE_BYTES, self._size_bytes - start):
            raise Unreadable("bad_range")
        self._pieces[number] = piece
        return piece


def fetch_piece(v1: Client, file: str, expected: Expected, start: int) -> bytes:
    headers = {"Range": f"bytes={start}-{start + PIECE_BYTES - 1}"}
    with v1.open(v1.file_link(file, headers), headers) as answer:
        return read_piece(v1, answer, expected, start)


def read_piece(v1: Client, download: Download, expected: Expected, start: int) -> bytes:
    if download.status == 416:
        return b""
    skipped = 0 if is_asked_range(download, start) else start
    if download.status not in (200, 206) or skipped > MOST_SKIPPED_BYTES:
        raise Unreadable("bad_range", status=download.status)
    check(v1, download, expected)
    stop, data, deadline = skipped + PIECE_BYTES, bytearray(), time.monotonic() + MOST_SECONDS
    for chunk in download:
        data += chunk[: stop - len(data)]
        if len(data) >= stop:
            break
        if time.monotonic() > deadline:
            raise Unavailable("too_slow")
    return bytes(data[skipped:])


def is_asked_range(download: Download, start: int) -> bool:
    if download.status != 206:
        return False
    if not download.headers.get("Content-Range", f"bytes {start}-").startswith(f"bytes {start}-"):
        raise Unreadable("bad_range", status=206)
    return True
