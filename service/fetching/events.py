"""What a fetch reports to the worker, in addition to the engine's events."""

from dataclasses import dataclass, field

from service.details import Details
from service.torrents.events import Event


@dataclass(frozen=True)
class Head:
    """What a fetch is about to download; it waits for `proceed`. Sent again if that changes."""

    key: str
    name: str  # as the server wrote it, unchecked
    size_bytes: int  # 0: unknown
    content_type: str
    is_torrent: bool = False
    is_page: bool = False
    # Whether another request can continue it. Not all responses of a server say so.
    can_resume: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class TorrentFound:
    """The fetched file is a torrent, of which nothing is on disk."""

    key: str
    content: bytes


@dataclass(frozen=True)
class MagnetFound:
    """The URL redirects to a magnet link."""

    key: str
    uri: str


@dataclass(frozen=True)
class Waiting:
    """The server failed. The fetch is retried after `seconds`, unless it is removed."""

    key: str
    details: Details
    seconds: float


FetchEvent = Event | Head | TorrentFound | MagnetFound | Waiting
