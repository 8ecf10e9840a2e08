"""Torrent files, as far as the service must know one before the engine takes it (BEP 3, 47, 52)."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from service import bencode
from service.bencode import Value
from service.errors import NotATorrent

MOST_BYTES = 10 * 2**20
MOST_FILES = 100_000
LARGEST_FILE_BYTES = 2**48


class Part(NamedTuple):
    path: tuple[bytes, ...]
    size_bytes: int
    is_padding: bool


@dataclass(frozen=True)
class Torrent:
    info_hash_v1: str  # 40 hex digits; empty for one of version 2 only
    info_hash_v2: str  # 64 hex digits; empty for one of version 1 only
    name: str  # as it was sent
    size_bytes: int
    is_private: bool
    is_folder: bool  # else its one file stands alone
    file_count: int


def read(content: bytes) -> Torrent:
    """Raises NotATorrent."""
    if len(content) > MOST_BYTES:
        raise NotATorrent
    document = bencode.read(content)
    info = dictionary(document.root.get(b"info"))
    name = text(info.get(b"name.utf-8", info.get(b"name")))
    is_v1, is_v2 = b"pieces" in info, info.get(b"meta version") == 2
    parts = parts_of(info, name, is_v1=is_v1, is_v2=is_v2)
    raw = document.spans[b"info"]
    return Torrent(
        info_hash_v1=hashlib.sha1(raw, usedforsecurity=False).hexdigest() if is_v1 else "",
        info_hash_v2=hashlib.sha256(raw).hexdigest() if is_v2 else "",
        name=name.decode(errors="replace"),
        size_bytes=sum(part.size_bytes for part in parts),
        is_private=is_private(info.get(b"private")),
        is_folder=b"files" in info if is_v1 else [part.path for part in parts] != [(name,)],
        file_count=len(parts),
    )


def is_private(value: Value | None) -> bool:
    """As the engine has it, which keeps whatever is not 0 from strangers (BEP 27 knows 1 alone)."""
    return isinstance(value, int) and value != 0


def parts_of(info: dict[bytes, Value], name: bytes, *, is_v1: bool, is_v2: bool) -> list[Part]:
    """The files, without the padding between them."""
    if not is_v1 and not is_v2:
        raise NotATorrent
    of_v1 = files_of_v1(info, name) if is_v1 else []
    of_v2 = files_of_v2(info) if is_v2 else []
    if is_v1 and is_v2 and of_v1 != of_v2:
        raise NotATorrent
    return of_v1 or of_v2


def files_of_v1(info: dict[bytes, Value], name: bytes) -> list[Part]:
    if b"files" in info:
        parts = [listed_part(each) for each in sequence(info[b"files"])]
    else:
        parts = [Part((name,), size(info.get(b"length")), is_padding=False)]
    check_pieces(info, sum(part.size_bytes for part in parts))
    return kept(parts)


def listed_part(value: Value) -> Part:
    fields = dictionary(value)
    path = tuple(text(each) for each in sequence(fields.get(b"path.utf-8", fields.get(b"path"))))
    return Part(path, size(fields.get(b"length")), is_padding=is_padding(fields))


def check_pieces(info: dict[bytes, Value], total_bytes: int) -> None:
    """As many hashes as pieces: with fewer, what comes after them could be anything."""
    piece_bytes, hashes = size(info.get(b"piece length")), info[b"pieces"]
    if not isinstance(hashes, bytes) or not piece_bytes or not total_bytes:
        raise NotATorrent
    if len(hashes) != -(-total_bytes // piece_bytes) * 20:
        raise NotATorrent


def files_of_v2(info: dict[bytes, Value]) -> list[Part]:
    if not size(info.get(b"piece length")):
        raise NotATorrent
    return kept(list(leaves((), dictionary(info.get(b"file tree")))))


def leaves(path: tuple[bytes, ...], tree: dict[bytes, Value]) -> Iterator[Part]:
    """A file is a dictionary under the empty name; bencode's depth bounds that of the tree."""
    for name, below in tree.items():
        if name == b"":
            fields = dictionary(below)
            yield Part(path, size(fields.get(b"length")), is_padding=is_padding(fields))
        else:
            yield from leaves((*path, text(name)), dictionary(below))


def kept(parts: list[Part]) -> list[Part]:
    parts = [part for part in parts if not part.is_padding]
    if not parts or len(parts) > MOST_FILES or not all(part.path for part in parts):
        raise NotATorrent
    return parts


def is_padding(fields: dict[bytes, Value]) -> bool:
    attributes = fields.get(b"attr")
    return isinstance(attributes, bytes) and b"p" in attributes


def dictionary(value: Value | None) -> dict[bytes, Value]:
    if not isinstance(value, dict):
        raise NotATorrent
    return value


def sequence(value: Value | None) -> list[Value]:
    if not isinstance(value, list):
        raise NotATorrent
    return value


def text(value: Value | None) -> bytes:
    if not isinstance(value, bytes):
        raise NotATorrent
    return value


def size(value: Value | None) -> int:
    if not isinstance(value, int) or not 0 <= value <= LARGEST_FILE_BYTES:
        raise NotATorrent
    return value
