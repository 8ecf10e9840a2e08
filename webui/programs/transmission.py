"""The records of Transmission 4.0.6 (RPC version 17)."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from webui.handover import places
from webui.programs.listing import Row
from webui.programs.torrents import Torrent, Torrents
from webui.transfers import states

VERSION, RPC_VERSION = "4.0.6 (38c164933e)", 17
STOPPED, QUEUED, DOWNLOADING = 0, 3, 4
UNKNOWN_ETA = -1
LOCAL_ERROR = 3
STATUSES = {states.STOPPED: STOPPED, states.QUEUED: QUEUED}
UNITS = {
    f"{name}-{part}": value
    for name, ending in (("memory", "iB"), ("size", "B"), ("speed", "B/s"))
    for part, value in (
        ("units", [f"{letter}{ending}" for letter in "kMGT"]),
        ("bytes", 1024 if name == "memory" else 1000),
    )
}
# The same for all torrents. A program may remove what is complete: the limit, which is nothing, has
# been reached.
SAME: Row = {
    **dict.fromkeys(("bandwidthPriority", "corruptEver", "haveUnchecked", "recheckProgress"), 0),
    **dict.fromkeys(("peersGettingFromUs", "rateUpload", "secondsSeeding", "seedIdleLimit"), 0),
    **dict.fromkeys(("seedIdleMode", "seedRatioLimit", "uploadedEver", "uploadRatio"), 0),
    "comment": "",
    "isPrivate": False,
    "seedRatioMode": 1,
    "trackers": [],
    "trackerStats": [],
}
SAME_OF_SESSION: Row = {
    **dict.fromkeys(("alt-speed-enabled", "idle-seeding-limit-enabled"), False),
    **dict.fromkeys(("rename-partial-files", "seedRatioLimited"), False),
    **dict.fromkeys(("speed-limit-down-enabled", "speed-limit-up-enabled"), False),
    **dict.fromkeys(("dht-enabled", "download-queue-enabled", "incomplete-dir-enabled"), True),
    **dict.fromkeys(("idle-seeding-limit", "peer-port", "seedRatioLimit"), 0),
    **dict.fromkeys(("download-dir-free-space", "speed-limit-down", "speed-limit-up"), 0),
    "config-dir": "",
    "download-queue-size": 100,
    "encryption": "preferred",
    "units": UNITS,
    "rpc-version": RPC_VERSION,
    "rpc-version-minimum": 14,
    "rpc-version-semver": "5.3.0",
    "start-added-torrents": True,
    "version": VERSION,
}


def id_of(torrent: Torrent) -> int:
    """Return a number that stays, since programs remember it."""
    return int(torrent.hash[:8], 16) % (2**31 - 1) + 1


def labels_of(torrent: Torrent) -> list[str]:
    """Return the category, and then the tags."""
    return [label for label in (torrent.category, *torrent.tags) if label]


def status_of(torrent: Torrent) -> int:
    """Return the status. Programs may remove what stopped after it was complete."""
    if torrent.is_complete:
        return STOPPED
    return DOWNLOADING if torrent.is_moving else STATUSES.get(torrent.transfer.state, DOWNLOADING)


def record_of(torrent: Torrent, place: int, fields: Sequence[str], files: list[Row]) -> Row:
    """Return the fields that a program wants. `files` are only needed for some of them."""
    transfer, path, left_bytes = torrent.transfer, PurePath(torrent.path), torrent.left_bytes
    trouble = (torrent.trouble or "error") if torrent.is_in_trouble else ""
    is_running = not torrent.is_complete and transfer.left_seconds is not None
    added_at, ended_at = int(transfer.added_at or transfer.since), int(transfer.ended_at or 0)
    record: Row = SAME | {
        "activityDate": ended_at or int(transfer.since),
        "addedDate": added_at,
        "desiredAvailable": left_bytes,
        "doneDate": ended_at if torrent.is_complete else 0,
        # Programs look for the name in this folder.
        "downloadDir": str(path.parent) if torrent.path else "",
        "downloadedEver": transfer.done_bytes,
        "error": LOCAL_ERROR if trouble else 0,
        "errorString": trouble,
        "eta": transfer.left_seconds if is_running else UNKNOWN_ETA,
        **dict.fromkeys(("fileCount", "file-count"), max(transfer.file_count, 1)),
        "hashString": torrent.hash,
        "haveValid": transfer.done_bytes,
        "id": id_of(torrent),
        "isFinished": torrent.is_complete,
        "isStalled": transfer.state == states.STALLED,
        "labels": labels_of(torrent),
        "leftUntilDone": left_bytes,
        "magnetLink": f"magnet:?xt=urn:btih:{torrent.hash}",
        "metadataPercentComplete": int(transfer.state != states.METADATA),
        "name": path.name or transfer.name or torrent.hash,
        **dict.fromkeys(("peersConnected", "peersSendingToUs"), transfer.peers),
        "percentDone": torrent.progress,
        "queuePosition": place,
        "rateDownload": transfer.rate,
        "secondsDownloading": max(ended_at - added_at, 0),
        **dict.fromkeys(("sizeWhenDone", "totalSize"), transfer.size_bytes),
        "startDate": added_at,
        "status": status_of(torrent),
        **file_fields(files),
    }
    return {name: record[name] for name in fields if name in record}


def file_fields(files: list[Row]) -> Row:
    wanted, done = [each["priority"] > 0 for each in files], [*map(bytes_of, files)]
    return {
        "files": [
            {"name": each["name"], "length": each["size"], "bytesCompleted": size}
            for each, size in zip(files, done, strict=True)
        ],
        "fileStats": [
            {"wanted": is_wanted, "priority": 0, "bytesCompleted": size}
            for is_wanted, size in zip(wanted, done, strict=True)
        ],
        "priorities": [0] * len(files),
        "wanted": wanted,
    }


def bytes_of(file: Row) -> int:
    return int(file["size"] * file["progress"])


def session(session_id: str) -> dict[str, Any]:
    top = places.top()
    now = {"session-id": session_id, "download-dir": str(top)}
    return SAME_OF_SESSION | now | {"incomplete-dir": str(top / places.HIDDEN)}


def session_stats(torrents: Torrents) -> dict[str, Any]:
    nothing = {"downloadedBytes": 0, "filesAdded": 0, "secondsActive": 0, "uploadedBytes": 0}
    statuses = [status_of(each) for each in torrents.by_hash.values()]
    return {
        "activeTorrentCount": statuses.count(DOWNLOADING),
        "cumulative-stats": nothing | {"sessionCount": 1},
        "current-stats": nothing | {"sessionCount": 1},
        "downloadSpeed": torrents.rate,
        "pausedTorrentCount": statuses.count(STOPPED),
        "torrentCount": len(statuses),
        "uploadSpeed": 0,
    }
