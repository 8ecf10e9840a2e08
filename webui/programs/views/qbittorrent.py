"""qBittorrent's Web API, over any service that speaks v1.

Programs such as Sonarr come in with a token, which they send with each request, or as the password
with which they sign in. To those without one, qBittorrent says 403.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from webui.http.requests import Request, plain_text
from webui.http.roles import open_to_strangers
from webui.models import Category, Sent
from webui.programs import adding, changing, listing, sessions
from webui.programs import qbittorrent as records
from webui.programs.adding import NewTorrents
from webui.programs.calls import ProgramCall, read_call
from webui.programs.refusals import CannotDo
from webui.programs.sync import SeenLists
from webui.programs.torrents import Torrent, Torrents, tags_in
from webui.signin.session import retry_after
from webui.tokens import doors
from webui.tokens.doors import NotAdmitted
from webui.tokens.tokens import Purpose
from webui.v1.errors import Failure
from webui.v1.own_records import TransferAction
from webui.words.failures import message_of

OK, FAILS = "Ok.", "Fails."
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


class ApiCall:
    """A call, with the torrents that it may see."""

    def __init__(self, call: ProgramCall) -> None:
        self.call, self.request = call, call.request
        self.torrents = Torrents(call.request)
        self.service = self.torrents.service

    @property
    def chosen(self) -> list[Torrent]:
        """Return the torrents of `hashes`, which may be `all`. Unknown ones don't count."""
        by_hash, hashes = self.torrents.by_hash, self.call.text("hashes").lower()
        if not hashes:
            raise CannotDo(400, "Missing required parameter: hashes")
        if hashes == "all":
            return list(by_hash.values())
        return [by_hash[each] for each in dict.fromkeys(hashes.split("|")) if each in by_hash]

    @property
    def one(self) -> Torrent:
        torrent = self.torrents.by_hash.get(self.call.text("hash").lower())
        if torrent is None:
            raise CannotDo(404, "Not Found")
        return torrent


# Reading


def info(api: ApiCall) -> list[listing.Row]:
    return listing.matching(api.call, api.torrents.by_hash)


def maindata(api: ApiCall) -> dict[str, Any]:
    torrents = {row["hash"]: row for row in records.rows_of(api.torrents.by_hash.values())}
    for row in torrents.values():
        del row["hash"]
    state = records.server_state(api.torrents.cached_list)
    others = {"categories": records.categories(), "tags": all_tags(api), "trackers": {}}
    reader, rid = vars(api.request)["token"].pk, api.call.number("rid")
    return seen_lists.changes(reader, rid, torrents, others) | {"server_state": state}


def all_tags(api: ApiCall) -> list[str]:
    return sorted({tag for each in api.torrents.by_hash.values() for tag in each.tags})


def is_slow(api: ApiCall) -> bool:
    return api.service.is_embedded and api.service.v1.limits().is_slow


def speed_limit(field: str, api: ApiCall) -> str:
    return str(getattr(api.service.v1.limits(), field)) if api.service.is_embedded else "0"


def limits_of_each(api: ApiCall) -> dict[str, int]:
    return {each.hash: 0 for each in api.chosen}


# Adding


def add(api: ApiCall) -> str:
    call = api.call
    files = [(torrent_name(name), content) for name, content in call.files]
    order = NewTorrents(call.text("urls"), files, call.text("category").strip(), call.text("tags"))
    results = adding.add(api.request, order).results
    ids = [each.key[1:] for each in results if each.outcome == "added" and each.key[0] == "t"]
    changing.adjust(
        api.service,
        ids,
        share_limits(call) | speeds(call),
        is_paused=call.flag("paused", "stopped"),
    )
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
    names = {"dlLimit": "download_bytes_per_second", "upLimit": "upload_bytes_per_second"}
    return {to: str(call.number(of)) for of, to in names.items() if call.number(of) > 0}


# Changing


def delete(api: ApiCall) -> None:
    with_files = api.call.flag("deleteFiles")
    changing.remove(api.request, api.service, api.chosen, with_files=with_files)


def move(act: TransferAction, api: ApiCall) -> None:
    changing.change(api.service, api.chosen, act)


def resume(api: ApiCall) -> None:
    """Continue. At a service that can't pause anything, all of them do."""
    if api.service.is_embedded:
        changing.change(api.service, api.chosen, "resume")


def force(api: ApiCall) -> None:
    if api.call.flag("value"):
        resume(api)


