"""Transmission's RPC, over any service that speaks v1: the older way of Sonarr and others."""

import base64
import binascii
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, cast

import msgspec
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.views.decorators.csrf import csrf_exempt
from msgspec import Struct

from webui.handover import places
from webui.http.requests import Request, plain_text
from webui.http.roles import open_to_strangers
from webui.models import Token
from webui.programs import adding, listing
from webui.programs import transmission as records
from webui.programs.adding import NewTorrents
from webui.programs.calls import CannotDo, read_bytes
from webui.programs.changing import TorrentCall
from webui.programs.torrents import Torrent
from webui.tokens import doors
from webui.tokens.doors import NotAdmitted
from webui.tokens.tokens import Purpose
from webui.v1.errors import Failure
from webui.words.failures import message_of

SESSION_HEADER = "X-Transmission-Session-Id"
# A torrent file is sent as text, which is a third longer.
MOST_BYTES = 15 * 2**20
FILE_FIELDS = frozenset(["files", "fileStats", "priorities", "wanted"])
READING = frozenset(["session-get", "session-stats", "torrent-get", "free-space", "port-test"])
Arguments = dict[str, Any]


class RPCCall(Struct):
    method: str
    arguments: Arguments = {}
    tag: int | None = None


@csrf_exempt
@open_to_strangers("GET", "POST")
def answer(request: HttpRequest) -> HttpResponse:
    """Answer a program. The number that it has to repeat shows that no other site sent the call."""
    bound = cast("Request", request)
    try:
        token = doors.admit(request, Purpose.PROGRAMS, writes=False)
        session_id = session_of(token)
        if not constant_time_compare(request.headers.get(SESSION_HEADER, ""), session_id):
            response = plain_text("Repeat the request with this header.", 409)
            response[SESSION_HEADER] = session_id
            return response
        call = msgspec.json.decode(read_bytes(bound, MOST_BYTES), type=RPCCall)
        if call.method not in READING:
            doors.check_rights(request, token, Purpose.PROGRAMS, writes=True)
    except NotAdmitted as refused:
        return refused.answer("Basic")
    except CannotDo as refused:
        return plain_text(refused.words, refused.status)
    except msgspec.DecodeError:
        return plain_text("The request couldn't be read.", 400)
    return HttpResponse(msgspec.json.encode(perform(bound, call)), content_type="application/json")


def session_of(token: Token) -> str:
    return salted_hmac("webui.programs.transmission", token.digest).hexdigest()


def perform(request: Request, call: RPCCall) -> dict[str, Any]:
    """Return the answer. Programs read in words what went wrong."""
    arguments: Arguments | None = None
    result, act = "success", METHODS.get(call.method, refuse)
    try:
        arguments = act(RPC(request, call.arguments))
    except CannotDo as refused:
        result = refused.words
    except Failure as failure:
        result = message_of(failure).words
    answer = {"result": result, "arguments": arguments or {}}
    return answer if call.tag is None else answer | {"tag": call.tag}


class RPC(TorrentCall):
    """A call, with the arguments that Transmission knows."""

    def __init__(self, request: Request, arguments: Arguments) -> None:
        super().__init__(request)
        self.arguments = arguments

    def text(self, name: str) -> str:
        value = self.arguments.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        return [each for each in self.items(name) if isinstance(each, str)]

    def items(self, name: str) -> list[Any]:
        values = self.arguments.get(name)
        return values if isinstance(values, list) else []

    @property
    def chosen(self) -> list[Torrent]:
        """Return the torrents of `ids`: numbers, hashes, or nothing, which means all."""
        torrents, ids = list(self.by_hash.values()), self.arguments.get("ids")
        if ids is None or ids == "recently-active":
            return torrents
        wanted = ids if isinstance(ids, list) else [ids]
        names = {each.lower() if isinstance(each, str) else each for each in filter(is_id, wanted)}
        return [each for each in torrents if each.hash in names or records.id_of(each) in names]


def is_id(value: Any) -> bool:
    return isinstance(value, str | int)


# Reading


def torrent_get(rpc: RPC) -> Arguments:
    fields = rpc.texts("fields")
    needs_files = not FILE_FIELDS.isdisjoint(fields)
    rows = [
        records.record_of(
            each, place, fields, listing.files_of(rpc.service, each) if needs_files else []
        )
        for place, each in enumerate(rpc.chosen)
    ]
    answer_rows: Arguments = {"torrents": rows}
    if rpc.arguments.get("format") == "table":
        answer_rows = {"torrents": [fields, *([row.get(name) for name in fields] for row in rows)]}
    return answer_rows | ({"removed": []} if rpc.arguments.get("ids") == "recently-active" else {})


