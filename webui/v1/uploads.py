"""Stream a file to the service as multipart, never whole in memory."""

import secrets
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Protocol

from common.names import LONGEST_NAME, split_extension
from webui.v1.errors import Unavailable

PIECE_BYTES = 64 * 1024


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Upload:
    def __init__(
        self, name: str, stream: Readable, size_bytes: int | None, fields: Mapping[str, str]
    ) -> None:
        """Without `size_bytes`, the body has no length and ends with the stream, which our own
        service accepts."""
        self._stream = stream
        self.size_bytes = size_bytes
        self._name = name
        self._fields = fields
        self._boundary = secrets.token_hex(16)
        self._start = _position(stream)
        self._was_read = False

    def headers(self, field: str) -> dict[str, str]:
        headers = {"Content-Type": f"multipart/form-data; boundary={self._boundary}"}
        if self.size_bytes is not None:
            length = len(self._head(field)) + self.size_bytes + len(self._tail())
            headers["Content-Length"] = str(length)
        return headers

    def body(self, field: str) -> Iterator[bytes]:
        if self._was_read:
            if self._start is None:
                raise Unavailable("cannot_send_again", was_sent=False)
            self._stream.seek(self._start)  # type: ignore[attr-defined]
        yield self._head(field)
        self._was_read = True
        yield from self._content()
        yield self._tail()

    def _content(self) -> Iterator[bytes]:
        if self.size_bytes is None:
            yield from iter(partial(self._stream.read, PIECE_BYTES), b"")
            return
        remaining = self.size_bytes
        while remaining:
            piece = self._stream.read(min(remaining, PIECE_BYTES))
            if not piece:
                raise EOFError("the file is shorter than was said")
            remaining -= len(piece)
            yield piece

    def _head(self, field: str) -> bytes:
        parts = [
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
            for key, value in self._fields.items()
        ]
        parts.append(
            f"--{self._boundary}\r\nContent-Disposition: form-data; "
            f'name="{field}"; filename="{header_name(self._name)}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        return "".join(parts).encode()

    def _tail(self) -> bytes:
        return f"\r\n--{self._boundary}--\r\n".encode()


def header_name(name: str) -> str:
    """Spell a name as browsers do in multipart, so that it can't end the line or the quotes."""
    name = "".join(char for char in name if char >= " " and char != "\x7f")
    return shorten(name).encode("utf-8", "replace").decode().replace('"', "%22") or "file"


def shorten(name: str) -> str:
    """Cut a name before its extension, which shows what kind of file it is."""
    stem, extension = split_extension(name)
    return stem[: LONGEST_NAME - len(extension)] + extension


def _position(stream: Readable) -> int | None:
    try:
        return int(stream.tell())  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):
        return None
