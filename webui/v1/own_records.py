"""Records that only our own service sends, always in the same form, so that msgspec reads them."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, field

from webui.v1.records import Explanation, Json, explanation

Record = TypeVar("Record")
Measure = Annotated[float, Meta(ge=1e-6, le=1e9)]
TrafficPeriod = Literal["minutes", "day", "month", "year"]
TransferAction = Literal["pause", "resume", "first", "up", "down", "last", "before"]


class OwnId(str):
    """An id, which the service sends as a number; empty if that is 0, which means none."""

    __slots__ = ()


class Moment(datetime):
    """A moment, which the service sends in UTC, without a zone."""


def convert(answer: Any, kind: type[Record]) -> Record | None:
    """Return the record in a response, or None if the response is something else."""
    try:
        return msgspec.convert(answer, kind, dec_hook=_read)
    except msgspec.ValidationError:
        return None


def rows(answer: Json, key: str, kind: type[Record]) -> tuple[Record, ...] | None:
    """Return the records in a list, without those that are something else."""
    items = answer.get(key)
    if not isinstance(items, list):
        return None
    return tuple(row for item in items if (row := convert(item, kind)) is not None)


def _read(kind: type, value: Any) -> Any:
    return kind(value or "") if kind is OwnId else Moment.fromisoformat(f"{value}+00:00")


class FoundEntry(Struct, frozen=True):
    """A file or folder in a list across all folders. `folder_path` is empty for the root."""

    id: OwnId
    name: str
    folder_id: OwnId
    folder_path: str = field(name="folder")
    size_bytes: int | None = field(name="size")
    updated_at: Moment | None = field(name="last_update")


class SearchResult(Struct, frozen=True):
    """Some of what was found. `count` is how many there are, unless more are `has_uncounted`."""

    folders: tuple[FoundEntry, ...]
    files: tuple[FoundEntry, ...]
    has_more: bool
    count: int
    has_uncounted: bool


class Chapter(Struct, frozen=True):
    start: float  # in seconds
    title: str


class Filmstrip(Struct, frozen=True):
    """A picture with frames of a film in rows."""

    url: str
    frames: int
    frames_in_row: int


class Scenes(Struct, frozen=True):
    chapters: tuple[Chapter, ...] = ()
    filmstrip: Filmstrip | None = None


class Camera(Struct, frozen=True):
    """The camera of a picture, and its settings; "" and 0 for what isn't known."""

    model: str = ""
    lens: str = ""
    exposure_seconds: Measure = 0.0
    aperture: Measure = 0.0
    iso: Measure = 0.0
    focal_length_mm: Measure = 0.0


Speed = Annotated[int, Meta(ge=0)]  # bytes per second; 0: no limit


class Limits(Struct, frozen=True):
    """The limits of all transfers."""

    download_bytes_per_second: Speed
    upload_bytes_per_second: Speed
    active_transfers: int
    seed_ratio: float
    seed_minutes: int
    slow_download_bytes_per_second: Speed
    slow_upload_bytes_per_second: Speed
    # 1 for each half hour from Monday on in which the slow speeds apply, else 0
    schedule: Annotated[str, Meta(pattern="^[01]{336}$")]
    is_slow: bool  # now
    changes_at: Moment | None  # when that ends; None: not by itself
    switched_to: Literal["slow", "full", ""]  # empty: as in the schedule
    switched_until: Moment | None  # None: until the next switch
    fixed: frozenset[str]  # the fields that only the environment can change
    may_change: bool
    time_zone: str


class OwnLimits(Struct, frozen=True):
    """The limits that a transfer has of its own; None: it has no such limit."""

    download_bytes_per_second: Speed | None
    upload_bytes_per_second: Speed | None
    seed_ratio: float | None
    seed_minutes: int | None


class Reachability(Struct, frozen=True):
    """Whether peers can connect to the service, or None if it is too early to say."""

    port: int  # 0: it listens nowhere
    reachable: bool | None
    mapping: Literal["off", "", "mapped", "failed"]  # the router's answer; empty until it comes
    incoming_at: Moment | None  # when a peer last connected
    proxy: bool


class Batch(Struct, frozen=True):
    """What was deleted, moved, or copied together; nothing, if names are `taken`. `id` undoes it,
    unless it is empty."""

    id: OwnId = field(name="batch")
    count: int
    taken: tuple[str, ...] = ()
    taken_count: int = 0


class TransferChange(Struct, frozen=True):
    changed: tuple[OwnId, ...]


class UndoneMove(Struct, frozen=True):
    count: int
    folder_ids: tuple[OwnId, ...]  # whose contents changed


class TransferFile(Struct, frozen=True):
    """A file of a torrent. `path` is below the torrent's folder."""

    index: int
    path: str
    size_bytes: int = field(name="size")
    progress_percent: int = field(name="progress")
    is_wanted: bool = field(name="wanted")


class Explained(Struct, frozen=True):
    """What may have details, which the records of all services share."""

    details: dict[str, Any] | None = None

    @property
    def explanation(self) -> Explanation | None:
        return explanation(self.details)


class PeerFacts(Struct, frozen=True):
    address: str
    client: str  # as it calls itself
    connection: str
    progress_percent: float = field(name="progress")
    download_rate: int
    upload_rate: int


class TrackerFacts(Explained, frozen=True, kw_only=True):
    host: str
    state: Literal["asking", "failed", "waiting", "working"]
    next_at: Moment | None = None


class Pieces(Struct, frozen=True):
    """Pieces in buckets: how much of each has arrived, and how many peers have it."""

    count: int = 0
    arrived_percents: tuple[int, ...] = field(name="arrived", default=())
    copies: tuple[int, ...] = ()


class OwnSwarm(Struct, frozen=True):
    """What the engine sees of a torrent; of its peers, the fastest."""

    peer_count: int = 0
    peers: tuple[PeerFacts, ...] = ()
    trackers: tuple[TrackerFacts, ...] = ()
    pieces: Pieces = Pieces()
    availability: float = -1.0  # -1: unknown


class LogLine(Explained, frozen=True, kw_only=True):
    kind: str  # a state, or tracker_refused
    at: int  # seconds since 1970
    reason: str = ""
    tracker: str = ""


class TransferFacts(Struct, frozen=True):
    added: Moment
    uploaded_bytes: int = field(name="uploaded")
    has_swarm: bool
    swarm: OwnSwarm | None
    log: tuple[LogLine, ...]


class PartOfTraffic(Struct, frozen=True):
    start: Moment
    received_bytes: int = field(name="received")
    sent_bytes: int = field(name="sent")


class TransferBytes(Struct, frozen=True):
    id: OwnId
    received_bytes: int = field(name="received")
    sent_bytes: int = field(name="sent")


class TrafficSums(Struct, frozen=True):
    parts: tuple[PartOfTraffic, ...]
    transfers: tuple[TransferBytes, ...]  # the newest of those added in the period


class Restorable(Struct, frozen=True):
    """A file or folder that can be restored. `folder_path` is empty for the root."""

    id: OwnId
    name: str
    kind: str = field(name="type")
    folder_path: str = field(name="folder")
    size_bytes: int = field(name="size")
    deleted_at: Moment = field(name="deleted")


class Restorables(Struct, frozen=True):
    items: tuple[Restorable, ...]
    size_bytes: int = field(name="size")
    has_more: bool


class RestoredPlace(Struct, frozen=True):
    name: str
    folder_id: OwnId
