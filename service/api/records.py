"""Rows of the library and of transfers, in the wire's words (wire.md section 2)."""

import json
from datetime import datetime
from typing import Any

from service import kinds
from service.library import FileRow, FolderRow
from service.links import ListingLinks
from service.media.sizes import PRESENTATIONS, THUMBNAIL
from service.models import Account, Media, Transfer, Wish, wire_hash
from service.transfers import TransferRow

PRESENTED = tuple((str(size.width), size.name) for size in PRESENTATIONS)


def moment(at: datetime) -> str:
    """In UTC, which is what the database gives, without saying so."""
    return str(at)[:19]


def space_record(account: Account) -> dict[str, Any]:
    return {
        "space_max": account.space_max_bytes,
        "space_used": account.space_used_bytes,
        "space_scope": "user",
    }


def folder_record(row: FolderRow, path_of_parent: str) -> dict[str, Any]:
    return {
        "id": row.id,
        "path": row.name,
        "name": row.name,
        "fullname": f"{path_of_parent}/{row.name}" if path_of_parent else row.name,
        "size": row.size_bytes,
        "last_update": row.moment,
    }


def file_record(row: FileRow, folder_id: int) -> dict[str, Any]:
    """`has_picture` and `has_stream` stand where clients find the links to them (link_facts)."""
    is_probed = row.media_state not in (None, Media.State.WANTED)
    kind = row.kind if is_probed else kinds.kind_of(row.name)
    is_video, is_audio = kind == Media.Kind.VIDEO, kind == Media.Kind.AUDIO
    has_picture = row.has_picture if is_probed else is_video or kind == Media.Kind.PICTURE
    return {
        "id": row.id,
        "name": row.name,
        "size": row.size_bytes,
        "hash": row.sha1,
        "folder_id": folder_id,
        "last_update": row.moment,
        "is_video": is_video,
        "is_audio": is_audio,
        "play_video": is_video,
        "play_audio": is_audio,
        "stream_video": is_video,
        "stream_audio": is_audio,
        "has_picture": bool(has_picture),
        "has_stream": is_video and is_probed,
        **(media_facts(row, is_video=is_video) if is_probed else {}),
    }


def link_facts(links: ListingLinks, *, has_picture: bool, has_stream: bool) -> dict[str, Any]:
    video = {"hls": links.stream} if has_stream else {}
    if not has_picture:
        return {"thumb": None, "presentation_urls": {"image": {}, "video": video}}
    before, behind = links.picture
    images = {pixels: f"{before}{name}{behind}" for pixels, name in PRESENTED}
    return {
        "thumb": f"{before}{THUMBNAIL.name}{behind}",
        "presentation_urls": {"image": images, "video": video},
    }


def media_facts(row: FileRow, *, is_video: bool) -> dict[str, Any]:
    """What is known, and nothing of what is not."""
    facts: dict[str, Any] = {"video_converted": "100"} if is_video else {}
    if row.duration_ms is not None:
        facts["duration"] = row.duration_ms / 1000
    if row.width and row.height:
        facts |= {"width": row.width, "height": row.height}
    return facts


def transfer_record(transfer: TransferRow, path_of_folder: str) -> dict[str, Any]:
    """As it stands in a listing."""
    return {
        "id": transfer.id,
        "name": transfer.title,
        "size": transfer.size_bytes,
        "hash": wire_hash(transfer.info_hash_v1, transfer.info_hash_v2),
        "progress": transfer.progress_percent,
        "seeders": transfer.seeders,
        "leechers": transfer.leechers,
        "stopped": _stopped(transfer),
        "warnings": _warnings(transfer),
        "download_rate": transfer.download_bytes_per_second,
        "upload_rate": transfer.upload_bytes_per_second,
        "torrent_quality": 2,
        "connected_to": transfer.peers_connected,
        "downloading_from": transfer.peers_sending,
        "uploading_to": transfer.peers_receiving,
        "folder": path_of_folder,
        "folder_created": transfer.folder_created_id,
        "last_update": transfer.moment,
        "state": transfer.state,
        "reason": transfer.reason or transfer.notice or None,
        "file_created": transfer.file_created_id,
    }


def whole_transfer_record(transfer: Transfer, account: Account, now: datetime) -> dict[str, Any]:
    """As it is answered by itself."""
    return {
        "id": transfer.pk,
        "hash": transfer.wire_hash,
        "node_id": "ferry",
        "stopped": _stopped(transfer),
        "folder_created_id": transfer.folder_created_id,
        "folder_id": transfer.folder_id,
        "last_update": moment(transfer.updated_at),
        "unwanted": "[]",
        **space_record(account),
        "name": transfer.title,
        "type": "torrent",
        "progress": transfer.progress_percent,
        "speed": transfer.download_bytes_per_second,
        "size": transfer.size_bytes,
        "parent": -1,
        "timestamp": moment(now),
        "result": True,
        "code": 200,
        "title": transfer.title,
        "folder_created": transfer.folder_created_id,
        "download_rate": transfer.download_bytes_per_second,
        "upload_rate": transfer.upload_bytes_per_second,
        "seeders": transfer.seeders,
        "leechers": transfer.leechers,
        "connected_to": transfer.peers_connected,
        "downloading_from": transfer.peers_sending,
        "uploading_to": transfer.peers_receiving,
        "torrent_quality": 2,
        "warnings": _warnings(transfer),
        "state": transfer.state,
        "reason": transfer.reason or transfer.notice or None,
        "file_created": transfer.file_created_id,
    }


def _warnings(transfer: Transfer | TransferRow) -> str:
    """JSON in a string is what clients read here."""
    return json.dumps([transfer.sentence], ensure_ascii=False) if transfer.sentence else "[]"


def _stopped(transfer: Transfer | TransferRow) -> int:
    return int(transfer.state == Transfer.State.STOPPED)


def added_record(transfer: Transfer) -> dict[str, Any]:
    return {
        "result": True,
        "success": True,
        "code": 200,
        "status_code": 200,
        "id": transfer.pk,
        "user_torrent_id": transfer.pk,
        "title": transfer.title,
        "name": transfer.title,
        "torrent_hash": transfer.wire_hash,
    }


def wish_record(wish: Wish) -> dict[str, Any]:
    return {
        "id": wish.pk,
        "user_id": wish.account_id,
        "title": wish.title,
        "size": wish.size_bytes,
        "torrent_hash": wish.wire_hash,
        "torrent_magnet": wish.magnet,
        "torrent_meta": None,
        "created": moment(wish.created_at),
        "added": 0,
        "is_private": int(wish.is_private),
    }
