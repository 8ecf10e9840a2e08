"""Records that clients send: in the query of a GET, else in a body.

The service enforces these limits, and has a word for each refusal.
"""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from common.names import LONGEST_NAME
from service.accounts.traffic import PARTS
from service.http.refusals import NothingPassed
from service.library.search.search import MOST_FOUND
from service.models import HALF_HOURS, LARGEST_ID
from service.transfers.torrents import magnets
from service.transfers.under_way import Decision

Id = Annotated[int, Meta(ge=0, extra_json_schema={"format": "int64"})]
Text = Annotated[str, Meta(min_length=1)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Link = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=magnets.LONGEST,
        pattern=r"^\s*([Hh][Tt][Tt][Pp][Ss]?://|[Mm][Aa][Gg][Nn][Ee][Tt]:\?)",
    ),
]
Content = Annotated[Any, Meta(extra_json_schema={"type": "string", "format": "binary"})]

NewFolderName = Annotated[Name, Meta(description="The new name, up to 255 characters")]
NameOrPath = Annotated[
    Text, Meta(description="The same; with a slash in it, the full path of a folder to create")
]
Pixels = Annotated[Text, Meta(description="A smaller one: 48, 64, 220 or 720")]
TargetFolder = Annotated[Id, Meta(description="Where the result goes; the root by default")]
ChooseFirst = Annotated[
    int, Meta(ge=0, le=1, description="1: once its files are known, stop until some are chosen")
]
Url = Annotated[Link, Meta(description="Where to fetch from; a magnet link will do")]
TorrentInstead = Annotated[Content, Meta(description="A .torrent file instead")]
MostBytes = Annotated[int, Meta(description="Only files of so many bytes or less")]
Days = Annotated[int, Meta(description="Only files that changed in so many days")]
Only = Annotated[
    Text, Meta(description="folders, or files", extra_json_schema={"enum": ["folders", "files"]})
]
Ids = Annotated[Text, Meta(description="Ids from the list, separated by commas")]
OneName = Annotated[Text, Meta(description="A new name, if a single entry is moved or copied")]
ZipName = Annotated[Text, Meta(description="What to call the archive, without .zip")]
# libtorrent counts no faster.
Speed = Annotated[int, Meta(ge=0, le=2 * 10**9, description="Bytes per second; 0: no limit")]
Ratio = Annotated[float, Meta(ge=0, le=1_000, description="Ends seeding; 0: none is seeded")]
Minutes = Annotated[int, Meta(ge=0, le=525_600, description="The same, whichever comes first")]
ActiveTransfers = Annotated[int, Meta(ge=1, le=1_000, description="Torrents; as many URLs run")]
Schedule = Annotated[
    str,
    Meta(
        min_length=HALF_HOURS,
        max_length=HALF_HOURS,
        pattern=f"^[01]{{{HALF_HOURS}}}$",
        description="1 for each half hour from Monday on in which the slow speeds apply, else 0",
    ),
]
Switch = Annotated[
    Text,
    Meta(
        pattern="^(slow|full|schedule)$",
        description="What applies whatever the schedule says; schedule: what it says",
    ),
]
Until = Annotated[
    Text, Meta(pattern="^(hour|tomorrow)$", description="When a switch ends, if not by another")
]
ArchiveEntries = Annotated[
    Text,
    Meta(
        description='Such as [{"type": "file", "id": 7}, {"type": "folder", "id": 8}]; '
        "also as archive_arr[], archive_arr[0] or archive_arr[0][type]"
    ),
]
DECISIONS = [each.value for each in Decision]
PLACES = ["first", "up", "down", "last"]


class NewFolder(Struct):
    path: Annotated[
        Text, Meta(description="The full path from the root; the folder above must exist")
    ]


class FolderName(Struct):
    rename_to: NewFolderName | UnsetType = UNSET
    name: NameOrPath | UnsetType = UNSET


class FileName(Struct):
    rename_to: Annotated[Name, Meta(description="The new name", extra={"or": "name"})]


class ListingInput(Struct):
    links: Annotated[
        int, Meta(ge=0, le=1, description="0: has_picture instead of thumb and presentation_urls")
    ] = 1


class SearchInput(Struct):
    q: Annotated[str, Meta(description="Parts of words; without any, the newest files")] = ""
    types: Annotated[str, Meta(description="Only files of these types, such as mkv,mp4")] = ""
    min_size: Annotated[int, Meta(description="Only files of so many bytes or more")] = 0
    max_size: MostBytes | UnsetType = UNSET
    days: Days | UnsetType = UNSET
    only: Only | UnsetType = UNSET
    folder_id: Annotated[Id, Meta(description="Only what is below this folder")] = 0
    limit: Annotated[int, Meta(description="How many of each, up to 200")] = MOST_FOUND


