"""What v1 can do, as one table: the description for machines and the page for people show it."""

from dataclasses import dataclass
from enum import Enum


class Sent(Enum):
    """How a field comes."""

    QUERY = "query"
    FORM = "form"
    FILE = "file"


class Answer(Enum):
    LISTING = "Listing"
    CREATED = "Created"
    CHANGED = "Changed"
    TRANSFER = "Transfer"
    TRANSFERS = "Transfers"
    ADDED = "Added"
    USER = "User"
    PLAYABLE = "Playable"
    CONTENT = "Content"
    PICTURE = "Picture"
    DESCRIPTION = "Description"
    PAGE = "Page"


@dataclass(frozen=True)
class Field:
    name: str
    meaning: str
    sent: Sent = Sent.FORM
    is_required: bool = False
    is_number: bool = False


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    summary: str
    answer: Answer
    fields: tuple[Field, ...] = ()
    is_open: bool = False


def required(name: str, meaning: str, sent: Sent = Sent.FORM) -> Field:
    return Field(name, meaning, sent, is_required=True)


NEW_NAME = required("rename_to", "The new name")
PIXELS = Field("pixels", "A smaller one: 48, 64, 220 or 720", Sent.QUERY)
DESTINATION = Field("folder_id", "Where the result goes; the root by default", is_number=True)
SELECTION = 'Such as [{"type": "file", "id": 7}, {"type": "folder", "id": 8}]'
FOLDER, FILE = "/rest/folder/{folder_id}", "/rest/file/{file_id}"

FOLDERS = (
    Operation("GET", "/rest/folder", "List root folder", Answer.LISTING),
    Operation("GET", FOLDER, "List folder by id", Answer.LISTING),
    Operation("GET", f"{FOLDER}/download", "Download folder", Answer.CONTENT),
    Operation(
        *("POST", "/rest/folder", "Create folder", Answer.CREATED),
        (required("path", "The full path from the root; the folder above must exist"),),
    ),
    Operation(
        *("POST", f"{FOLDER}/rename", "Rename folder", Answer.CHANGED),
        (
            Field("rename_to", "The new name, up to 255 characters"),
            Field("name", "The same; with a slash in it, the full path of a folder to create"),
        ),
    ),
    Operation("DELETE", FOLDER, "Delete folder", Answer.CHANGED),
    Operation("POST", f"{FOLDER}/delete", "Delete folder", Answer.CHANGED),
)
FILES = (
    Operation("GET", FILE, "Download file", Answer.CONTENT),
    Operation("GET", f"{FILE}/hls", "Get HLS video URL", Answer.PLAYABLE),
    Operation("GET", f"{FILE}/mp4", "Get MP4 video URL", Answer.PLAYABLE),
    Operation("GET", f"{FILE}/image", "Get preview image", Answer.PICTURE, (PIXELS,)),
    Operation("GET", f"{FILE}/thumbnail", "Get thumbnail", Answer.PICTURE),
    Operation("GET", "/rest/{file_id}/thumbnail", "Get thumbnail", Answer.PICTURE),
    Operation("POST", f"{FILE}/rename", "Rename file", Answer.CHANGED, (NEW_NAME,)),
    Operation("POST", "/rest/{file_id}/rename", "Rename file", Answer.CHANGED, (NEW_NAME,)),
    Operation("DELETE", FILE, "Delete file", Answer.CHANGED),
    Operation("POST", f"{FILE}/delete", "Delete file", Answer.CHANGED),
)


def of_transfers(noun: str, url_field: str, file_field: str, takes: str) -> tuple[Operation, ...]:
    one = f"/rest/{noun}/{{{noun}_id}}"
    file = Field(file_field, takes, Sent.FILE, is_required=True)
    magnet = required("magnet", "A magnet link")
    url = Field(url_field, "Where to fetch from; a magnet link will do")
    return (
        Operation("GET", f"/rest/{noun}", f"List {noun}s", Answer.TRANSFERS),
        Operation("GET", one, f"Get {noun} data", Answer.TRANSFER),
        Operation(
            *("POST", f"/rest/{noun}/magnet", "Add by magnet", Answer.ADDED),
            (magnet, DESTINATION),
        ),
        Operation(
            *("POST", f"/rest/{noun}/url", "Add by URL", Answer.ADDED),
            (url, Field(file_field, "A .torrent file instead", Sent.FILE), DESTINATION),
        ),
        Operation(
            *("POST", f"/rest/{noun}/file", "Add by file", Answer.ADDED),
            (file, DESTINATION),
        ),
        Operation("DELETE", one, f"Delete {noun}", Answer.CHANGED),
        Operation("POST", one, f"Delete {noun}", Answer.CHANGED),
        Operation("POST", f"{one}/delete", f"Delete {noun}", Answer.CHANGED),
    )


TRANSFERS = of_transfers("transfer", "url", "file", "A .torrent, or any file to keep")
TORRENTS = of_transfers("torrent", "torrent_url", "torrent_file", "A .torrent")
USER = (
    Operation("GET", "/rest/user", "Get account information", Answer.USER),
    Operation("GET", "/rest/user/{user_id}", "Get account information", Answer.USER),
)
ARCHIVE = (
    Operation(
        *("GET", "/rest/zip", "Build one download from unrelated files and folders"),
        Answer.CONTENT,
        (required("archive_arr", SELECTION, Sent.QUERY),),
    ),
    Operation(
        *("POST", "/rest/zip", "The same for a selection too long for a URL"),
        Answer.CONTENT,
        (required("archive_arr", SELECTION),),
    ),
)
ABOUT = (
    Operation("GET", "/rest", "This list for people", Answer.PAGE, is_open=True),
    Operation(
        *("GET", "/rest/openapi.json", "This list for machines", Answer.DESCRIPTION),
        is_open=True,
    ),
)

GROUPS: dict[str, tuple[Operation, ...]] = {
    "Folders": FOLDERS,
    "Files": FILES,
    "Transfers": TRANSFERS,
    "Torrents, the other name of transfers": TORRENTS,
    "User": USER,
    "Combined archive": ARCHIVE,
    "Description": ABOUT,
}
