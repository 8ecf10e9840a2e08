"""The client for any service that speaks v1, ours or another."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, Self, TypeVar, overload

import httpx

from webui.v1 import answers, calls, links, records
from webui.v1.answers import Answer
from webui.v1.calls import Call
from webui.v1.connection import Health, Patience, ServiceConnection
from webui.v1.dialect import Dialect, Naming
from webui.v1.errors import Failure, NotFound, Rejected, Unreadable
from webui.v1.links import Download, Link, LinkCheck
from webui.v1.network.address import Address, Credentials
from webui.v1.network.sockets import AddressCheck
from webui.v1.records import (
    Account,
    Added,
    Camera,
    Created,
    DeletedBatch,
    EntryIds,
    Json,
    LargeFile,
    Listing,
    Placed,
    Playable,
    Restorables,
    RestoredPlace,
    Scenes,
    SearchResult,
    Transfer,
    Transfers,
    Unchanged,
    UndoneMove,
)
from webui.v1.transfer_rows import TransferRows
from webui.v1.uploads import Readable, Upload

# Servers refuse request lines over some 8,190 bytes.
MOST_QUERY_BYTES = 8_000

Value = TypeVar("Value")


class Client:
    """A v1 client of one service, for any number of threads. Make it after the fork, close it once.

    `transport` carries the calls and `stream_transport` the bytes; without the second, the first
    carries both. `may_follow` decides about each link of a foreign service to another host before
    the link is returned or followed, and `may_connect(host, address)` about each address from which
    bytes of such a host are fetched. `on_wait` is called before each call. `request_id` returns the
    ID to send with it, and `on_call` gets the seconds that it took and its failure. Credentials and
    the ID go only to the service's own /rest paths.
    """

    def __init__(  # noqa: PLR0913  Everything that a test or another program may want to replace.
        self,
        base_url: str,
        credentials: Credentials | None,
        *,
        transport: httpx.BaseTransport | None = None,
        stream_transport: httpx.BaseTransport | None = None,
        naming: Naming | Literal["auto"] = "auto",
        dialect: Dialect | None = None,
        on_decision: Callable[[Dialect], None] | None = None,
        is_ours: bool = False,
        may_follow: LinkCheck = links.http_only,
        may_connect: AddressCheck | None = None,
        patience: Patience | None = None,
        on_wait: Callable[[], None] = lambda: None,
        request_id: Callable[[], str] = str,
        on_call: Callable[[float, Failure | None], None] = lambda _seconds, _failure: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        dialect = Dialect.ours() if is_ours else (dialect or Dialect())
        self.is_ours = is_ours
        self._transfer_rows = TransferRows()
        self._connection = ServiceConnection(
            Address(base_url),
            credentials,
            dialect=dialect if naming == "auto" else replace(dialect, naming=naming),
            on_decision=on_decision,
            transport=transport,
            stream_transport=stream_transport or transport,
            may_follow=links.any_of_ours if is_ours else may_follow,
            may_connect=may_connect,
            patience=patience or Patience(),
            on_wait=on_wait,
            request_id=request_id,
            on_call=on_call,
            clock=clock,
            sleep=sleep,
            now=now,
        )

    @property
    def base_url(self) -> str:
        return self._connection.address.base_url

    @property
    def dialect(self) -> Dialect:
        """Return what is known about the service so far; when it grows, `on_decision` is called."""
        return self._connection.dialect

    @property
    def health(self) -> Health:
        return self._connection.health

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.base_url}>"

    # Folders and files

    @overload
    def listing(self, folder_id: str | None = None) -> Listing: ...
    @overload
    def listing(self, folder_id: str | None, etag: str | None) -> Listing | Unchanged: ...
    def listing(self, folder_id: str | None = None, etag: str | None = None) -> Listing | Unchanged:
        """Return a folder, by default the root, or `Unchanged` if `etag` still matches."""
        return self._unless_known(
            calls.listing(folder_id, etag, has_links=not self.is_ours),
            etag,
            lambda body, new_etag: records.listing(body, folder_id, new_etag),
        )

    def create_folder(
        self, path: str, root_id: str = calls.ROOT_ID, *, is_parent_known: bool = False
    ) -> Created:
        """Create a folder. `path` is its full path from the root.

        The parent folder must exist. If the caller knows that it does, a 404 means that the service
        wants the older form, which uses `root_id`.
        """
        forms = calls.create_folder(self.dialect, path, root_id, is_parent_known=is_parent_known)
        return self._request(forms, lambda body: records.creation(body, path))

    def rename_folder(self, folder_id: str, name: str) -> None:
        self._perform(calls.rename_folder(folder_id, name))

    def delete_folder(self, folder_id: str) -> None:
        self._perform(calls.delete_folder(self.dialect, folder_id))

    def rename_file(self, file_id: str, name: str) -> None:
        self._perform(calls.rename_file(self.dialect, file_id, name))

    def delete_file(self, file_id: str) -> None:
        self._perform(calls.delete_file(self.dialect, file_id))

    def largest_files(self) -> tuple[LargeFile, ...]:
        """Return the library's largest files, if `is_ours`: the specification has no such list."""
        return self._request(calls.largest_files(), records.largest_files)

    def delete_together(self, files: Iterable[str], folders: Iterable[str]) -> DeletedBatch:
        """Delete so that it can be restored, if `is_ours`: the specification only deletes."""
        chosen = calls.selection(files, folders)
        return self._request(calls.delete_together(chosen), records.deletion)

    def deleted_items(self) -> Restorables:
        return self._request(calls.deleted_items(), records.deleted_entries)

    def restore(self, chosen: Mapping[str, str]) -> tuple[RestoredPlace, ...]:
        return self._request(calls.on_deleted("restore", chosen), records.restored_entries)

    def delete_for_good(self, chosen: Mapping[str, str]) -> DeletedBatch:
        return self._request(calls.on_deleted("delete", chosen), records.deletion)

    def place(
        self, act: Literal["move", "copy"], chosen: EntryIds, folder_id: str, if_taken: str = "ask"
    ) -> Placed:
        """Move or copy into a folder, if `is_ours`: the specification has neither."""
        what = {**calls.selection(chosen.files, chosen.folders), "if_taken": if_taken}
        return self._request(calls.place(act, what, folder_id), records.placement)

    def undo_move(self, batch: str) -> UndoneMove:
        return self._request(calls.undo_move(batch), records.undone_move)

    def unpack(self, file_id: str) -> Added:
        """Unpack a ZIP file into a new folder beside it, if `is_ours`."""
        return self._request(calls.unpack(file_id), records.addition)

    def undo_unpacking(self, transfer_id: str) -> UndoneMove:
        """Cancel an unpacking, or delete the folder that it created."""
        return self._request(calls.undo_unpacking(transfer_id), records.undone_move)

    def search(self, query: Mapping[str, str]) -> SearchResult:
        """Search the whole library, if `is_ours`: the specification has no search."""
        return self._request(calls.search(query), records.search_result)

    # Bytes. A service returns a link, or sends the bytes itself: then the Download is open, and
    # the caller closes it.

    def file_link(
        self,
        file_id: str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        *,
        inline: bool = False,
    ) -> Link | Download:
        """Request a file. `inline`: for display in a browser, which only our own service offers."""
        return self._bytes(calls.file(file_id, method, inline=inline and self.is_ours), headers)

    def folder_zip_link(
        self, folder_id: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> Link | Download:
        return self._bytes(calls.folder_zip(folder_id, method), headers)

    def zip_link(
        self,
        files: Iterable[str] = (),
        folders: Iterable[str] = (),
        headers: Mapping[str, str] | None = None,
        name: str = "",
    ) -> Link | Download:
        """Request a ZIP; raise `Rejected("selection_too_long")` if a foreign URL can't hold it.

        `name` is what to call it, if `is_ours`: the specification has no such field.
        """
        chosen = calls.selection(files, folders) | ({"name": name} if name and self.is_ours else {})
        if calls.query_bytes(chosen) <= MOST_QUERY_BYTES:
            return self._bytes(calls.zip_by_query(chosen), headers)
        if self.is_ours:
            return self._bytes(calls.zip_by_form(chosen), headers)
        raise Rejected("selection_too_long")

    def thumbnail(self, file_id: str) -> Link | Download:
        return self._bytes(calls.thumbnail(self.dialect, file_id))

    def image(self, file_id: str) -> Link | Download:
        return self._bytes(calls.image(file_id))

    def camera(self, file_id: str) -> Camera:
        """Return the camera of a picture, if `is_ours`: the specification has no such facts."""
        return self._request(calls.camera(file_id), records.camera)

    def scenes(self, file_id: str) -> Scenes:
        """Return chapters and filmstrip of a film, if `is_ours`: the specification has neither."""
        return self._request(calls.scenes(file_id), records.scenes)

    def hls(self, file_id: str) -> Playable:
        """Locate a playlist. Services answer in JSON, by a redirect, or with the playlist."""
        return self._playable(calls.hls(file_id))

    def mp4(self, file_id: str) -> Playable:
        return self._playable(calls.mp4(file_id))

    def picture(self, file_id: str, pixels: int) -> Link | Download:
        return self._bytes(calls.picture(file_id, pixels))

    def open(
        self,
        link: Link | str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        *,
        insists: bool = True,
    ) -> Download:
        """Open the bytes behind a link, for what the site streams itself. Each redirect is checked.

        Without `insists`, don't wait for a busy service.
        """
        url = links.resolve(link if isinstance(link, str) else link.url)
        return self._connection.open(url, headers, method, insists=insists)

    def whole(self, source: Link | Download, most_bytes: int) -> bytes:
        """Return all bytes of something small; raise `Unreadable("too_large")` if it isn't."""
        download = self.open(source) if isinstance(source, Link) else source
        return self._connection.whole(download, most_bytes)

    def check_message(self, download: Download) -> None:
        """Raise the refusal that a service sent in place of bytes, if it is one."""
        self._connection.check_message(download)

    def link_to(self, reference: str, page: str) -> str:
        """Resolve a reference in a page of the service, if that URL may be opened.

        `open` checks the URL again, since a token of ours may be kept for hours.
        """
        url = links.resolve(reference, httpx.URL(page))
        if not self._connection.may_open(url):
            raise Unreadable("refused_link")
        return str(url)

    def hls_url(self, file_id: str) -> str:
        """Return the URL at which the service itself sends a playlist, if it does so."""
        call, *_others = calls.hls(file_id)
        return str(self._connection.address.url_of(call.path, call.query))

    # Transfers

    def transfers(self, etag: str | None = None) -> Transfers | Unchanged:
        """Return all unfinished transfers, without the files that a listing of the root includes.

        This isn't in the specification: raise `NotFound` if the service has no such list.
        """
        return self._unless_known(
            calls.transfers(etag),
            etag,
            lambda body, new_etag: records.transfers(body, new_etag, self._transfer_rows.read),
        )

    def transfer(self, transfer_id: str) -> Transfer:
        forms = calls.transfer(self.dialect, transfer_id)
        return self._request(forms, lambda body: records.transfer(body, transfer_id))

    def add_magnet(self, magnet: str, folder_id: str | None = None) -> Added:
        return self._request(calls.add_magnet(self.dialect, magnet, folder_id), records.addition)

    def add_url(self, url: str, folder_id: str | None = None) -> Added:
        return self._request(calls.add_url(self.dialect, url, folder_id), records.addition)

    def add_file(
        self,
        name: str,
        stream: Readable,
        size_bytes: int,
        folder_id: str | None = None,
        *,
        as_file: bool = False,
    ) -> Added:
        """Send the stream as it is read. It is sent again only if it is seekable.

        `as_file`: keep torrents as files, if `is_ours`; other services may fetch them.
        """
        fields = calls.destination(folder_id)
        if as_file and self.is_ours:
            fields["as_file"] = "1"
        upload = Upload(name, stream, size_bytes, fields)
        if self.dialect.naming is None:
            self._learn_naming()
        return self._request(calls.add_file(self.dialect, upload), records.addition)

    def pause_transfer(self, transfer_id: str) -> None:
        """Pause a transfer, if `is_ours`: the specification can only delete it."""
        self._perform(calls.pause_transfer("pause", transfer_id))

    def resume_transfer(self, transfer_id: str) -> None:
        self._perform(calls.pause_transfer("resume", transfer_id))

    def delete_transfer(self, transfer_id: str) -> None:
        self._perform(calls.delete_transfer(self.dialect, transfer_id))

    # The account

    def account(self, within_seconds: float | None = None) -> Account:
        return self._request(calls.account(within_seconds), records.account)

    # Helpers

    def _request(self, forms: Sequence[Call], read: Callable[[Json], Value | None]) -> Value:
        return self._connection.ask(forms, lambda answer: _require(read(answer.body or {})))

    def _unless_known(
        self,
        forms: Sequence[Call],
        etag: str | None,
        read: Callable[[Json, str | None], Value | None],
    ) -> Value | Unchanged:
        def of(answer: Answer) -> Value | Unchanged:
            if answer.status == 304:
                return Unchanged(etag or "")
            return _require(read(answer.body or {}, answers.etag_of(answer.headers)))

        return self._connection.ask(forms, of)

    def _perform(self, forms: Sequence[Call]) -> None:
        self._connection.ask(forms, lambda answer: answer)

    def _bytes(
        self, forms: Sequence[Call], headers: Mapping[str, str] | None = None
    ) -> Link | Download:
        outcome = self._connection.fetch(forms, headers)
        return Link(outcome, self.is_ours) if isinstance(outcome, str) else outcome

    def _playable(self, forms: Sequence[Call]) -> Playable:
        outcome = self._connection.locate(forms)
        if isinstance(outcome, str):
            return Playable(outcome)
        if isinstance(outcome, bytes):
            return Playable()
        return _require(records.playable(outcome.body or {}))

    def _learn_naming(self) -> None:
        """Send a small request first, so that a large file isn't sent to a path that is missing."""
        with suppress(NotFound):
            self._perform(calls.transfer(self.dialect, calls.ROOT_ID))


def _require(value: Value | None) -> Value:
    if value is None:
        raise Unreadable("not_v1")
    return value
