"""What a service returns, in our words: both generations and both namings end here.

Nothing in a response is trusted: unusable rows are left out. Names stay as they are; pages must
show them safely.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from webui.v1.values import (
    LONGEST_LINK,
    bytes_of,
    flag_of,
    hash_of,
    id_of,
    link_of,
    moment_of,
    percent_of,
    reference_of,
    scalar_of,
    seconds_of,
    size_of,
    sound,
    text_of,
    warnings_of,
    within,
)

Json = Mapping[str, Any]
State = Literal[
    "queued", "metadata", "downloading", "stalled", "moving", "done", "no_room", "failed", "stopped"
]

Row = TypeVar("Row", "File", "Folder", "Transfer")

STATES = frozenset(get_args(State))
DOWNLOADED_PERCENT = 100.0
MOVED_PERCENT = 101.0
MOST_WISHES = 1_000
MOST_PICTURES = 16
MOST_SUBTITLES = 32
MOST_NESTED = 32
LONGEST_SECONDS = 1_000 * 3600
MOST_PIXELS = 65_535
LAST_SECOND = 2**36  # Clocks of all time zones can show it.

NO_ID = frozenset({"0", "-1", ""})
ACCOUNT_KEYS = frozenset({"username", "email", "user_id", "premium", "space_max"})
WORD = re.compile(r"[a-z0-9_]{1,64}")
# Keys that `Account` has fields for, and keys about the response, not the account.
READ_KEYS = frozenset(
    {
        *ACCOUNT_KEYS,
        *("id", "package_name", "space_used", "bandwidth_used"),
        *("result", "success", "code", "status_code", "reason_phrase", "error"),
    }
)
SECRET = re.compile(
    r"pass|pwd|token|key|secret|hash|cookie|auth|session|credential|salt|otp|signature|csrf"
)
MOST_OTHERS = 40
LONGEST_OTHER = 200


@dataclass(frozen=True, slots=True)
class Folder:
    id: str
    name: str
    size_bytes: int | None
    changed: int | None  # seconds since 1970


class File(NamedTuple):
    """A file in a listing. Its links are the service's, not checked yet.

    The fields that a list of files needs are read at once, and the others from `raw` on demand:
    few of 10,000 files are ever on a screen.
    """

    id: str
    name: str
    size_bytes: int | None
    changed: int | None  # seconds since 1970
    hash: str | None
    raw: Json

    def __repr__(self) -> str:
        """Leave out the links, which are secrets."""
        return f"File(id={self.id!r}, name={self.name!r}, size_bytes={self.size_bytes})"

    @property
    def thumb_url(self) -> str | None:
        return link_of(self.raw.get("thumb"))

    @property
    def has_picture(self) -> bool:
        """Return whether there is a picture. Our own service sends no link; request it by id."""
        return flag_of(self.raw.get("has_picture"))

    @property
    def duration_seconds(self) -> int:
        """Return the duration; 0 if it is missing or implausible. Width and height do the same."""
        return within(self.raw.get("duration"), LONGEST_SECONDS)

    @property
    def width(self) -> int:
        return within(self.raw.get("width"), MOST_PIXELS)

    @property
    def height(self) -> int:
        return within(self.raw.get("height"), MOST_PIXELS)

    @property
    def taken(self) -> int:
        """Return when a picture was taken, in seconds since 1970 by the camera's clock; 0 if
        unknown."""
        return max(seconds_of(self.raw.get("taken")) or 0, 0)

    @property
    def image_urls(self) -> Mapping[int, str]:
        return {
            int(size): url
            for size, link in islice(self._images.items(), MOST_PICTURES)
            if size.isascii() and size.isdigit() and len(size) < 6 and (url := link_of(link))
        }

    def image_url(self, pixels: int) -> str | None:
        """Return the preview of this size, else the next larger, else the largest."""
        images = self._images
        if exact := link_of(images.get(str(pixels))):
            return exact
        urls = self.image_urls if images else {}
        best = min((size for size in urls if size >= pixels), default=max(urls, default=0))
        return urls.get(best)

    @property
    def _images(self) -> Json:
        urls = self.raw.get("presentation_urls")
        images = urls.get("image") if type(urls) is dict else None
        return images if type(images) is dict else {}


class Explanation(NamedTuple):
    """The details of a reason: a kind and its values, each 0 or empty if it doesn't apply."""

    kind: str
    status: int = 0  # of HTTP
    limit: int = 0
    tries: int = 0
    retry_at: int = 0  # seconds since 1970
    message: str = ""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer. Only our own service sends `state`, `reason`, `details`, and what follows
    `file_created_id`."""

    id: str
    name: str
    size_bytes: int
    hash: str | None
    progress_percent: float
    rate_bytes_per_second: int
    peers_connected: int
    downloading_from: int
    is_stopped: bool
    warnings: tuple[str, ...]
    state: State | None
    reason: str | None
    details: Explanation | None
    folder_created_id: str | None
    file_created_id: str | None
    file_count: int = 0  # of a torrent, once its files are known
    chooses: bool = False  # It stops then, until someone has chosen files.

    @property
    def is_downloaded(self) -> bool:
        return self.progress_percent >= DOWNLOADED_PERCENT

    @property
    def is_moved(self) -> bool:
        return self.progress_percent >= MOVED_PERCENT


@dataclass(frozen=True, slots=True)
class Listing:
    """One folder. `path` is the full one from the root, as far as the service sends it."""

    folder_id: str
    name: str
    path: str
    parent_id: str | None
    is_root: bool
    size_bytes: int
    space_max_bytes: int | None
    space_used_bytes: int | None
    folders: tuple[Folder, ...]
    files: tuple[File, ...]
    transfers: tuple[Transfer, ...] | None  # None if the service sent something else than a list
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Transfers:
    """All transfers, without the files."""

    transfers: tuple[Transfer, ...]
    space_max_bytes: int | None
    space_used_bytes: int | None
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A response that hasn't changed: it still has this ETag."""

    etag: str


