"""The table of v1's operations, in the order of the specification.

Paths, views, requests, responses, the description for machines, and the page for people follow
from it.
"""

from functools import cache

from django.http import HttpResponse
from django.urls import get_script_prefix
from msgspec import Struct

from service.api import inputs
from service.api.description import document, page_of
from service.api.endpoints import Operation, View
from service.api.outcomes import Description, Page, Schema
from service.api.requests import AccountRequest
from service.api.views import (
    deleted_items,
    files,
    folders,
    media,
    moves,
    search,
    transfers,
    unpacking,
    user,
    zips,
)
from service.http import responses

PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
FOLDER, FILE = "/rest/folder/{folder_id}", "/rest/file/{file_id}"


def of_transfers(
    noun: str, add_file: View, url: type[Struct], file: type[Struct]
) -> tuple[Operation, ...]:
    """Return the operations of transfers, which are the same under v1's other name, torrents."""
    all_, one = f"/rest/{noun}", f"/rest/{noun}/{{{noun}_id}}"
    return (
        Operation("GET", all_, f"List {noun}s", transfers.index),
        Operation("GET", one, f"Get {noun} data", transfers.show),
        Operation("POST", f"{all_}/magnet", "Add by magnet", transfers.add_magnet),
        Operation("POST", f"{all_}/url", "Add by URL", transfers.add_url, url),
        Operation("POST", f"{all_}/file", "Add by file", add_file, file),
        Operation("DELETE", one, f"Delete {noun}", transfers.delete),
        Operation("POST", one, f"Delete {noun}", transfers.delete),
        Operation("POST", f"{one}/delete", f"Delete {noun}", transfers.delete),
        Operation("POST", f"{one}/pause", f"Pause {noun}", transfers.pause),
        Operation("POST", f"{one}/resume", f"Resume {noun}", transfers.resume),
    )


def show_openapi(request: AccountRequest) -> Description:
    return responses.in_json(openapi())


def openapi() -> Schema:
    return description() | {"servers": [{"url": get_script_prefix().rstrip("/") or "/"}]}


@cache
def description() -> Schema:
    """Return the description, the same below any prefix, and built only if a client requests it."""
    return document(GROUPS)


def show_page(request: AccountRequest) -> Page:
    response = HttpResponse(page_of(GROUPS))
    response["Content-Security-Policy"] = PAGE_POLICY
    return response


GROUPS: dict[str, tuple[Operation, ...]] = {
    "Folders": (
        Operation("GET", "/rest/folder", "List root folder", folders.show),
        Operation("GET", FOLDER, "List folder by id", folders.show),
        Operation("GET", f"{FOLDER}/download", "Download folder", folders.download),
        Operation("POST", "/rest/folder", "Create folder", folders.create),
        Operation("POST", f"{FOLDER}/rename", "Rename folder", folders.rename),
        Operation("DELETE", FOLDER, "Delete folder", folders.delete),
        Operation("POST", f"{FOLDER}/delete", "Delete folder", folders.delete),
    ),
    "Files": (
        Operation(
            *("GET", "/rest/files/largest", "List the 100 largest files of all folders"),
            files.largest,
        ),
        Operation("GET", "/rest/search", "Find files and folders by their names", search.show),
        Operation("GET", FILE, "Download file", files.download),
        Operation("GET", f"{FILE}/hls", "Get HLS video URL", media.hls),
        Operation("GET", f"{FILE}/mp4", "Get MP4 video URL", media.mp4),
        Operation("GET", f"{FILE}/image", "Get preview image", media.image),
        Operation("GET", f"{FILE}/thumbnail", "Get thumbnail", media.thumbnail),
        Operation("GET", f"{FILE}/camera", "Get camera and settings of a picture", media.camera),
        Operation("GET", f"{FILE}/scenes", "Get chapters and filmstrip of a film", media.scenes),
        Operation("GET", "/rest/{file_id}/thumbnail", "Get thumbnail", media.thumbnail),
        Operation("POST", f"{FILE}/rename", "Rename file", files.rename),
        Operation("POST", "/rest/{file_id}/rename", "Rename file", files.rename),
        Operation("DELETE", FILE, "Delete file", files.delete),
        Operation("POST", f"{FILE}/delete", "Delete file", files.delete),
    ),
    "Moving": (
        Operation(
            *("POST", "/rest/move", "Move files and folders into a folder"),
            *(moves.move, inputs.MoveInput),
        ),
        Operation(
            *("POST", "/rest/copy", "Copy files and folders into a folder"),
            *(moves.copy, inputs.MoveInput),
        ),
        Operation("POST", "/rest/move/undo", "Undo a move or copy", moves.undo),
    ),
    "Unpacking": (
        Operation(
            *("POST", f"{FILE}/unpack", "Unpack a ZIP file into a new folder beside it"),
            unpacking.unpack,
        ),
        Operation(
            *("POST", "/rest/unpack/undo", "Cancel an unpacking, or delete its folder"),
            unpacking.undo,
        ),
    ),
    "Recently deleted": (
        Operation("GET", "/rest/deleted", "List what can be restored", deleted_items.index),
        Operation(
            *("POST", "/rest/deleted", "Delete files and folders so that they can be restored"),
            *(deleted_items.delete, inputs.ArchiveInput),
        ),
        Operation("POST", "/rest/deleted/restore", "Restore items", deleted_items.restore),
        Operation("POST", "/rest/deleted/delete", "Delete items for good", deleted_items.purge),
    ),
    "Transfers": of_transfers("transfer", transfers.add_file, inputs.AddressInput, inputs.AnyFile),
    "Torrents, the other name of transfers": of_transfers(
        "torrent", transfers.add_torrent, inputs.TorrentAddress, inputs.TorrentFileInput
    ),
    "User": (
        Operation("GET", "/rest/user", "Get account information", user.show),
        Operation("GET", "/rest/user/{user_id}", "Get account information", user.show),
    ),
    "Combined archive": (
        Operation(
            *("GET", "/rest/zip", "Build one download from unrelated files and folders"),
            *(zips.build, inputs.ZipInput),
        ),
        Operation(
            *("POST", "/rest/zip", "The same for a selection too long for a URL"),
            *(zips.build, inputs.ZipInput),
        ),
    ),
    "Description": (
        Operation("GET", "/rest", "This list for people", show_page, is_open=True),
        Operation(
            "GET", "/rest/openapi.json", "This list for machines", show_openapi, is_open=True
        ),
    ),
}
