"""The client for any service that speaks v1, ours or another."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Literal, TypeVar, cast

import httpx

from webui.v1 import answers, calls, links, own_records, records
from webui.v1.answers import Answer
from webui.v1.calls import Call
from webui.v1.connection import ServiceConnection
from webui.v1.dialect import NAMINGS, Naming
from webui.v1.errors import NotFound, Rejected
from webui.v1.links import Download, Link
from webui.v1.network.address import checked_id
from webui.v1.transfer_rows import TransferRows
from webui.v1.uploads import Readable, Upload
from webui.v1.values import reference_of

# Servers refuse request lines over some 8,190 bytes.
MOST_QUERY_BYTES = 8_000

Value = TypeVar("Value")


class Client(ServiceConnection):
    """A v1 client of one service, for any number of threads. Make it after the fork, close it once.

    Some operations have two forms. The client sends both until the dialect knows which one the
    service understands.
    """

    # Folders and files

    def listing(
        self, folder_id: str = calls.ROOT_ID, etag: str | None = None
    ) -> records.Listing | records.Unchanged:
        """Return a folder, by default the root, or `Unchanged` if `etag` still matches."""
        is_root = folder_id in ("", calls.ROOT_ID)
        path = "folder" if is_root else f"folder/{checked_id(folder_id)}"
        call = calls.get(path, {"links": "0"} if self.is_ours else {})
        return self._unless_known(
            call, etag, lambda body, new_etag: records.listing(body, folder_id, new_etag)
        )

    def create_folder(
        self, path: str, root_id: str = calls.ROOT_ID, *, is_parent_known: bool = False
    ) -> str | None:
        """Create a folder. Return its id, which not every service sends.

        `path` is its full path from the root. The parent folder must exist. If the caller knows
        that it does, a 404 means that the service wants the older form; else the parent may be
        gone. The older form renames a folder to the whole path of the new one. It is sent to the
        root, `root_id`, which a service that can only rename would refuse to rename.
        """
        may_be_gone = "/" in path and not is_parent_known
        newer = Call("POST", "folder", form={"path": path}, names_something=may_be_gone)
        older = Call("POST", f"folder/{checked_id(root_id)}/rename", form={"name": path})
        forms = self._either("folder_create", newer, older)
        return reference_of(self._read(forms, lambda body: body).get("id"))

    def rename_folder(self, folder_id: str, name: str) -> None:
        path = f"folder/{checked_id(folder_id)}/rename"
        self._perform([Call("POST", path, form={"rename_to": name})])

    def delete_folder(self, folder_id: str) -> None:
        self._delete("folder", folder_id)

    def rename_file(self, file_id: str, name: str) -> None:
        path = f"{checked_id(file_id)}/rename"
        call = Call("POST", f"file/{path}", form={"rename_to": name})
        self._perform(self._either("file_rename", call, replace(call, path=path)))

    def delete_file(self, file_id: str) -> None:
        self._delete("file", file_id)

    def _delete(self, noun: Literal["folder", "file"], its_id: str) -> None:
        path = f"{noun}/{checked_id(its_id)}"
        call = Call("DELETE", path, may_repeat=True, removes=True)
        other = replace(call, method="POST", path=f"{path}/delete")
        self._perform(self._either(f"{noun}_delete", call, other))

    def largest_files(self) -> tuple[own_records.FoundEntry, ...]:
        """Return the library's largest files, if `is_ours`: the specification has no such list."""
        return self._list_own(calls.get("files/largest"), "files", own_records.FoundEntry)

    def delete_together(self, entries: Iterable[tuple[str, str]]) -> own_records.Batch:
        """Delete so that it can be restored, if `is_ours`: the specification only deletes."""
        return self._ask_own(calls.act("deleted", calls.selection(entries)), own_records.Batch)

    def deleted_items(self) -> own_records.Restorables:
        return self._ask_own(calls.get("deleted"), own_records.Restorables)

    def restore(self, chosen: Mapping[str, str]) -> tuple[own_records.RestoredPlace, ...]:
        call = calls.act("deleted/restore", chosen)
        return self._list_own(call, "items", own_records.RestoredPlace)

    def delete_for_good(self, chosen: Mapping[str, str]) -> own_records.Batch:
        return self._ask_own(calls.act("deleted/delete", chosen), own_records.Batch)

    def place(
        self,
        act: Literal["move", "copy"],
        entries: Iterable[tuple[str, str]],
        folder_id: str,
        if_taken: str,
        name: str = "",
    ) -> own_records.Batch:
        """Move or copy into a folder, if `is_ours`: the specification has neither.

        A single entry may get another `name`.
        """
        where = {"if_taken": if_taken, "folder_id": checked_id(folder_id)}
        if name:
            where["name"] = name
        return self._ask_own(calls.act(act, calls.selection(entries) | where), own_records.Batch)

    def undo_move(self, batch: str) -> own_records.UndoneMove:
        call = calls.act("move/undo", {"batch": checked_id(batch)})
        return self._ask_own(call, own_records.UndoneMove)

    def unpack(self, file_id: str) -> records.Added:
        """Unpack a ZIP file into a new folder beside it, if `is_ours`."""
        return self._read([Call("POST", f"file/{checked_id(file_id)}/unpack")], records.addition)

    def undo_unpacking(self, transfer_id: str) -> own_records.UndoneMove:
        """Cancel an unpacking, or delete the folder that it created."""
        call = Call("POST", "unpack/undo", form={"transfer_id": checked_id(transfer_id)})
        return self._ask_own(call, own_records.UndoneMove)

    def search(self, query: Mapping[str, str]) -> own_records.SearchResult:
        """Search the whole library, if `is_ours`: the specification has no search."""
        return self._ask_own(calls.get("search", query), own_records.SearchResult)

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
        query = {"inline": "1"} if inline and self.is_ours else {}
        call = Call(method, f"file/{checked_id(file_id)}", query, may_repeat=True)
        return self.fetch([call], headers)

    def folder_zip_link(
        self, folder_id: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> Link | Download:
        call = Call(method, f"folder/{checked_id(folder_id)}/download", may_repeat=True)
        return self.fetch([call], headers)

    def zip_link(
        self,
        entries: Iterable[tuple[str, str]],
        headers: Mapping[str, str] | None = None,
        name: str = "",
    ) -> Link | Download:
        """Request a ZIP; raise `Rejected("selection_too_long")` if a foreign URL can't hold it.

        `name` is what to call it, if `is_ours`: the specification has no such field.
        """
        chosen = calls.selection(entries)
        if name and self.is_ours:
            chosen["name"] = name
        if calls.query_bytes(chosen) <= MOST_QUERY_BYTES:
            return self.fetch([calls.get("zip", chosen)], headers)
        if self.is_ours:
            return self.fetch([Call("POST", "zip", form=chosen, may_repeat=True)], headers)
        raise Rejected("selection_too_long")

    def thumbnail(self, file_id: str) -> Link | Download:
        path = f"{checked_id(file_id)}/thumbnail"
        call = calls.get(f"file/{path}")
        return self.fetch(self._either("thumbnail", call, replace(call, path=path)))

    def image(self, file_id: str) -> Link | Download:
        return self.fetch([calls.get(f"file/{checked_id(file_id)}/image")])

    def picture(self, file_id: str, pixels: int) -> Link | Download:
        """Request a picture, in this size if the service offers sizes.

        Never repeat this: a page of pictures that wait for a busy service would take all threads.
        """
        path = f"file/{checked_id(file_id)}/image"
        return self.fetch([Call("GET", path, {"pixels": str(pixels)})])

    def camera(self, file_id: str) -> own_records.Camera:
        """Return the camera of a picture, if `is_ours`: the specification has no such facts."""
        call = calls.get(f"file/{checked_id(file_id)}/camera")
        return self._ask_own(call, own_records.Camera)

    def scenes(self, file_id: str) -> own_records.Scenes:
        """Return chapters and filmstrip of a film, if `is_ours`: the specification has neither."""
        call = calls.get(f"file/{checked_id(file_id)}/scenes")
        return self._ask_own(call, own_records.Scenes)

    def hls(self, file_id: str) -> records.Playable:
        return self.locate(calls.get(f"file/{checked_id(file_id)}/hls"))

    def mp4(self, file_id: str) -> records.Playable:
        return self.locate(calls.get(f"file/{checked_id(file_id)}/mp4"))

    def link_to(self, reference: str, page: str) -> str:
        """Resolve a reference in a page of the service, if that URL may be opened.

        `open` checks the URL again, since a token of ours may be kept for hours.
        """
        return str(self._check_url(links.resolve(reference, httpx.URL(page))))

    def hls_url(self, file_id: str) -> str:
        """Return the URL at which the service itself sends a playlist, if it does so."""
        return str(self.address.url_of(f"file/{checked_id(file_id)}/hls", {}))

    # Transfers

    def transfers(self, etag: str | None = None) -> records.Transfers | records.Unchanged:
        """Return all unfinished transfers, without the files that a listing of the root includes.

        This isn't in the specification: raise `NotFound` if the service has no such list.
        """
        call = Call("GET", "transfer", may_repeat=True, row_keys=("transfers", "torrents"))
        return self._unless_known(
            call,
            etag,
            lambda body, new_etag: records.transfers(body, new_etag, self._transfer_rows.read),
        )

    @cached_property
    def _transfer_rows(self) -> TransferRows:
        return TransferRows()

    def transfer(self, transfer_id: str) -> records.Transfer:
        forms = self._in_namings(calls.get(checked_id(transfer_id)))
        return self._read(forms, lambda body: records.transfer(body, transfer_id))

    def _in_namings(self, *forms: Call) -> list[Call]:
        """Return each form in the naming that the service is known to use, or else in both."""
        return [
            replace(form, path=f"{naming}/{form.path}", decides={"naming": naming, **form.decides})
            for form in forms
            for naming in self._namings
        ]

    def transfer_files(self, transfer_id: str) -> tuple[own_records.TransferFile, ...]:
        """Return the files of a torrent, if `is_ours`; none while they are unknown."""
        call = calls.get(f"transfer/{checked_id(transfer_id)}/files")
        return self._list_own(call, "files", own_records.TransferFile)

    def choose_files(self, transfer_id: str, wanted: Iterable[int]) -> records.Added:
        """Want these files of a torrent and no others, if `is_ours`.

        If the torrent was done, another transfer fetches those that are missing.
        """
        form = {"wanted": ",".join(map(str, wanted))}
        call = Call("POST", f"transfer/{checked_id(transfer_id)}/files", form=form)
        return self._read([call], records.addition)

    def transfer_details(self, transfer_id: str) -> own_records.TransferFacts:
        """Return what only one transfer's own page shows, if `is_ours`."""
        call = calls.get(f"transfer/{checked_id(transfer_id)}/details")
        return self._ask_own(call, own_records.TransferFacts)

    def _target(self, folder_id: str | None, *, chooses: bool) -> dict[str, str]:
        """Return the fields of each way to add.

        `chooses`: stop once the torrent's files are known, if `is_ours`; others start at once.
        """
        return calls.destination(folder_id) | ({"choose": "1"} if chooses and self.is_ours else {})

    def add_magnet(
        self, magnet: str, folder_id: str | None = None, *, chooses: bool = False
    ) -> records.Added:
        form = {"magnet": magnet, **self._target(folder_id, chooses=chooses)}
        return self._read(self._in_namings(calls.act("magnet", form)), records.addition)

    def add_url(
        self, url: str, folder_id: str | None = None, *, chooses: bool = False
    ) -> records.Added:
        """Send both fields in the torrent naming, since its services read one or the other."""
        form = {"url": url, **self._target(folder_id, chooses=chooses)}
        both = {"torrent_url": url, **form}
        forms = [
            replace(call, form=both) if call.decides["naming"] == "torrent" else call
            for call in self._in_namings(calls.act("url", form))
        ]
        return self._read(forms, records.addition)

    def add_file(  # noqa: PLR0913  Each is a part of the form.
        self,
        name: str,
        stream: Readable,
        size_bytes: int | None,
        folder_id: str | None = None,
        *,
        as_file: bool = False,
        chooses: bool = False,
        replaces: bool = False,
        present: str | None = None,
    ) -> records.Added:
        """Send the stream as it is read. It is sent again only if it is seekable. If `is_ours`, its
        size may be unknown.

        `as_file`: keep torrents as files, if `is_ours`; other services may fetch them. `replaces`:
        delete the file of this name, if `is_ours`. `present`: the SHA-1 that this file must have,
        empty if there must be none.
        """
        fields = self._target(folder_id, chooses=chooses)
        if as_file and self.is_ours:
            fields["as_file"] = "1"
        if replaces and self.is_ours:
            fields["replace"] = "1"
        if present is not None and self.is_ours:
            fields["present"] = present
        upload = Upload(name, stream, size_bytes, fields)
        if self.dialect.naming is None:
            # Find it out by a small request, so that no large file goes to a path that is missing.
            with suppress(NotFound):
                self._perform(self._in_namings(calls.get(calls.ROOT_ID)))
        return self._read(self._upload_forms(upload), records.addition)

    def _upload_forms(self, upload: Upload) -> list[Call]:
        call = Call("POST", "transfer/file", upload=upload, names_something=False)
        torrent = replace(call, path="torrent/file", upload_field="torrent_file")
        either = self._either("file_add", torrent, replace(torrent, path="torrent/url"))
        forms: dict[Naming, list[Call]] = {"transfer": [call], "torrent": either}
        return [
            replace(form, decides={"naming": naming, **form.decides})
            for naming in self._namings
            for form in forms[naming]
        ]

    def change_transfers(
        self,
        transfer_ids: Iterable[str],
        action: own_records.TransferAction,
        *,
        before_id: str = "",
    ) -> tuple[own_records.OwnId, ...]:
        """Pause, resume, or reorder transfers together, if `is_ours`. Return those that changed."""
        form = {"ids": ",".join(map(checked_id, transfer_ids)), "action": action}
        if before_id:
            form["before"] = checked_id(before_id)
        call = calls.act("transfers/change", form)
        return self._ask_own(call, own_records.TransferChange).changed

    def delete_transfer(self, transfer_id: str) -> None:
        call = Call("DELETE", checked_id(transfer_id), may_repeat=True, removes=True)
        either = self._either("transfer_delete", call, replace(call, method="POST"))
        self._perform(self._in_namings(*either))

    # Limits, which only our own service has

    def limits(self) -> own_records.Limits:
        return self._ask_own(calls.get("limits"), own_records.Limits)

    def set_limits(self, fields: Mapping[str, str]) -> own_records.Limits:
        """Change some limits, and return all. `switch` and `until` change the speeds for a time."""
        return self._ask_own(calls.act("limits", fields), own_records.Limits)

    def transfer_limits(self, transfer_id: str) -> own_records.OwnLimits:
        call = calls.get(f"transfer/{checked_id(transfer_id)}/limits")
        return self._ask_own(call, own_records.OwnLimits)

    def limit_transfer(self, transfer_id: str, fields: Mapping[str, str]) -> own_records.OwnLimits:
        """Change some limits of one transfer. Those that are empty are the installation's again."""
        call = Call("POST", f"transfer/{checked_id(transfer_id)}/limits", form=fields)
        return self._ask_own(call, own_records.OwnLimits)

    def reachability(self) -> own_records.Reachability:
        return self._ask_own(calls.get("reachability"), own_records.Reachability)

    def traffic(self, period: own_records.TrafficPeriod) -> own_records.TrafficSums:
        call = Call("GET", "traffic", query={"period": period}, may_repeat=True)
        return self._ask_own(call, own_records.TrafficSums)

    # The account

    def account(self, within_seconds: float | None = None) -> records.Account:
        call = Call("GET", "user", may_repeat=True, seconds=within_seconds)
        return self._read([call], records.account)

    # Helpers

    def _read(self, forms: Sequence[Call], read: Callable[[records.Json], Value | None]) -> Value:
        return self.ask(forms, lambda answer: read(answer.body or {}))

    def _ask_own(self, call: Call, kind: type[Value]) -> Value:
        """Ask our own service, which needs no other form and sends exactly this record."""
        return self._read([call], lambda body: own_records.convert(body, kind))

    def _list_own(self, call: Call, key: str, kind: type[Value]) -> tuple[Value, ...]:
        return self._read([call], lambda body: own_records.rows(body, key, kind))

    def _unless_known(
        self, call: Call, etag: str | None, read: Callable[[records.Json, str | None], Value | None]
    ) -> Value | records.Unchanged:
        def of(answer: Answer) -> Value | records.Unchanged | None:
            if answer.status == 304:
                return records.Unchanged(etag or "")
            return read(answer.body or {}, answers.etag_of(answer.headers))

        if etag and calls.ETAG.fullmatch(etag):
            call = replace(call, headers={"If-None-Match": etag})
        return cast("Value | records.Unchanged", self.ask([call], of))

    def _perform(self, forms: Sequence[Call]) -> None:
        self.ask(forms, lambda answer: answer)

    def _either(self, name: str, primary: Call, alternative: Call) -> list[Call]:
        """Return the form that the service is known to understand, or both."""
        forms = {"primary": primary, "alternative": alternative}
        decided = getattr(self.dialect, name)
        return [
            replace(call, decides={name: form})
            for form, call in forms.items()
            if decided in (None, form)
        ]

    @property
    def _namings(self) -> tuple[Naming, ...]:
        return (self.dialect.naming,) if self.dialect.naming else NAMINGS