@dataclass(frozen=True, slots=True)
class Added:
    """An added transfer. `id` is None if the service sends none. `was_there`: it only said yes."""

    id: str | None
    name: str
    hash: str | None
    was_there: bool
    reason: str = ""  # one of our own service's words: what is special about it


@dataclass(frozen=True, slots=True)
class Playable:
    """Where something can be played. `url` is empty if the service sent the playlist itself.

    `is_converting`: it can't be played yet; `progress_percent` of it is converted.
    """

    url: str = field(default="", repr=False)
    is_converting: bool = False
    progress_percent: float | None = None
    burned: tuple["BurnedSubtitles", ...] = ()


@dataclass(frozen=True, slots=True)
class BurnedSubtitles:
    """Where a film plays with subtitles in its pictures."""

    name: str
    language: str
    url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Wish:
    """A torrent that didn't fit and that the service has kept."""

    id: str | None
    name: str
    size_bytes: int
    hash: str | None
    magnet: str | None
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class Account:
    """An account. `is_paid` is true unless the service says otherwise.

    `others`: what else the service sends, by its own names. Nothing secret.
    """

    id: str | None
    name: str
    is_paid: bool
    plan: str
    space_max_bytes: int | None
    space_used_bytes: int | None
    bandwidth_used_bytes: int
    wishes: tuple[Wish, ...]
    others: tuple[tuple[str, str], ...] = ()


def listing(answer: Json, asked_id: str = "0", etag: str | None = None) -> Listing | None:
    """Read a listing. Return None if the response isn't one.

    Neither an empty object nor null in place of a list may look like an empty folder.
    """
    lists = [answer[key] for key in ("folders", "files") if key in answer]
    if not lists or not all(isinstance(rows, list) for rows in lists):
        return None
    running = _running(answer, "torrents", "transfers")
    parent = _first(answer, "parent_id", "parent")
    is_root = asked_id in NO_ID or parent in (-1, "-1")
    name = _name(answer)
    return Listing(
        folder_id=id_of(answer.get("id")) or asked_id or "0",
        name=name,
        path=text_of(_first(answer, "fullname", "path")) or name,
        parent_id=None if is_root else reference_of(parent),
        is_root=is_root,
        size_bytes=bytes_of(answer.get("size")),
        space_max_bytes=size_of(answer.get("space_max")),
        space_used_bytes=size_of(answer.get("space_used")),
        folders=_rows(answer.get("folders"), folder),
        files=_files(answer.get("files")),
        transfers=None if running is None else _rows(running, transfer),
        etag=etag,
    )