class DeletedInput(Struct):
    ids: Ids | UnsetType = UNSET
    batch: Annotated[int, Meta(description="All that were deleted together")] = 0
    all: Annotated[int, Meta(description="1: everything that can be restored")] = 0
    until: Annotated[int, Meta(description="Only items with this id or a lower one")] = LARGEST_ID


class SizeInput(Struct):
    pixels: Pixels | UnsetType = UNSET


class Target(Struct):
    folder_id: TargetFolder = 0
    choose: ChooseFirst = 0


class MagnetInput(Struct):
    magnet: Annotated[
        str,
        Meta(
            description="A magnet link",
            min_length=1,
            max_length=magnets.LONGEST,
            pattern=r"^\s*[Mm][Aa][Gg][Nn][Ee][Tt]:\?",
            extra={"missing": NothingPassed},
        ),
    ]
    folder_id: TargetFolder = 0
    choose: ChooseFirst = 0


class AddressInput(Struct):
    url: Annotated[Url, Meta(extra={"or": "torrent_url"})] | UnsetType = UNSET
    file: TorrentInstead | UnsetType = UNSET
    folder_id: TargetFolder = 0
    choose: ChooseFirst = 0


class TorrentAddress(Struct):
    torrent_url: Url | UnsetType = UNSET
    torrent_file: TorrentInstead | UnsetType = UNSET
    folder_id: TargetFolder = 0
    choose: ChooseFirst = 0


class FileOptions(Target):
    as_file: Annotated[int, Meta(ge=0, le=1, description="1: keep a .torrent as a file, too")] = 0
    replace: Annotated[
        int, Meta(ge=0, le=1, description="1: replace a file of this name, which can be restored")
    ] = 0
    present: (
        Annotated[
            str, Meta(max_length=40, description="The SHA-1 of that file; empty: there is none")
        ]
        | UnsetType
    ) = UNSET


class AnyFile(FileOptions, kw_only=True):
    file: Annotated[Content, Meta(description="A .torrent, or any file to keep")]


class TorrentFileInput(Struct):
    torrent_file: Annotated[Content, Meta(description="A .torrent")]
    folder_id: TargetFolder = 0
    choose: ChooseFirst = 0


class ChoiceInput(Struct):
    wanted: Annotated[Text, Meta(description="Indexes of the wanted files, separated by commas")]


class RankInput(Struct):
    to: Annotated[
        Text, Meta(description="The new place in the queue", extra_json_schema={"enum": PLACES})
    ]


class ChangeInput(Struct):
    ids: Annotated[Text, Meta(description="Ids of transfers, separated by commas")]
    action: Annotated[
        Text, Meta(description="What happens to them", extra_json_schema={"enum": DECISIONS})
    ]
    before: Annotated[Id, Meta(description="With action before: the transfer they precede")] = 0


class ArchiveInput(Struct):
    archive_arr: ArchiveEntries


class ZipOptions(Struct):
    name: ZipName | UnsetType = UNSET


class ZipInput(ZipOptions, kw_only=True):
    archive_arr: ArchiveEntries


class MoveOptions(Struct):
    folder_id: Annotated[Id, Meta(description="Where to; the root by default")] = 0
    if_taken: Annotated[
        str,
        Meta(
            description="What happens to names that are taken there: ask moves nothing and returns "
            "them; keep_both, skip, and replace settle them all",
            min_length=1,
            extra_json_schema={"enum": ["ask", "keep_both", "skip", "replace"]},
        ),
    ] = "ask"
    name: OneName | UnsetType = UNSET


# Empty fields remove the limit.
class OwnLimitsInput(Struct):
    download_bytes_per_second: Speed | UnsetType = UNSET
    upload_bytes_per_second: Speed | UnsetType = UNSET
    seed_ratio: Ratio | UnsetType = UNSET
    seed_minutes: Minutes | UnsetType = UNSET


class TrafficInput(Struct):
    period: Annotated[
        Text,
        Meta(
            description="The last 10 minutes, 24 hours, 30 days, or 12 months",
            extra_json_schema={"enum": [*PARTS]},
        ),
    ] = "day"


class LimitsInput(OwnLimitsInput):
    active_transfers: ActiveTransfers | UnsetType = UNSET
    slow_download_bytes_per_second: Speed | UnsetType = UNSET
    slow_upload_bytes_per_second: Speed | UnsetType = UNSET
    schedule: Schedule | UnsetType = UNSET
    switch: Switch | UnsetType = UNSET
    until: Until | UnsetType = UNSET


class MoveInput(MoveOptions, kw_only=True):
    archive_arr: ArchiveEntries


class UnpackingInput(Struct):
    transfer_id: Annotated[Id, Meta(description="From the response to what is undone")]


class BatchInput(Struct):
    batch: Annotated[int, Meta(description="From the response to what is undone")]
