"""Calls as they go over the wire, and what several of them send."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from urllib.parse import quote, urlencode

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


def get(path: str, query: Mapping[str, str] | None = None) -> Call:
    return Call("GET", path, query or {}, may_repeat=True)


def act(path: str, form: Mapping[str, str]) -> Call:
    """Return the call that adds something, or acts on several things, which may take as long."""
    return Call("POST", path, form=form, names_something=False)


def selection(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the form of several entries, each as its kind, `file` or `folder`, and its id."""
    files_first = sorted(entries, key=itemgetter(0))
    rows = [{"type": kind, "id": _number(its_id)} for kind, its_id in files_first]
    return {"archive_arr": json.dumps(rows, separators=(",", ":"))}


def _number(value: str) -> int | str:
    return int(value) if checked_id(value).isdigit() else value


def query_bytes(query: Mapping[str, str]) -> int:
    return len(urlencode(query, quote_via=quote, safe=":,"))


def destination(folder_id: str | None) -> dict[str, str]:
    return {} if folder_id is None else {"folder_id": checked_id(folder_id)}