def transfers(
    answer: Json, etag: str | None, read_rows: Callable[[list[Any]], Iterable[Transfer | None]]
) -> Transfers | None:
    running = _running(answer, "transfers", "torrents")
    if running is None or ("transfers" not in answer and "torrents" not in answer):
        return None
    space_max, space_used = size_of(answer.get("space_max")), size_of(answer.get("space_used"))
    return Transfers(_once(read_rows(running)), space_max, space_used, etag)


def folder(row: Json) -> Folder | None:
    folder_id = id_of(row.get("id"))
    if folder_id is None:
        return None
    return Folder(
        folder_id,
        _name(row) or folder_id,
        size_of(row.get("size")),
        seconds_of(row.get("last_update")),
    )


def files(rows: Iterable[Json]) -> Iterator[File]:
    """Read files; leave out those without an id. Of 10,000 files, most share their dates, so each
    date is read once."""
    read_date = cache(seconds_of)
    for row in rows:
        file_id, date = id_of(row.get("id")), row.get("last_update")
        if file_id is not None:
            yield File(
                file_id,
                _name(row) or file_id,
                size_of(row.get("size")),
                read_date(date) if type(date) is str else None,
                hash_of(row.get("hash")),
                row,
            )


def transfer(row: Json, asked_id: str | None = None) -> Transfer | None:
    """Read a transfer. A single one may lack its id, and some services put half under `stats`."""
    stats = row.get("stats")
    if isinstance(stats, Mapping):
        row = {**stats, **row}
    transfer_id = id_of(row.get("id")) or asked_id
    if transfer_id is None or (asked_id and "progress" not in row):
        return None
    state, reason = row.get("state"), row.get("reason")
    return Transfer(
        id=transfer_id,
        name=text_of(_first(row, "name", "title")),
        size_bytes=bytes_of(row.get("size")),
        hash=hash_of(_first(row, "hash", "torrent_hash")),
        progress_percent=percent_of(row.get("progress"), MOVED_PERCENT),
        rate_bytes_per_second=bytes_of(_first(row, "download_rate", "speed")),
        peers_connected=bytes_of(row.get("connected_to")),
        downloading_from=bytes_of(row.get("downloading_from")),
        is_stopped=flag_of(row.get("stopped")),
        warnings=warnings_of(row.get("warnings")),
        state=state if isinstance(state, str) and state in STATES else None,  # type: ignore[arg-type]
        reason=reason if isinstance(reason, str) and WORD.fullmatch(reason) else None,
        details=explanation(row.get("details")),
        folder_created_id=reference_of(_first(row, "folder_created", "folder_created_id")),
        file_created_id=reference_of(row.get("file_created")),
        file_count=bytes_of(row.get("file_count")),
        chooses=flag_of(row.get("chooses")),
    )


def explanation(value: Any) -> Explanation | None:
    if not isinstance(value, Mapping) or not isinstance(kind := value.get("kind"), str):
        return None
    status, limit, tries = (bytes_of(value.get(name)) for name in ("status", "limit", "tries"))
    retry_at = within(seconds_of(value.get("retry_at")), LAST_SECOND)
    return Explanation(kind, status, limit, tries, retry_at, text_of(value.get("message")))


def addition(answer: Json) -> Added | None:
    """Read the response to an add.

    Legacy services answer only true if the transfer exists already. Some send no id for a new one.
    """
    transfer_id = id_of(_first(answer, "user_torrent_id", "id"))
    if transfer_id is None and answer.get("result") is None and answer.get("success") is None:
        return None
    name = text_of(_first(answer, "title", "name"))
    info_hash = hash_of(_first(answer, "torrent_hash", "hash"))
    return Added(
        id=transfer_id,
        name=name,
        hash=info_hash,
        was_there=not (transfer_id or name or info_hash),
        reason=text_of(answer.get("reason")),
    )


def playable(answer: Json) -> Playable | None:
    """Read where something can be played. Services put the URL at the top or some levels below."""
    url = next(filter(None, (link_of(row.get("url")) for row in _levels(answer))), "")
    raw_progress = _first(answer, "progress", "video_progress", "video_converted")
    progress = None if raw_progress is None else percent_of(raw_progress, DOWNLOADED_PERCENT)
    is_unfinished = not url and progress is not None and progress < DOWNLOADED_PERCENT
    is_converting = flag_of(answer.get("converting")) or is_unfinished
    if not url and not is_converting:
        return None
    return Playable(url, is_converting, progress, _subtitles(answer.get("subtitles_not_shown")))


