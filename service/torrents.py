"""Torrent files, as far as the service must know one before the engine takes it."""

from dataclasses import dataclass

MOST_BYTES = 10 * 2**20


@dataclass(frozen=True)
class Torrent:
    info_hash_v1: str  # 40 hex digits; empty for one of version 2 only
    info_hash_v2: str  # 64 hex digits; empty for one of version 1 only
    name: str  # as it was sent
    size_bytes: int
    is_private: bool
    is_folder: bool  # else its one file stands alone
    file_count: int
    trackers: tuple[str, ...]


def read(content: bytes) -> Torrent:
    """Raises NotATorrent."""
    raise NotImplementedError
