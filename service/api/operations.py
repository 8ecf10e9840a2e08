"""The table of v1's operations, in the order of the specification.

Paths, views, requests, responses, the description for machines, and the page for people follow
from it.
"""

from functools import cache, partial

from django.http import HttpResponse
from django.urls import get_script_prefix
from msgspec import Struct

from service.api import inputs
from service.api.auth import AccountRequest
from service.api.description import document, page_of
from service.api.endpoints import Operation, View
from service.api.outcomes import Description, Page, Schema
from service.api.views import (
    deleted_items,
    files,
    folders,
    limits,
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
get, post, delete = (partial(Operation, method) for method in ("GET", "POST", "DELETE"))
FOLDER, FILE = "/rest/folder/{folder_id}", "/rest/file/{file_id}"


def of_transfers(
    noun: str, add_file: View, url: type[Struct], file: type[Struct]
) -> tuple[Operation, ...]:
    """Return the operations of transfers, which are the same under v1's other name, torrents."""
    all_, one = f"/rest/{noun}", f"/rest/{noun}/{{{noun}_id}}"
    return (
        get(all_, f"List {noun}s", transfers.index),
        get(one, f"Get {noun} data", transfers.show),
        post(f"{all_}/magnet", "Add by magnet", transfers.add_magnet),
        post(f"{all_}/url", "Add by URL", transfers.add_url, url),
        post(f"{all_}/file", "Add by file", add_file, file),
        delete(one, f"Delete {noun}", transfers.delete),
        post(one, f"Delete {noun}", transfers.delete),
        post(f"{one}/delete", f"Delete {noun}", transfers.delete),
        get(f"{one}/details", f"Get details of a {noun}", transfers.details),
        get(f"{one}/files", f"List the files of a {noun}", transfers.files),
        post(f"{one}/files", f"Choose the files of a {noun}", transfers.choose),
        post(f"{one}/pause", f"Pause {noun}", transfers.pause),
        post(f"{one}/resume", f"Resume {noun}", transfers.resume),
        post(f"{one}/move", f"Move {noun} in the queue", transfers.move),
        post(f"{all_}s/change", f"Pause, resume, or move several {noun}s", transfers.change),
        get(f"{one}/limits", f"Get the limits of one {noun}", limits.show_own),
        post(
            *(f"{one}/limits", f"Limit one {noun}", limits.change_own),
            *(inputs.OwnLimitsInput,),
        ),
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
        get("/rest/folder", "List root folder", folders.show),
        get(FOLDER, "List folder by id", folders.show),
        get(f"{FOLDER}/download", "Download folder", folders.download),
        post("/rest/folder", "Create folder", folders.create),
        post(f"{FOLDER}/rename", "Rename folder", folders.rename),
        delete(FOLDER, "Delete folder", folders.delete),
        post(f"{FOLDER}/delete", "Delete folder", folders.delete),
    ),
    "Files": (
        get("/rest/files/largest", "List the 100 largest files of all folders", files.largest),
        get("/rest/search", "Find files and folders by their names", search.show),
        get(FILE, "Download file", files.download),
        get(f"{FILE}/hls", "Get HLS video URL", media.hls),
        get(f"{FILE}/mp4", "Get MP4 video URL", media.mp4),
        get(f"{FILE}/image", "Get preview image", media.image),
        get(f"{FILE}/thumbnail", "Get thumbnail", media.thumbnail),
        get(f"{FILE}/camera", "Get camera and settings of a picture", media.camera),
        get(f"{FILE}/scenes", "Get chapters and filmstrip of a film", media.scenes),
        get("/rest/{file_id}/thumbnail", "Get thumbnail", media.thumbnail),
        post(f"{FILE}/rename", "Rename file", files.rename),
        post("/rest/{file_id}/rename", "Rename file", files.rename),
        delete(FILE, "Delete file", files.delete),
        post(f"{FILE}/delete", "Delete file", files.delete),
    ),
    "Moving": (
        post("/rest/move", "Move files and folders into a folder", moves.move, inputs.MoveInput),
        post("/rest/copy", "Copy files and folders into a folder", moves.copy, inputs.MoveInput),
        post("/rest/move/undo", "Undo a move or copy", moves.undo),
    ),
    "Unpacking": (
        post(f"{FILE}/unpack", "Unpack a ZIP file into a new folder beside it", unpacking.unpack),
        post("/rest/unpack/undo", "Cancel an unpacking, or delete its folder", unpacking.undo),
    ),
    "Recently deleted": (
        get("/rest/deleted", "List what can be restored", deleted_items.index),
        post(
            *("/rest/deleted", "Delete files and folders so that they can be restored"),
            *(deleted_items.delete, inputs.ArchiveInput),
        ),
        post("/rest/deleted/restore", "Restore items", deleted_items.restore),
        post("/rest/deleted/delete", "Delete items for good", deleted_items.purge),
    ),
    "Transfers": of_transfers("transfer", transfers.add_file, inputs.AddressInput, inputs.AnyFile),
    "Torrents, the other name of transfers": of_transfers(
        "torrent", transfers.add_torrent, inputs.TorrentAddress, inputs.TorrentFileInput
    ),
    "Limits": (
        get("/rest/limits", "Get the limits of all transfers", limits.show),
        post(
            *("/rest/limits", "Change the limits of all transfers", limits.change),
            *(inputs.LimitsInput,),
        ),
        get(
            "/rest/traffic", "Get how much arrived and left", user.show_traffic, inputs.TrafficInput
        ),
        get("/rest/reachability", "Get whether peers can connect", limits.show_reachability),
    ),
    "User": (
        get("/rest/user", "Get account information", user.show),
        get("/rest/user/{user_id}", "Get account information", user.show),
    ),
    "Combined archive": (
        get(
            *("/rest/zip", "Build one download from unrelated files and folders"),
            *(zips.build, inputs.ZipInput),
        ),
        post(
            "/rest/zip", "The same for a selection too long for a URL", zips.build, inputs.ZipInput
        ),
    ),
    "Description": (
        get("/rest", "This list for people", show_page, is_open=True),
        get("/rest/openapi.json", "This list for machines", show_openapi, is_open=True),
    ),
}