def _subtitles(rows: Any) -> tuple[BurnedSubtitles, ...]:
    items = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    read = (
        BurnedSubtitles(text_of(row.get("name")), text_of(row.get("language")), link)
        for row in items[:MOST_SUBTITLES]
        if (link := link_of(row.get("url")))
    )
    return tuple(read)


def _levels(answer: Json) -> list[Json]:
    """Return the objects in a response, the outer ones first, at most `MOST_NESTED`."""
    levels: list[Json] = [answer]
    for row in levels:
        inner = [value for value in row.values() if isinstance(value, dict)]
        levels += inner[: max(MOST_NESTED - len(levels), 0)]
    return levels


def wish(row: Any) -> Wish | None:
    if not isinstance(row, Mapping):
        return None
    magnet = row.get("torrent_magnet")
    is_magnet = isinstance(magnet, str) and magnet[:8].lower() == "magnet:?"
    return Wish(
        id=id_of(row.get("id")),
        name=text_of(_first(row, "title", "name")),
        size_bytes=bytes_of(row.get("size")),
        hash=hash_of(_first(row, "torrent_hash", "hash")),
        magnet=sound(str(magnet)[: LONGEST_LINK * 16]) if is_magnet else None,
        created_at=moment_of(row.get("created")),
    )


def account(answer: Json) -> Account | None:
    """Read an account, nested since about 2024 and flat before. Return None if it is neither."""
    nested = answer.get("account")
    row: Json = {**answer, **nested} if isinstance(nested, Mapping) else answer
    if row is answer and ACCOUNT_KEYS.isdisjoint(row):
        return None
    wishes = row.get("wishlist")
    rows = islice(wishes, MOST_WISHES) if isinstance(wishes, list) else ()
    return Account(
        id=id_of(_first(row, "user_id", "id")),
        name=text_of(_first(row, "username", "email")),
        is_paid=row.get("premium") is None or flag_of(row["premium"]),
        plan=text_of(row.get("package_name")),
        space_max_bytes=size_of(row.get("space_max")),
        space_used_bytes=size_of(row.get("space_used")),
        bandwidth_used_bytes=bytes_of(row.get("bandwidth_used")),
        wishes=tuple(item for one in rows if (item := wish(one))),
        others=tuple(islice(_others(row), MOST_OTHERS)),
    )


def _others(row: Json) -> Iterator[tuple[str, str]]:
    """Yield the other facts. Leave out links as well as secrets: many links grant access."""
    for key, value in row.items():
        name = key.lower()
        if name in READ_KEYS or not WORD.fullmatch(name) or SECRET.search(name):
            continue
        text = scalar_of(value)
        if text and "://" not in text:
            yield name, text[:LONGEST_OTHER]


def _files(rows: Any) -> tuple[File, ...]:
    if not isinstance(rows, list):
        return ()
    return _once(files([row for row in rows if type(row) is dict]))


def _rows(rows: Any, read: Callable[[Json], Row | None]) -> tuple[Row, ...]:
    """Return the usable rows, each id once."""
    if not isinstance(rows, list):
        return ()
    return _once(read(row) for row in rows if isinstance(row, dict))


def _once(items: Iterable[Row | None]) -> tuple[Row, ...]:
    by_id: dict[str, Row] = {}
    for item in items:
        if item is not None:
            by_id.setdefault(item.id, item)
    return tuple(by_id.values())


def _running(answer: Json, *keys: str) -> list[Any] | None:
    """Find transfers under either key, or both. Return None if a key exists but none has a list."""
    values = [answer[key] for key in keys if key in answer]
    lists = [rows for rows in values if isinstance(rows, list)]
    if values and not lists:
        return None
    return next(filter(None, lists), [])


def _name(row: Json) -> str:
    """Return a name. Legacy folders have a name, those of 2026 a path, and some have both."""
    path = row.get("path")
    return text_of(row.get("name")) or text_of(path).rstrip("/").rpartition("/")[2]


def _first(row: Json, *keys: str) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None)
