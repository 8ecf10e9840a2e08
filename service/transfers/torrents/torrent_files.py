"""Read what the service needs from a torrent file before the engine does (BEP 3, 47, 52)."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from service.errors import NotATorrent
from service.transfers.torrents.bencode import DICTIONARY, LIST, MOST_VALUES, BencodeReader
from service.transfers.torrents.facts import TorrentFacts

MOST_BYTES = 10 * 2**20
MOST_FILES = 100_000
# A tree names each folder once, but paths repeat the name: 7 MB of tree can mean 160 MB of paths.
MOST_PATH_BYTES = 32 * 2**20
LONGEST_PATH = 64 * 1024
LARGEST_FILE_BYTES = 2**48

# Reading a large file takes most of a second of CPU time, for which threads would only compete.
reading = Lock()

Facts = dict[bytes, Any]
Readers = Mapping[bytes, Callable[[BencodeReader], object]]


@dataclass
class FileTotals:
    """The totals of a list or tree of files: `count` and `size_bytes` leave out padding."""

    count: int = 0
    size_bytes: int = 0
    padded_count: int = 0
    padded_bytes: int = 0
    path_bytes: int = 0
    first_path: bytes = b""
    # Of all sizes and paths in order: the list and the tree of a hybrid must have the same.
    digest: Any = field(default_factory=hashlib.blake2b)

    def add(self, path: bytes, facts: Facts) -> None:
        """Add a file by its path in bencode, which differs for different paths."""
        size_bytes = size(facts.get(b"length"))
        self.padded_count += 1
        self.padded_bytes += size_bytes
        if self.padded_count > 2 * MOST_FILES:
            raise NotATorrent
        if b"p" in facts.get(b"attr", b""):
            return
        self.count += 1
        self.size_bytes += size_bytes
        if not path or self.count > MOST_FILES:
            raise NotATorrent
        self.first_path = self.first_path or path
        self.digest.update(b"%d %b" % (size_bytes, path))

    def measure(self, path: bytes) -> None:
        self.path_bytes += len(path)
        if len(path) > LONGEST_PATH or self.path_bytes > MOST_PATH_BYTES:
            raise NotATorrent

    def is_same(self, other: "FileTotals") -> bool:
        return bool(self.digest.digest() == other.digest.digest())


@dataclass
class Budget:
    """How many values may be read for one request, however many torrents it has."""

    values: int = MOST_VALUES


def read(content: bytes, budget: Budget | None = None) -> TorrentFacts:
    """Read a torrent file; ignore what follows its root, as the engine does. Raises NotATorrent."""
    if len(content) > MOST_BYTES:
        raise NotATorrent
    budget = budget or Budget()
    reader = BencodeReader(content, budget.values)
    with reading:
        try:
            root = facts_of(reader, {b"info": spanned_info})
        finally:
            budget.values = reader.values_left
        if b"info" not in root:
            raise NotATorrent
        info, start, end = root[b"info"]
        return torrent_of(info, memoryview(content)[start:end])


def torrent_of(info: Facts, raw: memoryview) -> TorrentFacts:
    name = info.get(b"name.utf-8", info.get(b"name"))
    if name is None:
        raise NotATorrent
    is_v1, is_v2 = b"pieces" in info, info.get(b"meta version") == 2
    files = files_of(info, name, is_v1=is_v1, is_v2=is_v2)
    is_lone = files.count == 1 and files.first_path == encode(name)
    return TorrentFacts(
        info_hash_v1=hashlib.sha1(raw, usedforsecurity=False).hexdigest() if is_v1 else "",
        info_hash_v2=hashlib.sha256(raw).hexdigest() if is_v2 else "",
        name=name.decode(errors="replace"),
        size_bytes=files.size_bytes,
        # Any value but 0, as in the engine (BEP 27: only 1).
        is_private=info.get(b"private") not in (None, 0),
        is_folder=b"files" in info if is_v1 else not is_lone,
    )


def files_of(info: Facts, name: bytes, *, is_v1: bool, is_v2: bool) -> FileTotals:
    totals = []
    if is_v1:
        totals.append(info.get(b"files") or lone_file(info, name))
        check_pieces(info, totals[0].padded_bytes)
    if is_v2:
        totals.append(info.get(b"file tree", FileTotals()))
    if not totals or not size(info.get(b"piece length")) or not all(each.count for each in totals):
        raise NotATorrent
    if not totals[0].is_same(totals[-1]):
        raise NotATorrent
    return totals[0]


def check_pieces(info: Facts, total_bytes: int) -> None:
    """Require as many hashes as pieces: pieces without a hash could be anything."""
    piece_bytes = size(info.get(b"piece length"))
    if not piece_bytes or not total_bytes:
        raise NotATorrent
    if info[b"pieces"] != -(-total_bytes // piece_bytes) * 20:
        raise NotATorrent


def lone_file(info: Facts, name: bytes) -> FileTotals:
    files = FileTotals()
    files.add(encode(name), {b"length": info.get(b"length")})
    return files


# Reading


def facts_of(reader: BencodeReader, readers: Readers) -> Facts:
    """Return the needed values of a dictionary.

    Such a key may occur only once: of two values, one program reads the first, another the last.
    """
    facts: Facts = {}
    reader.enter(DICTIONARY)
    while (key := reader.next_key()) is not None:
        read_value = readers.get(key)
        if read_value is None:
            reader.skip()
        elif key in facts:
            raise NotATorrent
        else:
            facts[key] = read_value(reader)
    return facts


def spanned_info(reader: BencodeReader) -> tuple[Facts, int, int]:
    """Return the info dictionary, and where its bytes begin and end: these bytes are hashed."""
    start = reader.at
    return facts_of(reader, IN_INFO), start, reader.at


def listed_files(reader: BencodeReader) -> FileTotals:
    files = FileTotals()
    reader.enter(LIST)
    while not reader.leaves():
        facts = facts_of(reader, OF_A_FILE)
        path = facts.get(b"path.utf-8", facts.get(b"path"))
        if path is None:
            raise NotATorrent
        files.measure(path)
        files.add(path, facts)
    return files


def tree_files(reader: BencodeReader) -> FileTotals:
    """Add up the files of a tree, in which no folder is empty.

    A file is a dictionary under the empty name. Names must be sorted, and therefore differ; the
    engine accepts no others.
    """
    files = FileTotals()
    reader.enter(DICTIONARY)
    # For each open dictionary: its path, and the previous name in it.
    paths, names = [b""], [b""]
    while paths:
        name = reader.next_key()
        if name is None and names[-1]:
            paths.pop()
            names.pop()
        elif name == b"" and not names[-1]:
            files.add(paths[-1], facts_of(reader, OF_A_FILE))
            if not reader.leaves():
                raise NotATorrent
            paths.pop()
            names.pop()
        elif name and name > names[-1]:
            names[-1] = name
            path = paths[-1] + encode(name)
            files.measure(path)
            reader.enter(DICTIONARY)
            paths.append(path)
            names.append(b"")
        else:
            raise NotATorrent
    return files


IN_INFO: Readers = {
    b"name": BencodeReader.text,
    b"name.utf-8": BencodeReader.text,
    b"piece length": BencodeReader.integer,
    b"pieces": BencodeReader.text_size,
    b"length": BencodeReader.integer,
    b"meta version": BencodeReader.integer,
    b"private": BencodeReader.integer,
    b"files": listed_files,
    b"file tree": tree_files,
}
OF_A_FILE: Readers = {
    b"length": BencodeReader.integer,
    b"path": BencodeReader.texts,
    b"path.utf-8": BencodeReader.texts,
    b"attr": BencodeReader.text,
}


def encode(name: bytes) -> bytes:
    return b"%d:%b" % (len(name), name)


def size(value: int | None) -> int:
    if value is None or not 0 <= value <= LARGEST_FILE_BYTES:
        raise NotATorrent
    return value
