"""Read a torrent's metadata within bounds: it comes from strangers."""

from collections.abc import Iterator
from typing import Any

import libtorrent as lt

from service.details import Details
from service.torrents.engine.session import LARGEST_METADATA_BYTES
from service.torrents.events import FileOf, Metadata
from service.torrents.messages import LONGEST_PATH, MOST_FILES

LIMITS = {
    "max_buffer_size": LARGEST_METADATA_BYTES,
    "max_pieces": 2**21,
    "max_decode_depth": 100,
    "max_decode_tokens": 3_000_000,
}
MOST_TEXT_BYTES = 32 * 2**20
# Memory that a name costs the worker, besides its letters.
NAME_BYTES = 16
LARGEST_FILE_BYTES = 2**48


class MetadataRefused(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(self, word: str, details: Details | None = None, other: str = "") -> None:
        """`other` is the key of the torrent that is the same."""
        super().__init__(word, details, other)
        self.word = word
        self.details = details
        self.other = other


TOO_MANY = MetadataRefused("too_large", Details("too_many_files", limit=MOST_FILES))


def params_of(content: bytes) -> Any:
    """Return the parameters of a torrent file. Raises MetadataRefused."""
    if len(content) > LARGEST_METADATA_BYTES:
        raise MetadataRefused("too_large", Details("torrent_too_large"))
    try:
        params = lt.load_torrent_buffer(content, LIMITS)
    except (RuntimeError, ValueError, OverflowError, MemoryError) as error:
        raise MetadataRefused("not_a_torrent", Details("not_a_torrent")) from error
    if params.ti is None or not params.ti.is_valid():
        raise MetadataRefused("not_a_torrent", Details("not_a_torrent"))
    return params


def torrent_of(info: bytes) -> bytes:
    """Return a torrent file with the peers' metadata; they send version 2's other hashes again."""
    return b"d4:info" + info + b"e"


def metadata_of(key: str, torrent: Any) -> Metadata:
    """Return the metadata. Raises MetadataRefused if it is empty, too large, or inconsistent."""
    if torrent.num_files() > 2 * MOST_FILES + 1:  # each may be followed by padding
        raise TOO_MANY
    info = dictionary(lt.bdecode(torrent.info_section()))
    files = tuple(files_of(torrent, info))
    if not any(each.size_bytes for each in files if not each.is_padding):
        raise MetadataRefused("invalid_torrent", Details("torrent_empty"))
    name = text(info.get(b"name.utf-8", info.get(b"name", b"")))
    hashes = torrent.info_hashes()
    return Metadata(
        key=key,
        name=name,
        hash_v1=str(hashes.v1) if hashes.has_v1() else "",
        hash_v2=str(hashes.v2) if hashes.has_v2() else "",
        is_private=torrent.priv(),
        is_folder=b"files" in info if hashes.has_v1() else not is_lone(files, name),
        size_bytes=sum(each.size_bytes for each in files if not each.is_padding),
        files=files,
    )


def is_lone(files: tuple[FileOf, ...], name: str) -> bool:
    return [each.path for each in files if not each.is_padding] == [(name,)]


def files_of(torrent: Any, info: dict[bytes, Any]) -> Iterator[FileOf]:
    """Yield the files that libtorrent found, named as in the torrent: libtorrent changes names."""
    layout = torrent.layout()
    flags = [layout.file_flags(index) for index in range(layout.num_files())]
    padding = [bool(each & lt.file_storage.flag_pad_file) for each in flags]
    if padding.count(False) > MOST_FILES:
        raise TOO_MANY
    entries = read_paths(info)
    for index, is_padding in enumerate(padding):
        size = layout.file_size(index)
        if is_padding:
            yield FileOf(index, (".pad",), size, is_padding=True, is_symlink=False)
            continue
        path, declared_size = next(entries, ((), -1))
        is_symlink = bool(flags[index] & lt.file_storage.flag_symlink)
        if (declared_size != size and not is_symlink) or size > LARGEST_FILE_BYTES:
            raise MetadataRefused("invalid_torrent", Details("invalid_torrent"))
        yield FileOf(index, path, size, is_padding=False, is_symlink=is_symlink)
    if next(entries, None) is not None:
        raise MetadataRefused("invalid_torrent", Details("invalid_torrent"))


Entries = Iterator[tuple[tuple[str, ...], int]]


def read_paths(info: dict[bytes, Any]) -> Entries:
    """Yield paths and sizes, without padding.

    A hybrid's tree suffices: libtorrent refused the torrent if its list has other names.
    """
    entries = read_tree(info[b"file tree"]) if b"file tree" in info else read_list(info)
    letters = 0
    for path, size in entries:
        length = sum(map(len, path))
        letters += length + len(path) * NAME_BYTES
        if not path or length > LONGEST_PATH or letters > MOST_TEXT_BYTES:
            raise MetadataRefused("invalid_torrent", Details("invalid_torrent"))
        yield path, size


def read_list(info: dict[bytes, Any]) -> Entries:
    if b"files" not in info:
        yield (text(info.get(b"name.utf-8", info.get(b"name", b""))),), number(info.get(b"length"))
        return
    for each in info[b"files"]:
        fields = dictionary(each)
        if b"p" not in attributes(fields):
            path = fields.get(b"path.utf-8", fields.get(b"path", []))
            yield tuple(text(part) for part in path), number(fields.get(b"length"))


def read_tree(tree: Any, path: tuple[str, ...] = ()) -> Entries:
    """Yield the paths one by one: all of them may be a hundred times the size of the tree.

    It may recurse, since libtorrent refused trees nested deeper than 100.
    """
    for name, below in dictionary(tree).items():
        if name:
            yield from read_tree(below, (*path, text(name)))
        elif b"p" not in attributes(dictionary(below)):
            yield path, number(below.get(b"length"))


def dictionary(value: Any) -> dict[bytes, Any]:
    if not isinstance(value, dict):
        raise MetadataRefused("invalid_torrent", Details("invalid_torrent"))
    return value


def attributes(fields: dict[bytes, Any]) -> bytes:
    value = fields.get(b"attr", b"")
    return value if isinstance(value, bytes) else b""


def text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def number(value: Any) -> int:
    return value if isinstance(value, int) else 0
