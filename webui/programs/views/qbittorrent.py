"""qBittorrent's Web API, over any service that speaks v1.

Programs such as Sonarr come in with a token, which they send with each request, or as the password
with which they sign in. To those without one, qBittorrent says 403.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from webui.http.requests import Request, plain_text
from webui.http.roles import open_to_strangers
from webui.programs import adding, listing, sessions
from webui.programs import qbittorrent as records
from webui.programs.adding import NewTorrents
from webui.programs.calls import CannotDo, ProgramCall, read_call
from webui.programs.changing import TorrentCall
from webui.programs.sync import SeenLists
from webui.programs.torrents import Torrent, tags_in
from webui.signin.session import retry_after
from webui.tokens import doors
from webui.tokens.doors import NotAdmitted
from webui.tokens.tokens import Purpose
from webui.v1.errors import Failure
from webui.words.failures import message_of

OK, FAILS = "Ok.", "Fails."
DOWN, UP = "download_bytes_per_second", "upload_bytes_per_second"
seen_lists = SeenLists()


@csrf_exempt
@open_to_strangers()
def answer(request: HttpRequest, path: str) -> HttpResponse:
    bound = cast("Request", request)
    try:
        return perform(bound, path)
    except NotAdmitted as refused:
        response = plain_text(refused.words, 403)
        return retry_after(response, refused.wait) if refused.wait else response
    except CannotDo as refused:
        return plain_text(refused.words, refused.status)
    except Failure as failure:
        return plain_text(message_of(failure).words, message_of(failure).status)


def perform(request: Request, path: str) -> HttpResponse:
    if sessions.is_from_elsewhere(request.headers, request.get_host()):
        raise CannotDo(403, "The request comes from another site.")
    if path in SESSION_CALLS:
        return SESSION_CALLS[path](read_call(request, sessions.MOST_BYTES))
    act, writes = READING.get(path) or WRITING.get(path), path in WRITING
    sessions.admit(request, writes=writes)
    if act is None:
        raise CannotDo(404, "Not Found")
    if request.method not in (("POST",) if writes else ("GET", "HEAD", "POST")):
        raise CannotDo(405, "Method Not Allowed")
    result = act(ApiCall(read_call(request)))
    if result is None or isinstance(result, str):
        return plain_answer(result or "")
    return HttpResponse(msgspec.json.encode(result), content_type="application/json")


# Sessions


def login(call: ProgramCall) -> HttpResponse:
    """Begin a session. The password is a token, and the name may be any."""
    request, token = call.request, call.text("password")[: doors.LONGEST_TOKEN]
    if request.method != "POST":
        raise CannotDo(405, "Method Not Allowed")
    try:
        row = doors.admit_token(request, token, Purpose.PROGRAMS, writes=False)
    except NotAdmitted as refused:
        if refused.wait:
            raise
        return plain_answer(FAILS)
    response = plain_answer(OK)
    sessions.begin(request, response, row)
    return response


def logout(call: ProgramCall) -> HttpResponse:
    response = plain_answer("")
    sessions.end(call.request, response)
    return response


def plain_answer(words: str) -> HttpResponse:
    """Return words without a line end: programs compare them."""
    return HttpResponse(words, content_type="text/plain; charset=utf-8")


SESSION_CALLS: Mapping[str, Callable[[ProgramCall], HttpResponse]] = {
    "auth/login": login,
    "auth/logout": logout,
}


class ApiCall(TorrentCall):
    """A call, with the fields that qBittorrent knows."""

    def __init__(self, call: ProgramCall) -> None:
        super().__init__(call.request)
        self.call, self.text = call, call.text

    @property
    def chosen(self) -> list[Torrent]:
        """Return the torrents of `hashes`, which may be `all`. Unknown ones don't count."""
        by_hash, hashes = self.by_hash, self.text("hashes").lower()
        if not hashes:
            raise CannotDo(400, "Missing required parameter: hashes")
        if hashes == "all":
            return list(by_hash.values())
        return [by_hash[each] for each in dict.fromkeys(hashes.split("|")) if each in by_hash]

    @property
    def one(self) -> Torrent:
        torrent = self.by_hash.get(self.text("hash").lower())
        if torrent is None:
            raise CannotDo(404, "Not Found")
        return torrent

    @property
    def category(self) -> str:
        return self.text("category").strip()

    @property
    def tags(self) -> list[str]:
        return tags_in(self.text("tags"))

    @property
    def all_tags(self) -> list[str]:
        return sorted({tag for each in self.by_hash.values() for tag in each.tags})

    @property
    def is_slow(self) -> bool:
        return self.limits is not None and self.limits.is_slow

    @property
    def speed(self) -> str:
        return str(max(self.call.number("limit"), 0))

    def speed_limit(self, field: str) -> str:
        return str(getattr(self.limits, field, 0))

    def limits_of_each(self, field: str) -> dict[str, int]:
        return {each.hash: getattr(self.limits_of(each), field) or 0 for each in self.chosen}


