"""The records of qBittorrent's Web API 2.9.3, which all clients understand, old and new ones."""

from collections.abc import Iterable, Mapping
from typing import Any

from webui.handover import places
from webui.programs.torrents import Torrent, Torrents
from webui.transfers import states
from webui.v1.own_records import OwnLimits

# Newer versions answer in ways that programs of 2026 don't understand yet.
VERSION, API_VERSION = "v4.6.7", "2.9.3"
BUILD = {"bitness": 64, "boost": "1.84.0", "libtorrent": "2.0.10.0", "openssl": "3.3.1"}
BUILD |= {"qt": "6.7.2", "zlib": "1.3.1"}
UNKNOWN_ETA = 8_640_000
NO_LIMIT = -1

STATES = {
    states.QUEUED: "queuedDL",
    states.METADATA: "metaDL",
    states.DOWNLOADING: "downloading",
    states.STALLED: "stalledDL",
    states.STOPPED: "pausedDL",
    states.GONE: "missingFiles",
}
STOPPED = frozenset(("pausedDL", "pausedUP"))
FILTERS: Mapping[str, frozenset[str]] = {
    "downloading": frozenset((*STATES.values(), "moving")) - {"missingFiles"},
    "active": frozenset(("downloading", "metaDL", "moving")),
    "inactive": frozenset(("queuedDL", "stalledDL", "error", *STOPPED)),
    "errored": frozenset(("error", "missingFiles")),
    "completed": frozenset(("pausedUP",)),
    "moving": frozenset(("moving",)),
    **dict.fromkeys(("paused", "stopped"), STOPPED),
    **dict.fromkeys(("stalled", "stalled_downloading"), frozenset(("stalledDL",))),
    **dict.fromkeys(("seeding", "stalled_uploading", "checking"), frozenset()),
}

# Fields that are the same for all torrents. A program may remove what is complete: the limit of
# `max_ratio`, which is nothing, has been reached.
SAME = {
    **dict.fromkeys(("auto_tmm", "f_l_piece_prio", "force_start", "seq_dl"), False),
    **dict.fromkeys(("download_path", "infohash_v2", "tracker"), ""),
    **dict.fromkeys(("dl_limit", "up_limit", "max_seeding_time", "max_inactive_seeding_time"), -1),
    **dict.fromkeys(("seeding_time_limit", "inactive_seeding_time_limit"), -2),
    **dict.fromkeys(("max_ratio", "num_incomplete", "num_leechs", "ratio", "ratio_limit"), 0),
    **dict.fromkeys(("seeding_time", "trackers_count", "uploaded", "uploaded_session"), 0),
    "super_seeding": False,
    "upspeed": 0,
}
SAME_OF_ONE = {
    **dict.fromkeys(("peers", "peers_total", "pieces_have", "reannounce", "share_ratio"), 0),
    **dict.fromkeys(("total_uploaded", "total_uploaded_session", "total_wasted"), 0),
    **dict.fromkeys(("up_speed", "up_speed_avg"), 0),
    **dict.fromkeys(("creation_date", "piece_size", "pieces_num"), -1),
    "created_by": "",
    "download_path": "",
    "is_private": False,
    "nb_connections_limit": 100,
}
# Fields of one torrent that its row in a list has, too.
ROW_FIELDS = frozenset(["comment", "eta", "hash", "infohash_v1", "infohash_v2", "name"])
ROW_FIELDS |= frozenset(["save_path", "seeding_time", "total_size"])
RENAMED = {
    "addition_date": "added_on",
    "completion_date": "completion_on",
    "dl_speed": "dlspeed",
    "dl_speed_avg": "dlspeed",
    "last_seen": "seen_complete",
    "time_elapsed": "time_active",
    "total_downloaded": "downloaded",
    "total_downloaded_session": "downloaded",
}
SAME_PREFERENCES = {
    **dict.fromkeys(("alt_dl_limit", "alt_up_limit", "dl_limit", "up_limit", "max_ratio_act"), 0),
    **dict.fromkeys(("auto_tmm_enabled", "incomplete_files_ext", "start_paused_enabled"), False),
    **dict.fromkeys(("max_ratio_enabled", "max_seeding_time_enabled", "temp_path_enabled"), False),
    **dict.fromkeys(("max_ratio", "max_seeding_time", "max_inactive_seeding_time"), -1),
    **dict.fromkeys(("create_subfolder_enabled", "dht", "pex", "queueing_enabled"), True),
    "max_inactive_seeding_time_enabled": False,
    "max_active_downloads": -1,
    "locale": "en",
    "torrent_content_layout": "Original",
}
SAME_TRANSFER_INFO = dict.fromkeys(
    (
        "dht_nodes",
        "dl_info_data",
        "dl_rate_limit",
        "up_info_data",
        "up_info_speed",
        "up_rate_limit",
    ),
    0,
)
SAME_SERVER_STATE = {
    **dict.fromkeys(("alltime_dl", "alltime_ul", "average_time_queue", "queued_io_jobs"), 0),
    **dict.fromkeys(("total_buffers_size", "total_peer_connections", "total_queued_size"), 0),
    **dict.fromkeys(("read_cache_hits", "read_cache_overload", "write_cache_overload"), "0"),
    "total_wasted_session": 0,
    "global_ratio": "0",
    "refresh_interval": 2000,
    "queueing": True,
    "use_subcategories": False,
}