def session_get(rpc: RPC) -> Arguments:
    session = records.session(session_of(vars(rpc.request)["token"]))
    fields = rpc.texts("fields")
    return {name: session[name] for name in fields if name in session} if fields else session


def session_stats(rpc: RPC) -> Arguments:
    return records.session_stats(rpc)


def free_space(rpc: RPC) -> Arguments:
    """Return the space that is free with the service, wherever the program asks."""
    free_bytes, most_bytes = rpc.space_bytes
    return {"path": rpc.text("path"), "size-bytes": free_bytes, "total_size": most_bytes}


# Changing


def torrent_add(rpc: RPC) -> Arguments:
    category, tags = marks_in(rpc)
    content = torrent_in(rpc)
    files = [("upload.torrent", content)] if content else []
    new = NewTorrents(rpc.text("filename"), files, category, tags)
    results = adding.add(rpc.request, new).results
    if not results:
        raise CannotDo(422, "unrecognized info")
    result = results[0]
    if not result.is_well:
        raise CannotDo(422, result.sentence)
    if rpc.arguments.get("paused") is True and result.outcome == "added":
        rpc.adjust([result.key[1:]], {}, is_paused=True)
    torrents = RPC(rpc.request, {}).by_hash.values()
    torrent = next((each for each in torrents if each.transfer.key == result.key), None)
    if torrent is None:
        raise CannotDo(503, "The storage service doesn't list it yet.")
    name = "torrent-duplicate" if result.outcome == "known" else "torrent-added"
    return {name: records.record_of(torrent, 0, ("hashString", "id", "name"), [])}


def torrent_in(rpc: RPC) -> bytes:
    try:
        return base64.b64decode(rpc.text("metainfo"))
    except binascii.Error:
        raise CannotDo(422, "invalid or corrupt torrent file") from None


def marks_in(rpc: RPC) -> tuple[str, str]:
    """Return the category, and the tags. Older programs name the folder of the category."""
    if labels := rpc.texts("labels"):
        return labels[0], ",".join(labels[1:])
    path = PurePath(rpc.text("download-dir"))
    is_below = path.is_relative_to(places.top()) and ".." not in path.parts
    category = path.relative_to(places.top()).as_posix() if is_below else ""
    return ("" if category == "." else category), ""


def torrent_set(rpc: RPC) -> None:
    """Change labels, and which files are wanted. All else stays as it is."""
    if "labels" in rpc.arguments:
        category, tags = marks_in(rpc)
        rpc.set_category(category)
        rpc.set_tags(tags)
    for name, wanted in (("files-wanted", True), ("files-unwanted", False)):
        indexes = [each for each in rpc.items(name) if isinstance(each, int)]
        if len(rpc.chosen) == 1 and indexes:
            rpc.choose_files(rpc.chosen[0], indexes, wanted=wanted)


def torrent_remove(rpc: RPC) -> None:
    """Remove torrents that are named: an empty choice must not become all of them."""
    if rpc.arguments.get("ids") in (None, "recently-active"):
        raise CannotDo(422, "no ids")
    rpc.remove(with_files=rpc.arguments.get("delete-local-data") is True)


def refuse(_rpc: RPC) -> None:
    raise CannotDo(404, "method name not recognized")


def ignore(_rpc: RPC) -> None:
    """Do nothing: services decide this themselves."""


METHODS: Mapping[str, Callable[[RPC], Arguments | None]] = {
    "session-get": session_get,
    "session-set": ignore,
    "session-stats": session_stats,
    "free-space": free_space,
    "port-test": lambda _rpc: {"port-is-open": True},
    "torrent-get": torrent_get,
    "torrent-add": torrent_add,
    "torrent-set": torrent_set,
    "torrent-remove": torrent_remove,
    "torrent-start": RPC.resume,
    "torrent-start-now": RPC.resume,
    "torrent-stop": lambda rpc: rpc.change("pause"),
    "torrent-verify": ignore,
    "torrent-reannounce": ignore,
    "queue-move-top": lambda rpc: rpc.change("first"),
    "queue-move-up": lambda rpc: rpc.change("up"),
    "queue-move-down": lambda rpc: rpc.change("down"),
    "queue-move-bottom": lambda rpc: rpc.change("last"),
}