def maindata(api: ApiCall) -> dict[str, Any]:
    torrents = {row["hash"]: row for row in records.rows_of(api.by_hash.values())}
    for row in torrents.values():
        del row["hash"]
    others = {"categories": categories(api), "tags": api.all_tags, "trackers": {}}
    reader, rid = vars(api.request)["token"].pk, api.call.number("rid")
    changes = seen_lists.changes(reader, rid, torrents, others)
    return changes | {"server_state": records.server_state(api)}


def categories(api: ApiCall) -> dict[str, dict[str, str]]:
    return records.categories(adding.category_names(api))


def nothing_of_one(api: ApiCall) -> list[Any]:
    """Return what services don't tell of a torrent, if there is such a torrent."""
    _one = api.one
    return []


# Changing


def add(api: ApiCall) -> str:
    files = [(torrent_name(name), content) for name, content in api.call.files]
    order = NewTorrents(api.text("urls"), files, api.category, api.text("tags"))
    results = adding.add(api.request, order).results
    ids = [each.key[1:] for each in results if each.outcome == "added" and each.key[0] == "t"]
    limits = share_limits(api.call) | speeds(api.call)
    api.adjust(ids, limits, is_paused=api.call.flag("paused", "stopped"))
    return OK if results and all(each.is_well for each in results) else FAILS


def torrent_name(name: str) -> str:
    return name if name.lower().endswith(".torrent") else f"{name or 'upload'}.torrent"


def share_limits(call: ProgramCall) -> dict[str, str]:
    """Return the limits of seeding that a transfer gets of its own: negative ones are no limits."""
    limits = {}
    with_ratio = call.text("ratioLimit").strip()
    if with_ratio.replace(".", "", 1).isdecimal():
        limits["seed_ratio"] = with_ratio
    if call.number("seedingTimeLimit", -1) >= 0:
        limits["seed_minutes"] = str(call.number("seedingTimeLimit"))
    return limits


def speeds(call: ProgramCall) -> dict[str, str]:
    names = {"dlLimit": DOWN, "upLimit": UP}
    return {to: str(call.number(of)) for of, to in names.items() if call.number(of) > 0}


def force(api: ApiCall) -> None:
    if api.call.flag("value"):
        api.resume()


def set_share_limits(api: ApiCall) -> None:
    """Limit the seeding, which services other than ours don't do in anyone's name."""
    if api.service.is_embedded:
        api.limit({"seed_ratio": "", "seed_minutes": ""} | share_limits(api.call))


def prioritize(api: ApiCall) -> None:
    """Choose files, or not: Ferry knows no other priorities."""
    indexes = [int(each) for each in api.call.items("id") if each.isdecimal() and len(each) < 9]
    api.choose_files(api.one, indexes, wanted=api.call.number("priority") > 0)


def ignore(_api: ApiCall) -> None:
    """Do nothing: services decide this themselves."""


def refuse(_api: ApiCall) -> None:
    raise CannotDo(409, "Ferry can't do this.")