def state_of(torrent: Torrent) -> str:
    """Return the state. Paused after completion is the one in which programs may remove it."""
    if torrent.is_complete:
        return "pausedUP"
    if torrent.is_missing:
        return "missingFiles"
    if torrent.is_in_trouble:
        return STATES.get(torrent.transfer.state, "error")
    return "moving" if torrent.is_moving else STATES.get(torrent.transfer.state, "error")


def is_shown(row: Mapping[str, Any], name: str) -> bool:
    """Return whether a filter shows a row; names that it doesn't know show everything."""
    if name in ("resumed", "running"):
        return row["state"] not in STOPPED
    return name not in FILTERS or row["state"] in FILTERS[name]


def row_of(torrent: Torrent, place: int) -> dict[str, Any]:
    """Return a torrent of a list. `place`: in the queue, from 1; 0 if it isn't there."""
    transfer, is_complete = torrent.transfer, torrent.is_complete
    added_at, ended_at = int(transfer.added_at or transfer.since), int(transfer.ended_at or 0)
    completed_at = ended_at if is_complete else -1
    eta = UNKNOWN_ETA if transfer.left_seconds is None else transfer.left_seconds
    done = dict.fromkeys(("completed", "downloaded", "downloaded_session"), transfer.done_bytes)
    return {
        **SAME,
        **done,
        "added_on": added_at,
        "amount_left": torrent.left_bytes,
        "availability": float(is_complete),
        "category": torrent.category,
        "comment": torrent.trouble,
        "completion_on": completed_at,
        "content_path": torrent.path,
        "dlspeed": transfer.rate,
        "eta": 0 if is_complete else eta,
        "hash": torrent.hash,
        "infohash_v1": torrent.hash,
        "last_activity": ended_at or int(transfer.since),
        "magnet_uri": f"magnet:?xt=urn:btih:{torrent.hash}",
        "name": transfer.name or torrent.hash,
        "num_complete": transfer.peers,
        "num_seeds": transfer.peers,
        "priority": place,
        "progress": torrent.progress,
        "save_path": torrent.folder,
        "seen_complete": completed_at,
        "size": transfer.size_bytes,
        "state": state_of(torrent),
        "tags": torrent.marks.tags or "",
        "time_active": max(ended_at - added_at, 0),
        "total_size": transfer.size_bytes,
    }


def rows_of(torrents: Iterable[Torrent]) -> list[dict[str, Any]]:
    rows, place = [], 0
    for each in torrents:
        place += not each.transfer.is_ended
        rows.append(row_of(each, 0 if each.transfer.is_ended else place))
    return rows


def properties_of(torrent: Torrent, limits: OwnLimits) -> dict[str, Any]:
    row, peers = row_of(torrent, 0), torrent.transfer.peers
    same = {name: row[name] for name in ROW_FIELDS}
    renamed = {name: row[of] for name, of in RENAMED.items()}
    counts = dict.fromkeys(("nb_connections", "seeds", "seeds_total"), peers)
    own = {
        "dl_limit": limits.download_bytes_per_second or NO_LIMIT,
        "up_limit": limits.upload_bytes_per_second or NO_LIMIT,
    }
    return SAME_OF_ONE | counts | same | renamed | own


def preferences() -> dict[str, Any]:
    """Return the few preferences that programs read; Ferry has no others of them."""
    top = places.top()
    return SAME_PREFERENCES | {"save_path": str(top), "temp_path": str(top / places.HIDDEN)}


def categories(names: Iterable[str]) -> dict[str, dict[str, str]]:
    return {name: {"name": name, "savePath": str(places.folder_of(name))} for name in names}


def transfer_info(torrents: Torrents) -> dict[str, Any]:
    status = "disconnected" if torrents.cached_list.failures else "connected"
    return SAME_TRANSFER_INFO | {"connection_status": status, "dl_info_speed": torrents.rate}


def server_state(torrents: Torrents) -> dict[str, Any]:
    limits = torrents.limits
    now = {
        "dl_rate_limit": limits.download_bytes_per_second if limits else 0,
        "free_space_on_disk": torrents.space_bytes[0],
        "up_rate_limit": limits.upload_bytes_per_second if limits else 0,
        "use_alt_speed_limits": limits is not None and limits.is_slow,
    }
    return transfer_info(torrents) | SAME_SERVER_STATE | now
