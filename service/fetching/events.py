"""What a fetch reports to the worker, in addition to the engine's events."""

from dataclasses import dataclass

from service.torrents.events import Complete, Status, TorrentBroken, TorrentGone


@dataclass(frozen=True)
class Head:
    """The fetch waits for `proceed`. It comes again when what is there became something else."""

    key: str
    name: str  # as a stranger wrote it
    size_bytes: int  # 0: not known
    content_type: str
    is_torrent: bool = False
    is_page: bool = False


@dataclass(frozen=True)
class TorrentFound:
    """What was fetched is a torrent file; nothing of it is on the disk."""

    key: str
    content: bytes


@dataclass(frozen=True)
class MagnetFound:
    """The address leads on to a magnet link."""

    key: str
    uri: str


@dataclass(frozen=True)
class Waiting:
    """The server failed. Unless it is removed, it is tried again after so long."""

    key: str
    sentence: str
    seconds: float


FetchEvent = (
    Status | Complete | TorrentBroken | TorrentGone | Head | TorrentFound | MagnetFound | Waiting
)