Result = str | list[Any] | dict[str, Any] | None
Act = Callable[[ApiCall], Result]
NOTHING = ("trackers", "webseeds", "pieceStates", "pieceHashes")
IGNORED = (
    *("app/setPreferences", "torrents/createTags", "torrents/editCategory", "torrents/recheck"),
    *("torrents/reannounce", "torrents/setAutoManagement", "torrents/setSuperSeeding"),
    *("torrents/toggleSequentialDownload", "torrents/toggleFirstLastPiecePrio"),
)
REFUSED = ("rename", "renameFile", "renameFolder", "setLocation", "addTrackers", "addPeers")
READING: Mapping[str, Act] = {
    "app/version": lambda _api: records.VERSION,
    "app/webapiVersion": lambda _api: records.API_VERSION,
    "app/buildInfo": lambda _api: records.BUILD,
    "app/preferences": lambda _api: records.preferences(),
    "app/defaultSavePath": lambda _api: records.preferences()["save_path"],
    "log/main": lambda _api: [],
    "log/peers": lambda _api: [],
    "sync/maindata": maindata,
    "sync/torrentPeers": lambda _api: {"rid": 1, "full_update": True, "peers": {}},
    "transfer/info": records.transfer_info,
    "transfer/speedLimitsMode": lambda api: str(int(api.is_slow)),
    "transfer/downloadLimit": lambda api: api.speed_limit(DOWN),
    "transfer/uploadLimit": lambda api: api.speed_limit(UP),
    "torrents/info": lambda api: listing.matching(api.call, api.by_hash),
    "torrents/count": lambda api: str(len(api.by_hash)),
    "torrents/properties": lambda api: records.properties_of(api.one, api.limits_of(api.one)),
    **{f"torrents/{name}": nothing_of_one for name in NOTHING},
    "torrents/files": lambda api: listing.files_of(api.service, api.one),
    "torrents/categories": categories,
    "torrents/tags": lambda api: api.all_tags,
    "torrents/downloadLimit": lambda api: api.limits_of_each(DOWN),
    "torrents/uploadLimit": lambda api: api.limits_of_each(UP),
}
WRITING: Mapping[str, Act] = {
    "transfer/toggleSpeedLimitsMode": lambda api: api.limit_all(
        {"switch": "full" if api.is_slow else "slow"}
    ),
    "transfer/setDownloadLimit": lambda api: api.limit_all({DOWN: api.speed}),
    "transfer/setUploadLimit": lambda api: api.limit_all({UP: api.speed}),
    "torrents/add": add,
    "torrents/delete": lambda api: api.remove(with_files=api.call.flag("deleteFiles")),
    "torrents/pause": lambda api: api.change("pause"),
    "torrents/stop": lambda api: api.change("pause"),
    "torrents/resume": ApiCall.resume,
    "torrents/start": ApiCall.resume,
    "torrents/setForceStart": force,
    "torrents/topPrio": lambda api: api.change("first"),
    "torrents/increasePrio": lambda api: api.change("up"),
    "torrents/decreasePrio": lambda api: api.change("down"),
    "torrents/bottomPrio": lambda api: api.change("last"),
    "torrents/setShareLimits": set_share_limits,
    "torrents/setDownloadLimit": lambda api: api.limit({DOWN: api.speed}),
    "torrents/setUploadLimit": lambda api: api.limit({UP: api.speed}),
    "torrents/filePrio": prioritize,
    "torrents/setCategory": lambda api: api.set_category(api.category),
    "torrents/createCategory": lambda api: adding.create_category(api, api.category),
    "torrents/removeCategories": lambda api: adding.remove_categories(
        api, api.call.items("categories", "\n")
    ),
    "torrents/addTags": lambda api: api.add_tags(api.tags),
    "torrents/removeTags": lambda api: api.remove_tags(api.chosen, api.tags or api.all_tags),
    "torrents/deleteTags": lambda api: api.remove_tags(api.by_hash.values(), api.tags),
    **dict.fromkeys(IGNORED, ignore),
    **{f"torrents/{name}": refuse for name in REFUSED},
}
