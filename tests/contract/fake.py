"""An in-memory v1 for tests: a model of the specification, without code of the service.

FakeV1 is a transport for httpx. `calls` lists the requests; `answers` replaces the next answers of
a path, to misbehave.
"""

import base64
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any
from unicodedata import normalize
from urllib.parse import parse_qs, parse_qsl, quote, urlsplit

import httpx

ROOT = 4_000_000_001  # ids exceed 32 bits
SPACE = 10**9
NOW = "2026-09-01 12:00:00"
FORBIDDEN = re.compile(r"[/\x00-\x1f\x7f-\x9f]")
VIDEOS = (".mp4", ".mkv", ".avi", ".webm")


class Refused(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(self, status: int, reason: str, **more: Any) -> None:
        super().__init__(status, reason)
        self.status, self.reason, self.more = status, reason, more


@dataclass
class Item:
    """A folder, or a file if it has content."""

    id: int
    parent: int
    name: str
    content: bytes | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """Fields of the record that add to or replace the usual ones."""


@dataclass
class Transfer:
    id: int
    title: str
    hash: str
    folder: int
    file: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """Fields of the record that add to or replace the usual ones."""

    @property
    def is_listed(self) -> bool:
        return self.file is None and self.facts.get("progress") != 101


@dataclass
class Body:
    fields: dict[str, Any]
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def first(self, *names: str) -> str | None:
        return next((self.fields[name] for name in names if self.fields.get(name)), None)

    @property
    def file(self) -> tuple[str, bytes] | None:
        return self.files.get("file") or self.files.get("torrent_file")


class FakeV1(httpx.BaseTransport):
    def __init__(self, email: str, password: str) -> None:
        self.email = email
        self._basic = base64.b64encode(f"{email}:{password}".encode()).decode()
        self.items = {ROOT: Item(ROOT, -1, "")}
        self.transfers: dict[int, Transfer] = {}
        self.calls: list[tuple[str, str]] = []
        self.deleted: dict[int, tuple[int, Item, list[Item]]] = {}
        self.answers: dict[str, list[httpx.Response]] = {}
        self.traffic: dict[str, dict[str, Any]] = {}  # by period
        self.sends_content = False  # itself, instead of a redirect
        self.keeps_folder_id = True
        # Methods and paths that this service doesn't know, and its answers there.
        self.unknown: dict[tuple[str, str], Callable[[], httpx.Response]] = {}
        self.instead: Callable[[], httpx.Response] | None = None  # of the bytes of files and ZIPs
        self._last_id = ROOT
        self.revision = 0

    # Requests

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        path = re.sub("/+", "/", request.url.path)
        self.calls.append((request.method, path))
        if self.answers.get(path):
            return self.answers[path].pop(0)
        if path.startswith("/content/"):
            return self._content(request, path)
        try:
            return self.answer(request, path)
        except Refused as refused:
            return refusal(refused)

    def answer(self, request: httpx.Request, path: str) -> httpx.Response:
        if request.headers.get("authorization") != f"Basic {self._basic}":
            raise Refused(401, "access_denied")
        if (request.method, path) in self.unknown:
            return self.unknown[request.method, path]()
        methods = {}
        for method, pattern, view in ROUTES:
            if match := re.fullmatch(pattern, path):
                methods[method] = (view, match.groupdict())
        if not methods:
            raise Refused(404, "not_found")
        method = "GET" if request.method == "HEAD" else request.method
        if method not in methods:
            raise Refused(405, "method_not_allowed", allow=", ".join(methods))
        view, ids = methods[method]
        facts = view(self, request, **{name: int(value) for name, value in ids.items()})
        if isinstance(facts, httpx.Response):
            return facts
        if method != "GET":
            self.revision += 1
        return httpx.Response(200, json={"result": True, "code": 200} | facts)

    # Folders

    def show(self, request: httpx.Request, folder: int = ROOT) -> httpx.Response:
        here = self.folder(folder)
        etag = f'"{here.id}-{self.revision}"'
        if request.headers.get("if-none-match") == etag:
            return httpx.Response(304, headers={"etag": etag})
        headers = {"etag": etag} | ({"ferry-keeps": "folder_id"} if self.keeps_folder_id else {})
        return httpx.Response(200, json=self.listing(here), headers=headers)

    def listing(self, here: Item) -> dict[str, Any]:
        inside = [item for item in self.items.values() if item.parent == here.id]
        running = [each for each in self.transfers.values() if each.is_listed]
        torrents = [listed(each) for each in running] if here.id == ROOT else []
        return {
            **self._space(),
            "saw_walkthrough": 1,
            "id": here.id,
            "timestamp": NOW,
            "name": here.name,
            "path": here.name,
            "fullname": self.path_of(here),
            "size": self.size_of(here),
            "parent": here.parent,
            "parent_id": here.parent,
            "type": "folder",
            "folders": [self._folder_record(each) for each in inside if each.content is None],
            "files": [file_record(each) for each in inside if each.content is not None],
            "torrents": torrents,
            "transfers": torrents,
            "tasks": [],
            "album_groups": [],
            "indexes": [],
            "result": True,
            "code": 200,
        }

    def largest(self, _request: httpx.Request) -> dict[str, Any]:
        files = [item for item in self.items.values() if item.content is not None]
        files.sort(key=lambda item: (len(item.content), item.id), reverse=True)
        return {"files": [self._large_record(item) for item in files[:100]]}

    def _large_record(self, item: Item) -> dict[str, Any]:
        fields = ("id", "name", "size", "hash", "folder_id", "last_update")
        facts = {name: fact for name, fact in file_record(item).items() if name in fields}
        return facts | {"folder": self.path_of(self.items[item.parent])}

    def delete_together(self, request: httpx.Request) -> dict[str, Any]:
        chosen = json.loads(body_of(request).first("archive_arr") or "[]")
        batch, count = self.new_id(), 0
        for each in chosen:
            item = self.items.get(each["id"])
            if item is None:
                continue
            inside = self._with_all_below(item)
            for one in inside:
                del self.items[one.id]
            self.deleted[self.new_id()] = (batch, item, inside)
            count += 1
        self.revision += 1
        return {"batch": batch if count else 0, "count": count, "result": True, "code": 200}

    def _with_all_below(self, item: Item) -> list[Item]:
        below = [each for each in self.items.values() if each.parent == item.id]
        return [item, *(one for each in below for one in self._with_all_below(each))]

    def deleted_items(self, _request: httpx.Request) -> dict[str, Any]:
        rows = [
            {
                "id": number,
                "batch": batch,
                "type": "folder" if item.content is None else "file",
                "entry_id": item.id,
                "name": item.name,
                "folder": self.path_of(self.items[item.parent])
                if item.parent in self.items
                else "",
                "size": sum(len(each.content or b"") for each in inside),
                "deleted": NOW,
            }
            for number, (batch, item, inside) in reversed(self.deleted.items())
            for parent in [self.items.get(item.parent)]
        ]
        size = sum(row["size"] for row in rows)
        return {"items": rows, "size": size, "days": 30, "has_more": False, "result": True}

    def restore_deleted(self, request: httpx.Request) -> dict[str, Any]:
        rows = []
        for number in self._chosen_deleted(request):
            _batch, item, inside = self.deleted.pop(number)
            item.parent = item.parent if item.parent in self.items else ROOT
            self.items |= {each.id: each for each in inside}
            facts = {"entry_id": item.id, "folder_id": item.parent, "name": item.name}
            rows.append({"id": item.id} | facts)
        self.revision += 1
        return {"items": rows, "result": True, "code": 200}

    def purge_deleted(self, request: httpx.Request) -> dict[str, Any]:
        numbers = self._chosen_deleted(request)
        for number in numbers:
            del self.deleted[number]
        return {"batch": 0, "count": len(numbers), "result": True, "code": 200}

    def _chosen_deleted(self, request: httpx.Request) -> list[int]:
        body = body_of(request)
        ids, batch = (body.first("ids") or "").split(","), body.first("batch")
        return [
            number
            for number, (its_batch, *_rest) in self.deleted.items()
            if number <= int(body.first("until") or number)
            and (str(number) in ids or str(its_batch) == batch or body.first("all"))
        ]

    def search(self, request: httpx.Request) -> dict[str, Any]:
        """Find names that contain every word, the newest first: all that pages need."""
        query = request.url.params
        words, types = query.get("q", "").lower().split(), query.get("types", "").split(",")
        items = sorted(self.items.values(), key=lambda item: item.id, reverse=True)
        items = [
            item
            for item in items
            if item.id != ROOT and all(word in item.name.lower() for word in words)
        ]
        files = [item for item in items if item.content is not None]
        if any(types):
            files = [item for item in files if item.name.rpartition(".")[2].lower() in types]
        is_open = (bool(words) and not any(types)) or query.get("only") == "folders"
        folders = [item for item in items if item.content is None and is_open]
        if top := int(query.get("folder_id", "0")):
            folders, files = (
                [each for each in some if self.is_below(each, top)] for some in (folders, files)
            )
        files = [] if query.get("only") == "folders" else files
        most = int(query.get("limit", "200"))
        return {
            "folders": [self._located_folder(each) for each in folders[:most]],
            "files": [self._large_record(each) for each in files[:most]],
            "has_more": max(len(folders), len(files)) > most,
            "count": len(folders) + len(files),
            "has_uncounted": False,
            "result": True,
            "code": 200,
        }

    def is_below(self, item: Item, top: int) -> bool:
        while item.id != ROOT:
            item = self.items[item.parent]
            if item.id == top:
                return True
        return False

    def _located_folder(self, item: Item) -> dict[str, Any]:
        parent = self.items[item.parent]
        facts = {"id": item.id, "name": item.name, "size": self.size_of(item)}
        place = {"folder_id": parent.id, "folder": self.path_of(parent)}
        return facts | place | {"last_update": NOW}

    def create(self, request: httpx.Request) -> dict[str, Any]:
        path = body_of(request).first("path")
        if path is None:
            raise Refused(400, "path_missing")
        return self._created(path)

    def _created(self, path: str) -> dict[str, Any]:
        *above, name = path.strip("/").split("/")
        parent = self.items[ROOT]
        for each in above:
            parent = self._child(parent.id, each)
        made = self.add(name, parent.id)
        return {"success": True, "id": str(made.id), "path": self.path_of(made)}

    def rename_folder(self, request: httpx.Request, folder: int) -> dict[str, Any]:
        body = body_of(request)
        new_name, name = body.first("rename_to"), body.first("name")
        here = self.folder(folder)
        if new_name is None and name is not None and (here.id == ROOT or "/" in name):
            return self._created(name)
        return self._rename(here, new_name or name)

    def rename_file(self, request: httpx.Request, file: int) -> dict[str, Any]:
        return self._rename(self.file(file), body_of(request).first("rename_to", "name"))

    def _rename(self, item: Item, name: str | None) -> dict[str, Any]:
        if name is None:
            raise Refused(400, "rename_to_missing")
        self._check(name, item.parent, but=item)
        item.name = name
        return {"success": True}

    def delete_folder(self, _request: httpx.Request, folder: int) -> dict[str, Any]:
        doomed = self.folder(folder)
        for item in [each for each in self.items.values() if each.parent == doomed.id]:
            if item.content is None:
                self.delete_folder(_request, item.id)
            else:
                del self.items[item.id]
        del self.items[doomed.id]
        return {"success": True}

    def download_folder(self, request: httpx.Request, folder: int) -> httpx.Response:
        here = self.folder(folder)
        return self._found(request, f"/content/zip/{here.id}/{here.name}.zip")

    # Files

    def download_file(self, request: httpx.Request, file: int) -> httpx.Response:
        return self._found(request, f"/content/file/{self.file(file).id}")

    def delete_file(self, _request: httpx.Request, file: int) -> dict[str, Any]:
        del self.items[self.file(file).id]
        return {"success": True}

    def convert(self, _request: httpx.Request, file: int) -> dict[str, Any]:
        if not self.file(file).name.endswith(VIDEOS):
            raise Refused(422, "cannot_convert")
        return {"url": f"https://v1.example/content/media/{file}"}

    def camera(self, _request: httpx.Request, file: int) -> dict[str, Any]:
        return self.file(file).facts.get("camera", {})

    def scenes(self, _request: httpx.Request, file: int) -> dict[str, Any]:
        return self.file(file).facts.get("scenes", {"chapters": []})

    def picture(self, _request: httpx.Request, file: int) -> httpx.Response:
        self.file(file)
        raise Refused(404, "not_found")

    # Transfers

    def index(self, request: httpx.Request) -> httpx.Response:
        etag = f'"t{self.revision}"'
        if request.headers.get("if-none-match") == etag:
            return httpx.Response(304, headers={"etag": etag})
        torrents = [listed(each) for each in self.transfers.values() if each.is_listed]
        facts = {**self._space(), "result": True, "torrents": torrents, "transfers": torrents}
        return httpx.Response(200, json=facts, headers={"etag": etag})

    def show_transfer(self, _request: httpx.Request, transfer: int) -> dict[str, Any]:
        one = self.transfer(transfer)
        return {
            **listed(one),
            **self._space(),
            "title": one.title,
            "folder_id": one.folder,
            "folder_created_id": None,
            "type": "torrent",
            "timestamp": NOW,
        }

    def add_magnet(self, request: httpx.Request) -> dict[str, Any]:
        body = body_of(request)
        magnet = body.first("magnet")
        if magnet is None:
            raise Refused(400, "no_torrent_passed")
        return self._magnet(magnet, body)

    def _magnet(self, magnet: str, body: Body) -> dict[str, Any]:
        query = parse_qs(urlsplit(magnet).query)
        match = re.fullmatch("urn:btih:([0-9a-f]{40})", query.get("xt", [""])[0])
        if not magnet.startswith("magnet:?") or match is None:
            raise Refused(422, "parsing_error")
        return self._added(query.get("dn", [match[1]])[0], match[1], body)

    def add_url(self, request: httpx.Request) -> dict[str, Any]:
        body = body_of(request)
        url = body.first("url", "torrent_url")
        if body.file:
            return self.add_torrent(request)
        if url is None:
            raise Refused(400, "no_torrent_passed")
        if url.startswith("magnet:"):
            return self._magnet(url, body)
        return self._added(urlsplit(url).path.rpartition("/")[2], "", body)

    def add_torrent(self, request: httpx.Request) -> dict[str, Any]:
        body = body_of(request)
        if body.file is None:
            raise Refused(400, "no_torrent_passed")
        torrent = torrent_of(body.file[1])
        if torrent is None:
            raise Refused(400, "not_a_torrent")
        return self._added(*torrent, body)

    def add_file(self, request: httpx.Request) -> dict[str, Any]:
        body = body_of(request)
        if body.file is None:
            raise Refused(400, "no_torrent_passed")
        if torrent_of(body.file[1]) and body.first("as_file") != "1":
            return self.add_torrent(request)
        name, content = body.file
        kept = self.add(self._free(name, self._destination(body)), self._destination(body), content)
        return self._added(kept.name, "", body, kept.id)

    def _added(self, title: str, hash_: str, body: Body, file: int | None = None) -> dict[str, Any]:
        known = [each for each in self.transfers.values() if hash_ and each.hash == hash_]
        folder = self._destination(body)
        one = known[0] if known else Transfer(self.new_id(), title, hash_, folder, file)
        self.transfers[one.id] = one
        if body.first("choose"):
            one.facts |= {"state": "stopped", "stopped": 1, "reason": "choose_files"}
        return {
            "success": True,
            "status_code": 200,
            "id": one.id,
            "user_torrent_id": one.id,
            "title": one.title,
            "name": one.title,
            "torrent_hash": one.hash,
            **({"reason": one.facts["reason"]} if one.facts.get("reason") else {}),
        }

    def _destination(self, body: Body) -> int:
        folder_id = str((self.keeps_folder_id and body.fields.get("folder_id")) or 0)
        if not folder_id.isdecimal():
            raise Refused(422, "folder_id_unreadable")
        return self.folder(int(folder_id)).id

    def delete_transfer(self, _request: httpx.Request, transfer: int) -> dict[str, Any]:
        del self.transfers[self.transfer(transfer).id]
        return {"success": True}

    def pause_transfer(self, _request: httpx.Request, transfer: int) -> dict[str, Any]:
        self.transfer(transfer).facts |= {"state": "stopped", "stopped": 1}
        return {"result": True, "code": 200}

    def resume_transfer(self, _request: httpx.Request, transfer: int) -> dict[str, Any]:
        self.transfer(transfer).facts |= {"state": "queued", "stopped": 0}
        return {"result": True, "code": 200}

    def change_transfers(self, request: httpx.Request) -> dict[str, Any]:
        form = body_of(request).fields
        ids = [int(each) for each in form["ids"].split(",") if int(each) in self.transfers]
        act, undone = form["action"], [each for each in ids if self.transfers[each].file is None]
        state = {"pause": "stopped", "resume": "queued"}.get(act)
        if state:
            undone = [each for each in undone if self._may_become(each, state)]
            for each in undone:
                self.transfers[each].facts |= {"state": state, "stopped": int(state == "stopped")}
        else:
            order = moved(list(self.transfers), undone, act, int(form.get("before", 0)))
            self.transfers = {each: self.transfers[each] for each in order}
        self.revision += 1
        return {"result": True, "code": 200, "changed": undone}

    def _may_become(self, transfer: int, state: str) -> bool:
        before = self.transfers[transfer].facts.get("state", "queued")
        if state == "queued":
            return before == "stopped"
        return before in ("queued", "metadata", "downloading", "stalled", "no_room")

    def transfer_files(self, _request: httpx.Request, transfer: int) -> dict[str, Any]:
        files = self.transfer(transfer).facts.get("files", [])
        return {"result": True, "code": 200, "files": files}

    def transfer_details(self, _request: httpx.Request, transfer: int) -> dict[str, Any]:
        usual = {"downloaded": 0, "uploaded": 0, "has_swarm": False, "swarm": None, "log": []}
        facts = self.transfer(transfer).facts.get("in_detail", {})
        return {"result": True, "code": 200, "added": NOW, **usual, **facts}

    def show_traffic(self, request: httpx.Request) -> dict[str, Any]:
        period = request.url.params["period"]
        sums = self.traffic.get(period, {"parts": [], "transfers": []})
        return {"result": True, "code": 200, **sums}

    def choose_files(self, request: httpx.Request, transfer: int) -> dict[str, Any]:
        one, wanted = self.transfer(transfer), body_of(request).fields["wanted"].split(",")
        for each in one.facts["files"]:
            each["wanted"] = str(each["index"]) in wanted
        if one.facts.get("reason") == "choose_files":
            one.facts |= {"state": "queued", "stopped": 0, "reason": None}
        return {"success": True, "id": one.id, "user_torrent_id": one.id, "title": one.title}

    # User and archive

    def user(self, _request: httpx.Request, user: int = 7) -> dict[str, Any]:
        if user != 7:
            raise Refused(404, "not_found")
        account = {"username": self.email, "email": self.email, "user_id": 7, "premium": True}
        plan = {"package_id": 3, "package_name": "PRO", "bandwidth_used": 0, "wishlist": []}
        return {
            "settings": {},
            "account": account | plan | self._space(),
            "country": "NL",
            "success": True,
            "username": self.email,
            "user_id": 7,
            "id": 7,
        }

    def zip(self, request: httpx.Request) -> httpx.Response:
        fields = body_of(request).fields
        chosen = fields.get("archive_arr")
        if isinstance(chosen, str):
            chosen = json.loads(chosen)
        if chosen is None:
            chosen = [{"type": fields["archive_arr[0][type]"], "id": fields["archive_arr[0][id]"]}]
        ids, name = [int(each["id"]) for each in chosen], fields.get("name", "Files")
        for each in ids:
            if each not in self.items:
                raise Refused(404, "not_found")
        return self._found(request, f"/content/zip/{'-'.join(map(str, ids))}/{quote(name)}.zip")

    # Content

    def _found(self, request: httpx.Request, path: str) -> httpx.Response:
        if not self.sends_content:
            return found(request, path)
        return self.instead() if self.instead else self._content(request, path)

    def _content(self, request: httpx.Request, path: str) -> httpx.Response:
        _, _, kind, ids, *_ = path.split("/")
        items = [self.items.get(int(each)) for each in ids.split("-")]
        if None in items:
            return httpx.Response(404)
        if self.instead:
            return self.instead()
        content = self._zipped(items) if kind == "zip" else items[0].content
        headers = {"content-disposition": "attachment", "accept-ranges": "bytes"}
        if match := re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", "")):
            start, stop = int(match[1]), int(match[2] or len(content) - 1) + 1
            headers["content-range"] = f"bytes {start}-{stop - 1}/{len(content)}"
            return httpx.Response(206, content=content[start:stop], headers=headers)
        return httpx.Response(200, content=content, headers=headers)

    def _zipped(self, items: list[Item]) -> bytes:
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            for item in items:
                self._zip_into(archive, item, "")
        return target.getvalue()

    def _zip_into(self, archive: zipfile.ZipFile, item: Item, above: str) -> None:
        path = f"{above}{item.name}"
        if item.content is not None:
            archive.writestr(path, item.content)
        else:
            for each in [each for each in self.items.values() if each.parent == item.id]:
                self._zip_into(archive, each, f"{path}/")

    # Lookups

    def folder(self, folder: int) -> Item:
        found_ = self.items.get(folder or ROOT)
        if found_ is None or found_.content is not None:
            raise Refused(404, "not_found")
        return found_

    def file(self, file: int) -> Item:
        found_ = self.items.get(file)
        if found_ is None or found_.content is None:
            raise Refused(404, "not_found")
        return found_

    def transfer(self, transfer: int) -> Transfer:
        if transfer not in self.transfers:
            raise Refused(404, "not_found")
        return self.transfers[transfer]

    def add(self, name: str, parent: int = ROOT, content: bytes | None = None) -> Item:
        self._check(name, parent)
        item = Item(self.new_id(), parent, name, content)
        self.items[item.id] = item
        return item

    def _check(self, name: str, parent: int, but: Item | None = None) -> None:
        if name in ("", ".", "..") or len(name) > 255 or FORBIDDEN.search(name):
            raise Refused(422, "name_not_allowed")
        key = normalize("NFC", name)
        inside = [each for each in self._inside(parent) if each is not but]
        if any(normalize("NFC", each.name) == key for each in inside):
            raise Refused(409, "name_taken")

    def _free(self, name: str, parent: int) -> str:
        stem, dot, suffix = name.rpartition(".")
        taken = {each.name for each in self._inside(parent)}
        number = 1
        free = name
        while free in taken:
            number += 1
            free = f"{stem} ({number}){dot}{suffix}" if stem else f"{name} ({number})"
        return free

    def _inside(self, folder: int) -> list[Item]:
        return [each for each in self.items.values() if each.parent == folder]

    def _child(self, parent: int, name: str) -> Item:
        for each in self._inside(parent):
            if each.name == name and each.content is None:
                return each
        raise Refused(404, "not_found")

    def path_of(self, item: Item) -> str:
        if item.id == ROOT:
            return ""
        return f"{self.path_of(self.items[item.parent])}/{item.name}".lstrip("/")

    def size_of(self, item: Item) -> int:
        if item.content is not None:
            return len(item.content)
        return sum(self.size_of(each) for each in self._inside(item.id))

    def _space(self) -> dict[str, Any]:
        used = self.size_of(self.items[ROOT])
        return {"space_max": SPACE, "space_used": used, "space_scope": "user"}

    def _folder_record(self, item: Item) -> dict[str, Any]:
        return {
            "id": item.id,
            "name": item.name,
            "path": item.name,
            "fullname": self.path_of(item),
            "size": self.size_of(item),
            "last_update": NOW,
        }

    def new_id(self) -> int:
        self._last_id += 1
        return self._last_id


def listed(transfer: Transfer) -> dict[str, Any]:
    is_done = transfer.file is not None
    numbers = ("seeders", "leechers", "connected_to", "downloading_from", "uploading_to")
    return {
        "id": transfer.id,
        "name": transfer.title,
        "size": 0,
        "hash": transfer.hash,
        "progress": 101 if is_done else 0,
        **dict.fromkeys((*numbers, "stopped", "download_rate", "upload_rate"), 0),
        "torrent_quality": 2,
        "warnings": "[]",
        "folder": "",
        "folder_created": None,
        "last_update": NOW,
        "state": "done" if is_done else "queued",
        "reason": None,
        "file_created": transfer.file,
    } | transfer.facts


def file_record(item: Item) -> dict[str, Any]:
    is_video = item.name.endswith(VIDEOS)
    return {
        "id": item.id,
        "name": item.name,
        "size": len(item.content),
        "hash": hashlib.sha1(item.content).hexdigest(),
        "folder_id": item.parent,
        "last_update": NOW,
        **dict.fromkeys(("is_video", "play_video", "stream_video"), is_video),
        **dict.fromkeys(("is_audio", "play_audio", "stream_audio"), False),
        "thumb": None,
        "presentation_urls": {"image": {}, "video": {}},
    } | item.facts


def refusal(refused: Refused) -> httpx.Response:
    headers = {"allow": refused.more["allow"]} if "allow" in refused.more else {}
    if refused.status == 401:
        headers["www-authenticate"] = 'Basic realm="fake"'
    facts = {
        "result": False,
        "success": False,
        "code": refused.status,
        "status_code": refused.status,
        "reason_phrase": refused.reason,
        "error": refused.reason,
    }
    return httpx.Response(refused.status, json=facts, headers=headers)


def found(request: httpx.Request, path: str) -> httpx.Response:
    return httpx.Response(
        302, headers={"location": str(request.url.copy_with(raw_path=b"/"))[:-1] + path}
    )


def body_of(request: httpx.Request) -> Body:
    query = dict(parse_qsl(request.url.query.decode()))
    kind = request.headers.get("content-type", "")
    if kind.startswith("multipart/"):
        fields, files = parts_of(kind, request.content)
        return Body(query | fields, files)
    if kind.startswith("application/json"):
        return Body(query | json.loads(request.content))
    return Body(query | dict(parse_qsl(request.content.decode())))


def parts_of(kind: str, content: bytes) -> tuple[dict[str, str], dict[str, tuple[str, bytes]]]:
    fields, files = {}, {}
    whole = message_from_bytes(b"Content-Type: %s\r\n\r\n%s" % (kind.encode(), content))
    for part in whole.get_payload():
        name = part.get_param("name", header="content-disposition")
        filename, value = part.get_filename(), part.get_payload(decode=True)
        if filename is None:
            fields[name] = value.decode()
        else:
            files[name] = (filename, value)
    return fields, files


def torrent_of(content: bytes) -> tuple[str, str] | None:
    """Return the name and hash if this looks like a torrent of one file."""
    match = re.fullmatch(rb"d.*?4:info(d.*4:name(\d+):(.*)e)e", content, re.DOTALL)
    if match is None:
        return None
    return match[3][: int(match[2])].decode(), hashlib.sha1(match[1]).hexdigest()


def moved(order: list[int], some: list[int], act: str, before: int) -> list[int]:
    """Return the order after some of it has moved. What moves keeps its own order."""
    others = [each for each in order if each not in some]
    at = {"first": 0, "last": len(others), "before": others.index(before) if before else 0}
    if act in at:
        chosen = [each for each in order if each in some]
        return others[: at[act]] + chosen + others[at[act] :]
    order = order if act == "up" else order[::-1]
    for place in range(1, len(order)):
        if order[place] in some and order[place - 1] not in some:
            order[place - 1 : place + 1] = order[place], order[place - 1]
    return order if act == "up" else order[::-1]


View = Callable[..., dict[str, Any] | httpx.Response]
FOLDER, FILE, ID = (
    r"/rest/folder/(?P<folder>\d+)",
    r"/rest/file/(?P<file>\d+)",
    r"(?P<transfer>\d+)",
)
NOUN = "/rest/(?:transfer|torrent)"
ROUTES: list[tuple[str, str, View]] = [
    ("GET", "/rest/folder", FakeV1.show),
    ("GET", FOLDER, FakeV1.show),
    ("GET", f"{FOLDER}/download", FakeV1.download_folder),
    ("POST", "/rest/folder", FakeV1.create),
    ("POST", f"{FOLDER}/rename", FakeV1.rename_folder),
    ("DELETE", FOLDER, FakeV1.delete_folder),
    ("POST", f"{FOLDER}/delete", FakeV1.delete_folder),
    ("GET", "/rest/files/largest", FakeV1.largest),
    ("GET", "/rest/search", FakeV1.search),
    ("GET", "/rest/deleted", FakeV1.deleted_items),
    ("POST", "/rest/deleted", FakeV1.delete_together),
    ("POST", "/rest/deleted/restore", FakeV1.restore_deleted),
    ("POST", "/rest/deleted/delete", FakeV1.purge_deleted),
    ("GET", FILE, FakeV1.download_file),
    ("GET", f"{FILE}/(?:hls|mp4)", FakeV1.convert),
    ("GET", f"{FILE}/(?:image|thumbnail)", FakeV1.picture),
    ("GET", f"{FILE}/camera", FakeV1.camera),
    ("GET", f"{FILE}/scenes", FakeV1.scenes),
    ("GET", r"/rest/(?P<file>\d+)/thumbnail", FakeV1.picture),
    ("POST", f"{FILE}/rename", FakeV1.rename_file),
    ("POST", r"/rest/(?P<file>\d+)/rename", FakeV1.rename_file),
    ("DELETE", FILE, FakeV1.delete_file),
    ("POST", f"{FILE}/delete", FakeV1.delete_file),
    ("GET", NOUN, FakeV1.index),
    ("GET", f"{NOUN}/{ID}", FakeV1.show_transfer),
    ("POST", f"{NOUN}/magnet", FakeV1.add_magnet),
    ("POST", f"{NOUN}/url", FakeV1.add_url),
    ("POST", "/rest/transfer/file", FakeV1.add_file),
    ("POST", "/rest/torrent/file", FakeV1.add_torrent),
    ("DELETE", f"{NOUN}/{ID}", FakeV1.delete_transfer),
    ("POST", f"{NOUN}/{ID}", FakeV1.delete_transfer),
    ("POST", f"{NOUN}/{ID}/delete", FakeV1.delete_transfer),
    ("GET", f"{NOUN}/{ID}/details", FakeV1.transfer_details),
    ("GET", f"{NOUN}/{ID}/files", FakeV1.transfer_files),
    ("POST", f"{NOUN}/{ID}/files", FakeV1.choose_files),
    ("POST", f"{NOUN}/{ID}/pause", FakeV1.pause_transfer),
    ("POST", f"{NOUN}/{ID}/resume", FakeV1.resume_transfer),
    ("POST", f"{NOUN}s/change", FakeV1.change_transfers),
    ("GET", "/rest/traffic", FakeV1.show_traffic),
    ("GET", "/rest/user", FakeV1.user),
    ("GET", r"/rest/user/(?P<user>\d+)", FakeV1.user),
    ("GET", "/rest/zip", FakeV1.zip),
    ("POST", "/rest/zip", FakeV1.zip),
]
