"""Records that v1 returns: encoded as JSON in this order, and described in OpenAPI.

A field without a value is omitted if its type includes UnsetType; all others are always present.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, cast

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, convert

from service import models
from service.content.signed_links import ListingLinks
from service.details import Details, LogEntry, decode_details, read_log
from service.http.records import Time, Whole, Wish, moment
from service.library import kinds
from service.library.file_rows import FileRow
from service.library.library import FolderRow
from service.media.pictures.sizes import PRESENTATIONS, THUMBNAIL
from service.media.probe import Camera, Chapter
from service.torrents.events import SwarmPeer, SwarmPieces, SwarmTracker
from service.transfers import choices
from service.transfers.transfers import TransferRow

# Looked up once: enumeration members cost more than everything else in a row.
VIDEO, AUDIO = models.Media.Kind.VIDEO.value, models.Media.Kind.AUDIO.value
WITH_PICTURES = (VIDEO, models.Media.Kind.PICTURE.value)
NOT_PROBED = (None, models.Media.State.WANTED.value)
LONGEST_PATH = 1_024

Parent = Annotated[Whole, Meta(description="The folder above; -1 above the root")]
Rate = Annotated[Whole, Meta(description="Bytes per second")]
Size = Annotated[Whole, Meta(description="0 until it is known")]
Progress = Annotated[float, Meta(description="Percent; 101 once the content is in its folder")]
Warnings = Annotated[str, Meta(description="An array of sentences in English, as JSON in a string")]
State = Annotated[str, Meta(extra_json_schema={"enum": models.Transfer.State.values})]
Reason = Annotated[str | None, Meta(description="Why it is in this state, in one word")]
CreatedFile = Annotated[Whole | None, Meta(description="The file that it became")]
FileCount = Annotated[
    Whole | UnsetType, Meta(description="How many files a torrent has, once they are known")
]
Chooses = Annotated[
    bool | UnsetType, Meta(description="Whether it stops then, until some of them are chosen")
]
CreatedFolder = Annotated[Whole | None, Meta(description="The folder that it became")]


def percent(value: float) -> int | float:
    """Return a whole number as int: typed clients read 101, and fail on 101.0."""
    return int(value) if value.is_integer() else value


class Result(Struct, kw_only=True):
    result: bool = True
    code: Whole = 200


class Space(Struct, kw_only=True):
    space_max: Whole
    space_used: Whole
    space_scope: str = "user"


# Folders and files


class Folder(Struct, gc=False):
    id: Whole
    path: Annotated[str, Meta(description="The same as its name")]
    name: str
    fullname: Annotated[str, Meta(description="The path from the root")]
    size: Whole
    last_update: Time


def folder_record(row: FolderRow, path_of_parent: str) -> Folder:
    return Folder(
        id=row.id,
        path=row.name,
        name=row.name,
        fullname=f"{path_of_parent}/{row.name}" if path_of_parent else row.name,
        size=row.size_bytes,
        last_update=row.moment,
    )


class Presentations(Struct, gc=False):
    image: Annotated[dict[str, str], Meta(description="Links to pictures, by width in pixels")]
    video: Annotated[dict[str, str], Meta(description="The link to a stream, as hls")]


class File(Struct, gc=False, kw_only=True):
    id: Whole
    name: str
    size: Whole
    hash: Annotated[str, Meta(description="SHA-1")]
    folder_id: Whole
    last_update: Time
    is_video: bool
    is_audio: bool
    play_video: bool
    play_audio: bool
    stream_video: bool
    stream_audio: bool
    thumb: Annotated[str | UnsetType | None, Meta(description="A link to a small picture")] = UNSET
    presentation_urls: Presentations | UnsetType = UNSET
    has_picture: Annotated[
        bool | UnsetType, Meta(description="Instead of links, where these were not wanted")
    ] = UNSET
    video_converted: str | UnsetType = UNSET
    duration: Annotated[float | UnsetType, Meta(description="Seconds")] = UNSET
    width: Whole | UnsetType = UNSET
    height: Whole | UnsetType = UNSET
    taken: Annotated[
        str | UnsetType, Meta(description="When a picture was taken, where no links were wanted")
    ] = UNSET


class LinkForms:
    """Templates of a file's links in JSON, to be filled with its id and signatures.

    msgspec copies this JSON as it is. Encoding a dictionary of links would take twice as long as
    everything else in a listing. Links have no character that JSON escapes.
    """

    def __init__(self, links: ListingLinks) -> None:
        self._links = links
        self._thumb = b'"%b"' % links.picture(THUMBNAIL.name)
        self._images = b",".join(
            b'"%d":"%b"' % (size.width, links.picture(size.name)) for size in PRESENTATIONS
        )
        self._stream = b'"hls":"%b"' % links.stream()

    def add(self, file: File, *, has_picture: bool, has_stream: bool) -> None:
        file.thumb, images, video = None, b"", b""
        if has_picture:
            signed = file.id, self._links.sign_pictures(file.id)
            file.thumb = cast("str", Raw(self._thumb % signed))
            images = self._images % (signed * len(PRESENTATIONS))
        if has_stream:
            video = self._stream % (file.id, self._links.sign_stream(file.id))
        encoded = Raw(b'{"image":{%b},"video":{%b}}' % (images, video))
        file.presentation_urls = cast("Presentations", encoded)


def file_record(row: FileRow, folder_id: int, links: LinkForms | None) -> File:
    """Return the record of a file; without `links`, omit links to pictures and streams."""
    is_probed = row.media_state not in NOT_PROBED
    kind = row.kind if is_probed else kinds.kind_of(row.name)
    is_video, is_audio = kind == VIDEO, kind == AUDIO
    # Until the content is probed, its name says whether there will be a picture.
    has_picture = bool(row.has_picture) if is_probed else kind in WITH_PICTURES
    file = File(
        id=row.id,
        name=row.name,
        size=row.size_bytes,
        hash=row.sha1,
        folder_id=folder_id,
        last_update=row.moment,
        is_video=is_video,
        is_audio=is_audio,
        play_video=is_video,
        play_audio=is_audio,
        stream_video=is_video,
        stream_audio=is_audio,
    )
    if is_probed:
        add_media_facts(file, row)
    if links is None:
        file.has_picture, file.taken = has_picture, row.taken or UNSET
    else:
        links.add(file, has_picture=has_picture, has_stream=is_video and is_probed)
    return file


def add_media_facts(file: File, row: FileRow) -> None:
    """Add the known facts about the medium, and omit the others."""
    if file.is_video:
        file.video_converted = "100"
    if row.duration_ms is not None:
        file.duration = row.duration_ms / 1000
    if row.width and row.height:
        file.width, file.height = row.width, row.height


def end_of(path: str) -> str:
    """Return the end of a path, which says more than its beginning: it may have 50,000 letters."""
    return path if len(path) <= LONGEST_PATH else f"…{path[1 - LONGEST_PATH :]}"


class LocatedFolder(Struct, kw_only=True):
    id: Whole
    name: str
    size: Whole
    folder_id: Whole
    folder: Annotated[str, Meta(description="The path of the folder that it is in")]
    last_update: Time


class LocatedFile(LocatedFolder, kw_only=True):
    hash: Annotated[str, Meta(description="SHA-1")]


def located_file_records(
    files: Iterable[models.File], path_of: Mapping[int, str]
) -> list[LocatedFile]:
    """Omit files whose folder was deleted between the queries: it took them along."""
    return [
        LocatedFile(
            id=file.pk,
            name=file.name,
            size=file.size_bytes,
            hash=file.sha1,
            folder_id=file.folder_id,
            folder=end_of(path_of[file.folder_id]),
            last_update=moment(file.updated_at),
        )
        for file in files
        if file.folder_id in path_of
    ]


def located_folder_record(folder: models.Folder, path_of_parent: str) -> LocatedFolder:
    return LocatedFolder(
        id=folder.pk,
        name=folder.name,
        size=folder.size_bytes,
        folder_id=folder.parent_id or 0,
        folder=end_of(path_of_parent),
        last_update=moment(folder.updated_at),
    )


# Transfers


class ListedTransfer(Struct, gc=False, kw_only=True):
    id: Whole
    name: str
    size: Size
    hash: str
    progress: Progress
    seeders: Whole
    leechers: Whole
    stopped: Whole
    warnings: Warnings
    download_rate: Rate
    upload_rate: Rate
    torrent_quality: Whole = 2
    connected_to: Whole
    downloading_from: Whole
    uploading_to: Whole
    folder: Annotated[str, Meta(description="The path of the folder that the content goes to")]
    folder_created: CreatedFolder
    last_update: Time
    state: State
    reason: Reason
    details: Details | UnsetType = UNSET
    file_created: CreatedFile
    file_count: FileCount = UNSET
    chooses: Chooses = UNSET


class Transfer(Struct, kw_only=True):
    """A transfer, with more fields than in a listing."""

    id: Whole
    hash: str
    node_id: str = "ferry"
    stopped: Whole
    folder_created_id: CreatedFolder
    folder_id: Annotated[Whole, Meta(description="The folder that the content goes to")]
    last_update: Time
    unwanted: Annotated[str, Meta(description="An array of the unwanted files' indexes, as JSON")]
    space_max: Whole
    space_used: Whole
    space_scope: str = "user"
    name: str
    type: str = "torrent"
    progress: Progress
    speed: Rate
    size: Size
    parent: Whole = -1
    timestamp: Time
    result: bool = True
    code: Whole = 200
    title: str
    folder_created: CreatedFolder
    download_rate: Rate
    upload_rate: Rate
    seeders: Whole
    leechers: Whole
    connected_to: Whole
    downloading_from: Whole
    uploading_to: Whole
    torrent_quality: Whole = 2
    warnings: Warnings
    state: State
    reason: Reason
    details: Details | UnsetType = UNSET
    file_created: CreatedFile
    file_count: FileCount = UNSET
    chooses: Chooses = UNSET


class Transfers(Space, kw_only=True):
    result: bool = True
    code: Whole = 200
    torrents: list[ListedTransfer]
    transfers: Annotated[list[ListedTransfer], Meta(description="The same as torrents")]


def transfer_record(transfer: TransferRow, path_of_folder: str) -> ListedTransfer:
    facts = transfer_facts(transfer)
    return ListedTransfer(**facts, last_update=transfer.moment, folder=path_of_folder)


def whole_transfer_record(
    transfer: models.Transfer, account: models.Account, now: datetime
) -> Transfer:
    return Transfer(
        **transfer_facts(transfer),
        last_update=moment(transfer.updated_at),
        folder_created_id=transfer.folder_created_id,
        folder_id=transfer.folder_id,
        unwanted=json.dumps(choices.unwanted_of(transfer)),
        space_max=account.space_max_bytes,
        space_used=account.space_used_bytes,
        speed=transfer.download_bytes_per_second,
        timestamp=moment(now),
        title=transfer.title,
    )


def transfer_facts(transfer: models.Transfer | TransferRow) -> dict[str, Any]:
    details = decode_details(transfer.details) if transfer.reason else None
    return {
        "id": transfer.id,
        "name": transfer.title,
        "size": transfer.size_bytes,
        "hash": models.wire_hash(transfer.info_hash_v1, transfer.info_hash_v2),
        "progress": percent(transfer.progress_percent),
        "seeders": transfer.seeders,
        "leechers": transfer.leechers,
        "stopped": int(transfer.state == models.Transfer.State.STOPPED),
        "warnings": json.dumps([details.sentence] if details else [], ensure_ascii=False),
        "download_rate": transfer.download_bytes_per_second,
        "upload_rate": transfer.upload_bytes_per_second,
        "connected_to": transfer.peers_connected,
        "downloading_from": transfer.peers_sending,
        "uploading_to": transfer.peers_receiving,
        "folder_created": transfer.folder_created_id,
        "state": transfer.state,
        "reason": transfer.reason or transfer.notice or None,
        "details": details or UNSET,
        "file_created": transfer.file_created_id,
        "file_count": transfer.file_count or UNSET,
        "chooses": transfer.chooses or UNSET,
    }


class FileOfTransfer(Struct):
    index: Whole
    path: str
    size: Whole
    progress: Annotated[Whole, Meta(description="Percent")]
    wanted: bool


class FilesOfTransfer(Result, kw_only=True):
    files: Annotated[list[FileOfTransfer], Meta(description="Empty while they are unknown")]


class SwarmOfTransfer(Struct):
    peer_count: Whole
    peers: Annotated[list[SwarmPeer], Meta(description="The fastest")]
    trackers: list[SwarmTracker]
    pieces: SwarmPieces
    availability: Annotated[float, Meta(description="Copies within reach; -1: unknown")]


class DetailsOfTransfer(Result, kw_only=True):
    added: Time
    downloaded: Annotated[Whole, Meta(description="Bytes that have arrived")]
    uploaded: Annotated[Whole, Meta(description="Bytes that peers got")]
    has_swarm: Annotated[bool, Meta(description="Whether the engine has it now")]
    swarm: Annotated[SwarmOfTransfer | None, Meta(description="null: it isn't known yet")]
    log: Annotated[list[LogEntry], Meta(description="The last 50 changes, the oldest first")]


def details_record(
    transfer: models.Transfer, row: models.TransferDetails, *, has_swarm: bool
) -> DetailsOfTransfer:
    share = min(transfer.progress_percent, 100) / 100
    return DetailsOfTransfer(
        added=moment(transfer.created_at),
        downloaded=int(transfer.size_bytes * share),
        uploaded=transfer.uploaded_bytes,
        has_swarm=has_swarm,
        swarm=convert(row.swarm, SwarmOfTransfer) if row.swarm else None,
        log=read_log(row.log),
    )


class Limits(Result, kw_only=True):
    download_bytes_per_second: Rate
    upload_bytes_per_second: Rate
    active_transfers: Whole
    seed_ratio: float
    seed_minutes: Whole
    slow_download_bytes_per_second: Rate
    slow_upload_bytes_per_second: Rate
    schedule: Annotated[str, Meta(description="1 for each slow half hour of a week, else 0")]
    is_slow: Annotated[bool, Meta(description="Whether the slow speeds apply now")]
    changes_at: Annotated[Time | None, Meta(description="When that ends; null: not by itself")]
    switched_to: Annotated[str, Meta(description="slow, full, or empty: what the schedule says")]
    switched_until: Annotated[Time | None, Meta(description="null: until the next switch")]
    fixed: Annotated[list[str], Meta(description="Fields that only the environment can change")]
    may_change: Annotated[bool, Meta(description="Whether this account may change them")]
    time_zone: Annotated[str, Meta(description="Of the schedule")]


class OwnLimits(Result, kw_only=True):
    """The limits that a transfer has of its own; null: none."""

    download_bytes_per_second: Rate | None
    upload_bytes_per_second: Rate | None
    seed_ratio: float | None
    seed_minutes: Whole | None


class Reachability(Result, kw_only=True):
    port: Annotated[Whole, Meta(description="Of BitTorrent; 0: it listens nowhere")]
    reachable: Annotated[bool | None, Meta(description="null: it is too early to say")]
    mapping: Annotated[
        str, Meta(description="By the router: off, mapped, failed, or not yet known")
    ]
    incoming_at: Annotated[Time | None, Meta(description="When a peer last connected")]
    proxy: Annotated[bool, Meta(description="Whether BitTorrent uses a proxy")]


class TrafficPart(Struct):
    start: Time
    received: Annotated[Whole, Meta(description="Bytes")]
    sent: Whole


class TransferTraffic(Struct):
    id: Whole
    received: Annotated[Whole, Meta(description="Bytes, as of now")]
    sent: Whole


class TrafficOfAccount(Result, kw_only=True):
    parts: Annotated[list[TrafficPart], Meta(description="The oldest first")]
    transfers: Annotated[
        list[TransferTraffic], Meta(description="The newest of those added in this period")
    ]


class Added(Struct, kw_only=True):
    result: bool = True
    success: bool = True
    code: Whole = 200
    status_code: Whole = 200
    id: Whole
    user_torrent_id: Whole
    title: str
    name: str
    torrent_hash: str
    reason: Annotated[str | UnsetType, Meta(description="Why it is fetched again")] = UNSET
    transfers: Annotated[list["Added"] | UnsetType, Meta(description="All of several")] = UNSET


def added_record(transfer: models.Transfer) -> Added:
    return Added(
        id=transfer.pk,
        user_torrent_id=transfer.pk,
        title=transfer.title,
        name=transfer.title,
        torrent_hash=transfer.wire_hash,
        reason=transfer.notice or UNSET,
    )


# Listings


class Listing(Space, kw_only=True):
    saw_walkthrough: Whole = 1
    id: Whole
    timestamp: Time
    path: Annotated[str, Meta(description="The name of the folder, empty for the root")]
    size: Whole
    parent: Parent
    folders: list[Folder]
    files: list[File]
    torrents: Annotated[list[ListedTransfer], Meta(description="In the root only")]
    tasks: list[Any] = []
    album_groups: list[Any] = []
    result: bool = True
    code: Whole = 200
    name: str
    fullname: Annotated[str, Meta(description="The path from the root")]
    parent_id: Parent
    type: str = "folder"
    indexes: list[Any] = []
    transfers: Annotated[list[ListedTransfer], Meta(description="The same as torrents")]


class Largest(Result, kw_only=True):
    files: list[LocatedFile]


class CameraResult(Camera, kw_only=True):
    result: bool = True
    code: Whole = 200


class Filmstrip(Struct):
    """A picture with what a film shows at even intervals, row by row."""

    url: str
    frames: Whole
    frames_in_row: Whole


class ScenesResult(Result, kw_only=True):
    chapters: list[Chapter]
    filmstrip: Filmstrip | UnsetType = UNSET


class DeletedEntry(Struct, kw_only=True):
    id: Annotated[Whole, Meta(description="Of the deletion; `entry_id` is the file's or folder's")]
    batch: Annotated[Whole, Meta(description="The same for what was deleted together")]
    type: Annotated[str, Meta(extra_json_schema={"enum": ["file", "folder"]})]
    entry_id: Whole
    name: str
    folder: Annotated[str, Meta(description="The path of the folder that it was in")]
    size: Whole
    deleted: Time


def deleted_record(item: models.DeletedItem) -> DeletedEntry:
    return DeletedEntry(
        id=item.pk,
        batch=item.batch,
        type="folder" if item.is_folder else "file",
        entry_id=item.entry_id,
        name=item.name,
        folder=end_of(item.path),
        size=item.size_bytes,
        deleted=moment(item.deleted_at),
    )


class DeletedEntries(Result, kw_only=True):
    items: list[DeletedEntry]
    size: Annotated[Whole, Meta(description="Of everything that can be restored")]
    days: Annotated[Whole, Meta(description="For how long it can")]
    has_more: bool


class Deletion(Result, kw_only=True):
    batch: Annotated[Whole, Meta(description="What restores all of it; 0 if nothing was there")]
    count: Whole


class RestoredEntry(Struct, kw_only=True):
    type: str
    entry_id: Whole
    folder_id: Whole
    name: Annotated[str, Meta(description="With a number if its name was taken")]


class RestoredEntries(Result, kw_only=True):
    items: list[RestoredEntry]


class SearchResults(Result, kw_only=True):
    folders: list[LocatedFolder]
    files: list[LocatedFile]
    has_more: bool
    count: Whole
    has_uncounted: bool


# Results of actions


class Created(Struct, kw_only=True):
    success: bool = True
    id: Annotated[str, Meta(description="A number, as older clients read it: in a string")]
    path: str
    result: bool = True
    code: Whole = 200


class MoveResult(Result, kw_only=True):
    batch: Annotated[Whole, Meta(description="Undoes it; 0 if nothing has changed")]
    count: Whole
    taken: Annotated[list[str], Meta(description="Names that are taken; then nothing was moved")]
    taken_count: Annotated[Whole, Meta(description="How many there are; 100 are listed")]


class UndoResult(Result, kw_only=True):
    count: Whole
    folder_ids: Annotated[list[Whole], Meta(description="The folders whose contents changed")]


class Changed(Struct):
    success: bool = True
    result: bool = True
    code: Whole = 200


class ChangedTransfers(Changed, kw_only=True):
    changed: Annotated[list[Whole], Meta(description="Ids of those that have changed")]


class SubtitlesNotShown(Struct):
    """Subtitles that are pictures, which the playlist therefore can't name."""

    name: str
    language: str
    title: str
    codec: str
    url: Annotated[
        str | UnsetType, Meta(description="The film with these subtitles in its pictures")
    ] = UNSET


class Playable(Result, kw_only=True):
    url: str
    converting: bool | UnsetType = UNSET
    progress: Annotated[float | UnsetType, Meta(description="Percent")] = UNSET
    subtitles_not_shown: list[SubtitlesNotShown] | UnsetType = UNSET


# The account


class Settings(Struct):
    allow_remote_access: Whole = 1
    site_language: str = "en"
    subtitles_language: str = "eng"
    email_announcements: Whole = 0
    email_newsletter: Whole = 0


class Account(Struct, kw_only=True):
    username: str
    email: str
    user_id: Whole
    premium: bool
    package_id: Whole
    package_name: str
    space_max: Whole
    space_used: Whole
    space_scope: str = "user"
    bandwidth_used: Whole = 0
    wishlist: list[Wish]
    invites: Whole = 0
    invites_accepted: Whole = 0
    max_invites: Whole = 0


class User(Struct, kw_only=True):
    settings: Settings
    account: Account
    country: str = ""
    result: bool = True
    code: Whole = 200
    success: bool = True
    username: str
    user_id: Whole
    space_used: Whole
    space_max: Whole
    bandwidth_used: Whole = 0
    id: Whole