def set_share_limits(api: ApiCall) -> None:
    """Limit the seeding, which services other than ours don't do in anyone's name."""
    limits = {"seed_ratio": "", "seed_minutes": ""} | share_limits(api.call)
    if api.service.is_embedded:
        changing.limit(api.service, api.chosen, limits)


def set_speed(field: str, api: ApiCall) -> None:
    changing.limit(api.service, api.chosen, {field: speed_text(api.call)})


def set_speed_of_all(field: str, api: ApiCall) -> None:
    changing.limit_all(api.request, api.service, {field: speed_text(api.call)})


def speed_text(call: ProgramCall) -> str:
    return str(max(call.number("limit"), 0))


def switch_speeds(api: ApiCall) -> None:
    changing.limit_all(api.request, api.service, {"switch": "full" if is_slow(api) else "slow"})


def prioritize(api: ApiCall) -> None:
    """Choose files, or not: Ferry knows no other priorities."""
    indexes = [int(each) for each in api.call.items("id") if each.isdecimal() and len(each) < 9]
    wanted = api.call.number("priority") > 0
    changing.choose_files(api.service, api.one, indexes, wanted=wanted)


def set_category(api: ApiCall) -> None:
    changing.set_category(api.service, api.chosen, api.call.text("category").strip())


def create_category(api: ApiCall) -> None:
    adding.create_category(api.call.text("category").strip())


def remove_categories(api: ApiCall) -> None:
    names = api.call.items("categories", "\n")
    Sent.objects.filter(connection=api.service.key, category__in=names).update(category="")
    Category.objects.filter(name__in=names).delete()


def change_tags(api: ApiCall, *, adds: bool) -> None:
    tags = tags_in(api.call.text("tags"))
    changing.change_tags(api.service, api.chosen, tags, adds=adds)


def delete_tags(api: ApiCall) -> None:
    torrents = api.torrents.by_hash.values()
    changing.delete_tags(api.service, torrents, tags_in(api.call.text("tags")))


def nothing_of_one(api: ApiCall) -> list[Any]:
    """Return what services don't tell of a torrent, if there is such a torrent."""
    _one = api.one
    return []


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
DOWN, UP = "download_bytes_per_second", "upload_bytes_per_second"
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
    "transfer/info": lambda api: records.transfer_info(api.torrents.cached_list),
    "transfer/speedLimitsMode": lambda api: str(int(is_slow(api))),
    "transfer/downloadLimit": partial(speed_limit, DOWN),
    "transfer/uploadLimit": partial(speed_limit, UP),
    "torrents/info": info,
    "torrents/count": lambda api: str(len(api.torrents.by_hash)),
    "torrents/properties": lambda api: records.properties_of(api.one),
    **{f"torrents/{name}": nothing_of_one for name in NOTHING},
    "torrents/files": lambda api: listing.files_of(api.service, api.one),
    "torrents/categories": lambda _api: records.categories(),
    "torrents/tags": all_tags,
    "torrents/downloadLimit": limits_of_each,
    "torrents/uploadLimit": limits_of_each,
}
WRITING: Mapping[str, Act] = {
    "transfer/toggleSpeedLimitsMode": switch_speeds,
    "transfer/setDownloadLimit": partial(set_speed_of_all, DOWN),
    "transfer/setUploadLimit": partial(set_speed_of_all, UP),
    "torrents/add": add,
    "torrents/delete": delete,
    "torrents/pause": partial(move, "pause"),
    "torrents/stop": partial(move, "pause"),
    "torrents/resume": resume,
    "torrents/start": resume,
    "torrents/setForceStart": force,
    "torrents/topPrio": partial(move, "first"),
    "torrents/increasePrio": partial(move, "up"),
    "torrents/decreasePrio": partial(move, "down"),
    "torrents/bottomPrio": partial(move, "last"),
    "torrents/setShareLimits": set_share_limits,
    "torrents/setDownloadLimit": partial(set_speed, DOWN),
    "torrents/setUploadLimit": partial(set_speed, UP),
    "torrents/filePrio": prioritize,
    "torrents/setCategory": set_category,
    "torrents/createCategory": create_category,
    "torrents/removeCategories": remove_categories,
    "torrents/addTags": partial(change_tags, adds=True),
    "torrents/removeTags": partial(change_tags, adds=False),
    "torrents/deleteTags": delete_tags,
    **dict.fromkeys(IGNORED, ignore),
    **{f"torrents/{name}": refuse for name in REFUSED},
}
