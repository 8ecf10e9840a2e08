"""Calls as they go over the wire, and the operations that have two forms."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import quote, urlencode

from webui.v1.dialect import FORMS, NAMINGS, Dialect, Naming
from webui.v1.network.address import checked_id
from webui.v1.uploads import Upload

ROOT_ID = "0"
ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{1,200}"')


@dataclass(frozen=True, slots=True)
class Call:
    """One form of one operation. `decides` is what the dialect learns if the service knows it.

    `may_repeat`: calling twice does no more than once. `removes`: a repeat that finds nothing has
    succeeded. `names_something`: a 404 to one of two forms can mean that the thing is gone.
    `seconds`: for callers that wait no longer than this. `row_keys`: keys of arrays whose rows the
    client parses itself.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    upload: Upload | None = None
    upload_field: str = "file"
    decides: Mapping[str, str] = field(default_factory=dict)
    may_repeat: bool = False
    removes: bool = False
    names_something: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    row_keys: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return self.method not in ("GET", "HEAD")

    @property
    def is_add(self) -> bool:
        return self.method == "POST" and not self.names_something

    def content(self) -> bytes | Iterator[bytes] | None:
        if self.upload is not None:
            return self.upload.body(self.upload_field)
        return None if self.form is None else urlencode(self.form, errors="replace").encode()

    def content_headers(self) -> Mapping[str, str]:
        if self.upload is not None:
            return self.upload.headers(self.upload_field)
        if self.form is not None:
            return {"Content-Type": "application/x-www-form-urlencoded"}
        return {}


Forms = list[Call]


def act(path: str, form: Mapping[str, str]) -> Call:
    """Return the call of an action on several things, which may take as long as an add."""
    return Call("POST", path, form=form, names_something=False)


def if_none_match(etag: str | None) -> dict[str, str]:
    return {"If-None-Match": etag} if etag and ETAG.fullmatch(etag) else {}


def create_folder(
    dialect: Dialect, path: str, root_id: str, *, is_parent_known: bool = False
) -> Forms:
    """Return the forms of creating a folder.

    The older form renames a folder to the whole path of the new one. It is sent to the root, which
    a service that can only rename would refuse to rename. Below other folders, a 404 may also mean
    that one of them is gone.
    """
    may_be_gone = "/" in path and not is_parent_known
    older = Call("POST", f"folder/{checked_id(root_id)}/rename", form={"name": path})
    newer = Call("POST", "folder", form={"path": path}, names_something=may_be_gone)
    return _either(dialect, "folder_create", newer, older)


def rename_file(dialect: Dialect, file_id: str, name: str) -> Forms:
    path = f"{checked_id(file_id)}/rename"
    call = Call("POST", f"file/{path}", form={"rename_to": name})
    return _either(dialect, "file_rename", call, replace(call, path=path))


def delete(dialect: Dialect, noun: Literal["folder", "file"], its_id: str) -> Forms:
    path = f"{noun}/{checked_id(its_id)}"
    call = Call("DELETE", path, may_repeat=True, removes=True)
    alternative = replace(call, method="POST", path=f"{path}/delete")
    return _either(dialect, f"{noun}_delete", call, alternative)


def selection(files: Iterable[str], folders: Iterable[str]) -> dict[str, str]:
    rows = [{"type": "file", "id": _number(one)} for one in files]
    rows += [{"type": "folder", "id": _number(one)} for one in folders]
    return {"archive_arr": json.dumps(rows, separators=(",", ":"))}


def _number(value: str) -> int | str:
    return int(value) if checked_id(value).isdigit() else value


def query_bytes(query: Mapping[str, str]) -> int:
    return len(urlencode(query, quote_via=quote, safe=":,"))


def thumbnail(dialect: Dialect, file_id: str) -> Forms:
    path = f"{checked_id(file_id)}/thumbnail"
    call = Call("GET", f"file/{path}", may_repeat=True)
    return _either(dialect, "thumbnail", call, replace(call, path=path))


def transfer(dialect: Dialect, transfer_id: str) -> Forms:
    checked_id(transfer_id)
    return [
        Call("GET", f"{naming}/{transfer_id}", decides={"naming": naming}, may_repeat=True)
        for naming in _namings(dialect)
    ]


def delete_transfer(dialect: Dialect, transfer_id: str) -> Forms:
    checked_id(transfer_id)
    methods = {"primary": "DELETE", "alternative": "POST"}
    return [
        Call(
            methods[form],
            f"{naming}/{transfer_id}",
            decides={"naming": naming, "transfer_delete": form},
            may_repeat=True,
            removes=True,
        )
        for form in _forms(dialect.transfer_delete)
        for naming in _namings(dialect)
    ]


def add_magnet(dialect: Dialect, magnet: str, folder_id: str | None) -> Forms:
    form = {"magnet": magnet, **destination(folder_id)}
    return [_add(naming, "magnet", form) for naming in _namings(dialect)]


def add_url(dialect: Dialect, url: str, folder_id: str | None) -> Forms:
    """Send both fields in the torrent naming, since its services read one or the other."""
    where = destination(folder_id)
    forms: dict[Naming, dict[str, str]] = {
        "transfer": {"url": url, **where},
        "torrent": {"torrent_url": url, "url": url, **where},
    }
    return [_add(naming, "url", forms[naming]) for naming in _namings(dialect)]


def _add(naming: Naming, what: str, form: Mapping[str, str]) -> Call:
    return Call(
        "POST", f"{naming}/{what}", form=form, decides={"naming": naming}, names_something=False
    )


def add_file(dialect: Dialect, upload: Upload) -> Forms:
    base = Call("POST", "", upload=upload, names_something=False)
    calls = []
    if "transfer" in _namings(dialect):
        calls.append(replace(base, path="transfer/file", decides={"naming": "transfer"}))
    if "torrent" in _namings(dialect):
        paths = {"primary": "torrent/file", "alternative": "torrent/url"}
        calls += [
            replace(
                base,
                path=paths[form],
                upload_field="torrent_file",
                decides={"naming": "torrent", "file_add": form},
            )
            for form in _forms(dialect.file_add)
        ]
    return calls


def destination(folder_id: str | None) -> dict[str, str]:
    return {} if folder_id is None else {"folder_id": checked_id(folder_id)}


def _either(dialect: Dialect, name: str, primary: Call, alternative: Call) -> Forms:
    """Return the form that the service is known to understand, or both."""
    calls = {"primary": primary, "alternative": alternative}
    forms = _forms(getattr(dialect, name))
    return [replace(calls[form], decides={name: form}) for form in forms]


def _forms(decided: str | None) -> tuple[str, ...]:
    return (decided,) if decided else FORMS


def _namings(dialect: Dialect) -> tuple[Naming, ...]:
    return (dialect.naming,) if dialect.naming else NAMINGS
