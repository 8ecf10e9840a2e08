"""The engine's events for the worker."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from service.details import Details

Natural = Annotated[int, Meta(ge=0)]

# A torrent that waits for `proceed` is in `metadata` too, although its files are known.
Phase = Literal["metadata", "checking", "downloading", "complete", "seeding", "paused"]


class FileOf(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    index: Natural  # the name of the file in the transfer's folder
    # as in the torrent; without the torrent's name if it is a folder
    path: Annotated[tuple[str, ...], Meta(min_length=1)]
    size_bytes: Natural
    is_padding: bool  # never written
    is_symlink: bool  # never created or written


@dataclass(frozen=True)
class Metadata:
    key: str
    name: str
    hash_v1: str  # 40 hex digits; empty for a torrent of version 2 only
    hash_v2: str  # 64 hex digits; empty for a torrent of version 1 only
    is_private: bool
    is_folder: bool  # if False, its only file has no folder
    size_bytes: int  # without padding
    files: tuple[FileOf, ...]


@dataclass(frozen=True)
class Status:
    key: str
    phase: Phase
    done_bytes: int = 0
    wanted_bytes: int = 0
    download_rate: int = 0  # bytes per second
    upload_rate: int = 0
    peers_connected: int = 0
    peers_sending: int = 0
    peers_receiving: int = 0
    seeders: int = 0  # in the whole swarm, as reported by trackers and peers
    leechers: int = 0
    availability: float = -1.0  # copies of the torrent within reach; -1: unknown
    uploaded_bytes: int = 0  # in total, across restarts
    received_bytes: int = 0  # since the engine has the torrent, as the next
    sent_bytes: int = 0


@dataclass(frozen=True)
class Arrived:
    """The event that the first bytes of a file are verified, written, and final.

    With 0 bytes, all earlier events are void: libtorrent rechecks the torrent.
    """

    key: str
    index: int
    size_bytes: int


@dataclass(frozen=True)
class FileProgress:
    """How many percent of each file have arrived, by index."""

    key: str
    percents: tuple[int, ...]


@dataclass(frozen=True)
class Complete:
    """The event that every wanted byte is verified and written, and the files are closed."""

    key: str
    choice: int = 0  # which files were wanted: as in the order, or in the last `choose`


@dataclass(frozen=True)
class Seeded:
    """The event that seeding reached its ratio or time; the engine no longer uses the folder."""

    key: str


@dataclass(frozen=True)
class TorrentBroken:
    """An error. After disk_full or disk_error, `resume` continues; other words end the torrent."""

    key: str
    word: str
    details: Details | None = None
    other: str = ""  # the key of the other torrent, for same_torrent


@dataclass(frozen=True)
class TorrentGone:
    """The event that the engine no longer uses the folder."""

    key: str


class SwarmPeer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A peer that is connected. Its client says what it is; Ferry only makes that printable."""

    address: str
    client: str
    connection: Literal["tcp", "utp", "web"]  # web: a web seed
    progress: float  # percent
    download_rate: Natural  # bytes per second, from it
    upload_rate: Natural


class SwarmTracker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tracker, without the rest of its URL, which may contain a secret."""

    host: str
    state: Literal["asking", "failed", "waiting", "working"]
    details: Details | None = None  # of a failure, or what the tracker says beside its answer
    next_at: str | None = None  # YYYY-MM-DD HH:MM:SS, in UTC


class SwarmPieces(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The pieces, in at most 200 buckets of almost the same size."""

    count: Natural = 0
    arrived: tuple[Natural, ...] = ()  # percent of each bucket
    copies: tuple[Natural, ...] = ()  # how many peers have the rarest piece of each bucket


@dataclass(frozen=True)
class Swarm:
    """What the engine sees of a torrent's peers, trackers, and pieces, when it is asked."""

    key: str
    peer_count: Natural
    peers: tuple[SwarmPeer, ...]  # the fastest
    trackers: tuple[SwarmTracker, ...]
    pieces: SwarmPieces
    availability: float  # copies of the torrent within reach; -1: unknown


@dataclass(frozen=True)
class TrackerRefused:
    """The event that a tracker refuses the torrent, with its own words in `details`."""

    key: str
    host: str
    details: Details


@dataclass(frozen=True)
class Restarted:
    """The event that an empty process replaced one that died or hung: add every torrent again.

    Each suspect gets a strike. If the culprit is unknown, there are no suspects, and `Engine`
    releases orders in small groups until it finds the culprit.
    """

    suspects: tuple[str, ...]


@dataclass(frozen=True)
class SessionStatus:
    """What the engine sees beside its torrents. Only `Engine` itself reads it."""

    key: str = ""
    port: Natural = 0  # where it listens; 0: nowhere, or not yet
    mapping: Literal["off", "", "mapped", "failed"] = "off"  # the router's answer, if it has come
    is_reachable: bool | None = None  # by peers; None: it is too early to say
    incoming_at: float | None = None  # the minute of the last peer, in seconds since 1970
    received_rate: Natural = 0  # bytes per second, of all kinds, in the last second


Progress = Status | FileProgress | Arrived
Looks = Swarm | TrackerRefused
TorrentEvent = Metadata | Progress | Looks | Complete | Seeded | TorrentBroken | TorrentGone
Event = TorrentEvent | Restarted | SessionStatus
