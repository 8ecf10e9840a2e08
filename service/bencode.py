"""Bencode, read within bounds: it comes from strangers."""

import re
from dataclasses import dataclass

from service.errors import NotATorrent

# A torrent of 100,000 files has 600,000 values. A million empty dictionaries take 64 MB.
MOST_VALUES = 1_000_000
DEEPEST = 300
INTEGER = re.compile(rb"i(-?[1-9][0-9]{0,18}|0)e")
LENGTH = re.compile(rb"([0-9]{1,10}):")

Value = int | bytes | list["Value"] | dict[bytes, "Value"]


@dataclass(frozen=True)
class Document:
    root: dict[bytes, Value]
    spans: dict[bytes, bytes]  # the very bytes of each value of the root: hashes are made of them


def read(content: bytes) -> Document:
    """Raises NotATorrent; what follows the root's end is ignored, as the engine does."""
    reader = _Reader(content)
    if not reader.takes(b"d"):
        raise NotATorrent
    root: dict[bytes, Value] = {}
    spans: dict[bytes, bytes] = {}
    while not reader.takes(b"e"):
        key = reader.new_key(root)
        start = reader.at
        root[key] = reader.value(1)
        spans[key] = content[start : reader.at]
    return Document(root, spans)


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.at = 0
        self._content = content
        self._count = 0

    def takes(self, letter: bytes) -> bool:
        """Also says that something is left: a cut-off file is none."""
        if self.at >= len(self._content):
            raise NotATorrent
        if self._content[self.at : self.at + 1] != letter:
            return False
        self.at += 1
        return True

    def value(self, depth: int) -> Value:
        self._count += 1
        if depth > DEEPEST or self._count > MOST_VALUES:
            raise NotATorrent
        if match := INTEGER.match(self._content, self.at):
            self.at = match.end()
            return int(match[1])
        if self.takes(b"l"):
            return self._list(depth)
        if self.takes(b"d"):
            return self._dictionary(depth)
        return self._bytes()

    def new_key(self, known: dict[bytes, Value]) -> bytes:
        """Of two values under one key, one program reads the first and another the last."""
        key = self._bytes()
        if key in known:
            raise NotATorrent
        return key

    def _list(self, depth: int) -> list[Value]:
        values: list[Value] = []
        while not self.takes(b"e"):
            values.append(self.value(depth + 1))
        return values

    def _dictionary(self, depth: int) -> dict[bytes, Value]:
        values: dict[bytes, Value] = {}
        while not self.takes(b"e"):
            key = self.new_key(values)
            values[key] = self.value(depth + 1)
        return values

    def _bytes(self) -> bytes:
        match = LENGTH.match(self._content, self.at)
        if match is None:
            raise NotATorrent
        self.at = match.end() + int(match[1])
        if self.at > len(self._content):
            raise NotATorrent
        return self._content[match.end() : self.at]
