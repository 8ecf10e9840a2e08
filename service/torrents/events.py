"""The engine's events for the worker."""

from dataclasses import dataclass
from typing import Literal

# metadata also stands for one whose files are known and wait for `proceed`.
Phase = Literal["metadata", "checking", "downloading", "complete", "seeding", "paused"]


@dataclass(frozen=True)
class FileOf:
    index: int  # the name of the file in the transfer's folder
    path: tuple[
        str, ...
    ]  # as the torrent says; without the torrent's own name where it is a folder
    size_bytes: int
    is_padding: bool  # is never written
    is_symlink: bool  # is never made, nor written


@dataclass(frozen=True)
class Metadata:
    key: str
    name: str
    hash_v1: str  # 40 hex digits; empty for a torrent of version 2 only
    hash_v2: str  # 64 hex digits; empty for a torrent of version 1 only
    is_private: bool
    is_folder: bool  # else its one file stands alone
    size_bytes: int  # without padding
    files: tuple[FileOf, ...]


@dataclass(frozen=True)
class Status:
    key: str
    phase: Phase
    done_bytes: int
    wanted_bytes: int
    download_rate: int  # bytes per second
    upload_rate: int
    peers_connected: int
    peers_sending: int
    peers_receiving: int
    seeders: int  # in the whole swarm, as far as trackers and peers tell
    leechers: int
    availability: float  # copies of the torrent that are in reach; -1 where it is unknown
    uploaded_bytes: int  # ever, across restarts


@dataclass(frozen=True)
class Complete:
    """Every wanted byte is hashed and written, and the files are closed."""

    key: str


@dataclass(frozen=True)
class Seeded:
    """The ratio or the time is reached; the engine has let go of the folder."""

    key: str


@dataclass(frozen=True)
class TorrentBroken:
    """Goes on after `resume` where the word is disk_full or disk_error; is over with others."""

    key: str
    word: str
    sentence: str  # for same_torrent the key of the other


@dataclass(frozen=True)
class TorrentGone:
    """The engine has let go of the folder."""

    key: str


@dataclass(frozen=True)
class Restarted:
    """The engine's process died or hung and is there anew, empty: everything is to be added again.

    Each of the suspects gets a strike. Where nobody is known to be the culprit there is no
    suspect: the engine then takes up orders in small groups until it knows.
    """

    suspects: tuple[str, ...]


Event = Metadata | Status | Complete | Seeded | TorrentBroken | TorrentGone | Restarted
