"""What is known of a torrent, or of the file at a URL."""

from dataclasses import dataclass

from service.models import wire_hash


@dataclass(frozen=True)
class TorrentFacts:
    name: str  # as a stranger wrote it; empty if there is none
    size_bytes: int = 0  # 0: not known
    is_folder: bool = False  # if False, its only file has no folder
    info_hash_v1: str = ""  # 40 hex digits; empty for a torrent of version 2 only
    info_hash_v2: str = ""  # 64 hex digits; empty for a torrent of version 1 only
    is_private: bool = False

    @property
    def wire_hash(self) -> str:
        return wire_hash(self.info_hash_v1, self.info_hash_v2)
