"""Find the info hash of a torrent file, without reading the rest of it."""

import hashlib
from collections.abc import Iterator

DICT, LIST, INTEGER, END = b"dlie"


def find_info_hash(torrent: bytes) -> str:
    """Return 40 digits, as v1 says it: those of BitTorrent v2 are cut. Empty if unreadable."""
    try:
        start, end = items(torrent, 0)[b"info"]
        has_pieces = b"pieces" in items(torrent, start)
    except (LookupError, ValueError):
        return ""
    info = torrent[start:end]
    if has_pieces:
        return hashlib.sha1(info).hexdigest()  # noqa: S324  BitTorrent v1 names torrents by it.
    return hashlib.sha256(info).hexdigest()[:40]


def items(data: bytes, at: int) -> dict[bytes, tuple[int, int]]:
    """Return where the values of a dictionary begin and end, by their keys."""
    if data[at] != DICT:
        raise ValueError(at)
    return dict(_pairs(data, at + 1))


def _pairs(data: bytes, at: int) -> Iterator[tuple[bytes, tuple[int, int]]]:
    while data[at] != END:
        end_of_key = end_of(data, at)
        key = data[at:end_of_key].partition(b":")[2]
        at = end_of(data, end_of_key)
        yield key, (end_of_key, at)


def end_of(data: bytes, at: int) -> int:
    """Return where a value ends. Nothing calls itself: values may be nested deeply."""
    depth = 0
    while True:
        if data[at] in (DICT, LIST):
            depth, at = depth + 1, at + 1
        elif data[at] == END:
            depth, at = depth - 1, at + 1
        elif data[at] == INTEGER:
            at = data.index(b"e", at) + 1
        else:
            length, _colon, _text = data[at : at + 12].partition(b":")
            if not length.isdigit():
                raise ValueError(at)
            at += len(length) + 1 + int(length)
        if depth <= 0:
            return at
