"""The one door to a service that speaks v1, ours or anybody's."""

import base64
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeVar, overload

import httpx

from webui.v1 import links
from webui.v1.answers import Answer
from webui.v1.dialect import Dialect, Naming
from webui.v1.links import Download, Judge, Link
from webui.v1.models import Account, Added, Created, Listing, Transfer, Unchanged
from webui.v1.uploads import Readable, Upload

Outcome = TypeVar("Outcome", Answer, "Answer | Link | Download")

PASSING = frozenset({429, 502, 503, 504})
SELECTION_QUERY_BYTES = 8_000
MOST_REDIRECTS = 5
API_POOL = httpx.Limits(max_connections=20, max_keepalive_connections=10, keepalive_expiry=5)
STREAM_POOL = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=5)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The owner's account at the service. Shown by no repr."""

    name: str = field(repr=False)
    password: str = field(repr=False)

    @property
    def header(self) -> str:
        return "Basic " + base64.b64encode(f"{self.name}:{self.password}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how much the client takes before it gives up."""

    call_seconds: float = 20.0
    add_seconds: float = 45.0
    connect_seconds: float = 5.0
    idle_seconds: float = 15.0
    stream_idle_seconds: float = 60.0
    slowest_upload_bytes_per_second: int = 32 * 1024
    pauses_seconds: tuple[float, ...] = (0.2, 0.8)
    listing_bytes: int = 64 * 1024 * 1024
    answer_bytes: int = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Health:
    """How the last calls went; `last_error` is the reason word of a failure."""

    last_ok_at: datetime | None = None
    last_error_at: datetime | None = None
    last_error: str | None = None
    latency_seconds: float | None = None

    @property
    def is_well(self) -> bool:
        return self.last_error is None


@dataclass(frozen=True, slots=True)
class Call:
    """One form of one operation. `decides` is what the dialect learns when the service knows it.

    `may_repeat`: asking twice does no more than asking once. `names_something`: a 404 can mean
    that the thing is gone, not only that the path is unknown.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    upload: tuple[Upload, str] | None = None
    decides: Mapping[str, str] = field(default_factory=dict)
    may_repeat: bool = False
    names_something: bool = True
    seconds: float | None = None
    most_bytes: int | None = None


class Client:
    """Speaks v1 to one service, for any number of threads. Make it after the fork, close it once.

    `transport` serves the calls and `stream_transport` the bytes; given one, both use it. `judge`
    is asked about each link of a foreign service before it is handed out or followed, and
    `judge_address` about each address that bytes are fetched from.
    """

    def __init__(  # noqa: PLR0913  Everything that a test or another house may want to replace.
        self,
        base_url: str,
        credentials: Credentials | None,
        *,
        transport: httpx.BaseTransport | None = None,
        stream_transport: httpx.BaseTransport | None = None,
        naming: Naming | Literal["auto"] = "auto",
        dialect: Dialect | None = None,
        is_ours: bool = False,
        judge: Judge = links.http_only,
        judge_address: Callable[[str], bool] | None = None,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        raise NotImplementedError

    @property
    def base_url(self) -> str: ...

    @property
    def is_ours(self) -> bool: ...

    @property
    def dialect(self) -> Dialect:
        """What was found out about the service so far; give it to the next Client."""

    @property
    def health(self) -> Health: ...

    def close(self) -> None: ...

    # Folders and files

    @overload
    def listing(self, folder_id: str | None = None) -> Listing: ...
    @overload
    def listing(self, folder_id: str | None, etag: str | None) -> Listing | Unchanged: ...
    def listing(self, folder_id: str | None = None, etag: str | None = None) -> Listing | Unchanged:
        """The root where no id is given; `Unchanged` where it is still what `etag` named."""

    def create_folder(self, path: str) -> Created:
        """`path` is the full one from the root; the folder above must be there."""

    def rename_folder(self, folder_id: str, name: str) -> None: ...
    def delete_folder(self, folder_id: str) -> None: ...
    def rename_file(self, file_id: str, name: str) -> None: ...
    def delete_file(self, file_id: str) -> None: ...

    # Bytes. A service hands out a link, or sends the bytes itself: then the Download is open, and
    # whoever asked closes it.

    def file_link(
        self, file_id: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> Link | Download: ...
    def folder_zip_link(
        self, folder_id: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> Link | Download: ...
    def zip_link(
        self,
        files: Iterable[str] = (),
        folders: Iterable[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Link | Download:
        """`Rejected("selection_too_long")` where a foreign service's URL cannot hold it."""

    def thumbnail(
        self, file_id: str, headers: Mapping[str, str] | None = None
    ) -> Link | Download: ...
    def image(self, file_id: str, headers: Mapping[str, str] | None = None) -> Link | Download: ...
    def open(
        self, link: Link | str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> Download:
        """The bytes behind a link, for what the site streams itself. Each redirect is judged."""

    # Transfers

    def transfer(self, transfer_id: str) -> Transfer: ...
    def add_magnet(self, magnet: str, folder_id: str | None = None) -> Added: ...
    def add_url(self, url: str, folder_id: str | None = None) -> Added: ...
    def add_file(
        self, name: str, stream: Readable, size_bytes: int, folder_id: str | None = None
    ) -> Added:
        """Sends the stream as it is read. It is sent again only where it can be wound back."""

    def delete_transfer(self, transfer_id: str) -> None: ...

    # The account

    def account(self) -> Account: ...


def split_service_url(url: str) -> tuple[str, Credentials | None]:
    """`https://me%40example.org:secret@host/prefix` as a base URL and credentials."""
    raise NotImplementedError
