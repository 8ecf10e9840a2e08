"""The calls that programs make, in their order, as their sources have them.

`python -m tests.webui.programs.tapes URL TOKEN` plays them to a server, and prints what it answers:
a real qBittorrent and Ferry say the same, but for values.
"""

import json
import sys
from typing import Any, NamedTuple

import httpx

HASH = f"{0x7A9E:040x}"
LINK = f"magnet:?xt=urn:btih:{HASH}&dn=Sintel"
ONE, MANY = {"hash": HASH}, {"hashes": HASH}
LIMITS = {"ratioLimit": "1.5", "seedingTimeLimit": "60", "upLimit": "0", "dlLimit": "0"}


class Call(NamedTuple):
    method: str
    path: str
    fields: dict[str, str]


def get(path: str, **fields: str) -> Call:
    return Call("GET", path, fields)


def post(path: str, **fields: str) -> Call:
    return Call("POST", path, fields)


def arr(category: str, *more: Call) -> list[Call]:
    """Return what Sonarr and its siblings do: Test, then a grab, and what follows an import."""
    return [
        get("app/webapiVersion"),
        get("app/preferences"),
        get("torrents/categories"),
        post("torrents/createCategory", category=category),
        get("torrents/categories"),
        get("torrents/info", category=category),
        post("torrents/add", urls=LINK, category=category, paused="false", **LIMITS),
        get("torrents/properties", **ONE),
        get("torrents/info", category=category),
        *more,
        post("torrents/delete", **MANY, deleteFiles="true"),
        get("torrents/info", category=category),
        post("torrents/removeCategories", categories=category),
    ]


IMPORTED = post("torrents/createCategory", category="imported")
TAPES = {
    "Sonarr": arr(
        "tv-sonarr",
        get("torrents/files", **ONE),
        IMPORTED,
        post("torrents/setCategory", **MANY, category="imported"),
        post("torrents/removeCategories", categories="imported"),
    ),
    "Radarr": arr(
        "radarr",
        post("torrents/setShareLimits", **MANY, **LIMITS, inactiveSeedingTimeLimit="-2"),
        post("torrents/setForceStart", **MANY, value="false"),
    ),
    "Prowlarr": arr("prowlarr"),
    "autobrr": [
        post("auth/login", username="any", password="TOKEN"),
        get("app/webapiVersion"),
        get("torrents/info", filter="downloading"),
        get("sync/maindata", rid="0"),
        post("torrents/add", urls=LINK, tags="brr", autoTMM="false", **LIMITS),
        get("torrents/info", hashes=HASH),
        get("torrents/trackers", **ONE),
        post("torrents/reannounce", **MANY),
        post("torrents/addTags", **MANY, tags="late"),
        post("torrents/delete", **MANY, deleteFiles="false"),
        post("torrents/deleteTags", tags="brr,late"),
    ],
    "qBitController": [
        post("auth/login", username="any", password="TOKEN"),
        get("app/version"),
        get("app/defaultSavePath"),
        post("torrents/add", urls=LINK, sequentialDownload="false", paused="false"),
        get("sync/maindata", rid="0"),
        get("torrents/info", hashes=HASH),
        get("torrents/properties", **ONE),
        get("torrents/files", **ONE),
        get("torrents/pieceStates", **ONE),
        get("torrents/trackers", **ONE),
        get("torrents/categories"),
        get("torrents/tags"),
        post("torrents/pause", **MANY),
        post("torrents/resume", **MANY),
        post("torrents/recheck", **MANY),
        post("torrents/setDownloadLimit", **MANY, limit="1000"),
        get("transfer/info"),
        get("transfer/speedLimitsMode"),
        post("torrents/delete", **MANY, deleteFiles="true"),
    ],
}


def kind_of(value: Any) -> Any:
    """Return the kinds of a value and of all in it; those of hashes and paths are one."""
    if isinstance(value, dict):
        return {str(name): kind_of(each) for name, each in sorted(value.items())}
    if isinstance(value, list):
        return [kind_of(each) for each in value[:1]]
    return "number" if type(value) in (int, float) else type(value).__name__


def main(url: str, token: str) -> None:
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{url}/api/v2/", headers=headers, trust_env=False) as client:
        for program, tape in TAPES.items():
            for method, path, fields in tape:
                sent = {"params" if method == "GET" else "data": fields}
                answer = client.request(method, path, timeout=60, **sent)
                is_json = answer.headers["content-type"] == "application/json"
                what = kind_of(answer.json()) if is_json else answer.text
                row = [program, method, path, answer.status_code, what]
                sys.stdout.write(f"{json.dumps(row)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
