"""Folders: list, create, rename, delete, and a whole one as a ZIP."""

from typing import Any

from django.http import HttpResponse

from service import library, pins
from service.api import answers, bodies, transfers
from service.api.errors import Missing
from service.api.http import Request
from service.api.records import file_record, folder_record, moment, space_record
from service.library import Listing
from service.models import Folder

# Part of every ETag: raised when the listing changes its shape, else clients would keep the old.
SHAPE = 1


def show(request: Request, folder_id: int = 0) -> HttpResponse:
    folder = library.folder(request.account, folder_id)
    etag = etag_of(request, folder)
    response = (
        answers.unchanged()
        if answers.is_known(request, etag)
        else answers.record(listing_record(request, folder))
    )
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


def etag_of(request: Request, folder: Folder) -> str:
    """All that a listing says follows from these numbers; they were read before its rows, so that
    a change in between makes the next one differ."""
    account = request.account
    numbers = [SHAPE, account.pk, folder.pk, account.library_revision]
    if folder.parent_id is None:
        numbers.append(account.transfers_revision)
    return '"{}"'.format("-".join(map(str, numbers)))


def listing_record(request: Request, folder: Folder) -> dict[str, Any]:
    listing = library.listing(request.account, folder.pk)
    is_root = folder.parent_id is None
    running = transfers.running_records(request.account) if is_root else []
    # The same bytes until something changes: neither of these is the time of the request.
    changed_at = request.account.changed_at if is_root else folder.updated_at
    parent_id = folder.parent_id or -1
    return {
        **space_record(request.account),
        "saw_walkthrough": 1,
        "id": folder.pk,
        "timestamp": moment(changed_at),
        "path": folder.name,
        "size": folder.size_bytes,
        "parent": parent_id,
        **entry_records(listing),
        "torrents": running,
        "tasks": [],
        "album_groups": [],
        "result": True,
        "code": 200,
        "name": folder.name,
        "fullname": listing.path,
        "parent_id": parent_id,
        "type": "folder",
        "indexes": [],
        "transfers": running,
    }


def entry_records(listing: Listing) -> dict[str, Any]:
    return {
        "folders": [folder_record(row, listing.path) for row in listing.folders],
        "files": [file_record(row, listing.folder.pk) for row in listing.files],
    }


def create(request: Request) -> HttpResponse:
    path = bodies.fields_of(request).text("path")
    if path is None:
        raise Missing("path")
    return created(request, path)


def created(request: Request, path: str) -> HttpResponse:
    folder = library.create_folder(request.account, path, request.now)
    facts = {"success": True, "id": str(folder.pk), "path": library.path_of(folder)}
    return answers.record(facts | {"result": True, "code": 200})


def rename(request: Request, folder_id: int) -> HttpResponse:
    fields = bodies.fields_of(request)
    wanted, name = fields.text("rename_to"), fields.text("name")
    if wanted is None and name is not None and "/" in name:
        # An older listing of v1 creates folders here: `name` is the whole path of a new one.
        return created(request, name)
    wanted = name if wanted is None else wanted
    if wanted is None:
        raise Missing("rename_to")
    library.rename_folder(request.account, folder_id, wanted, request.now)
    return answers.changed()


def delete(request: Request, folder_id: int) -> HttpResponse:
    library.delete_folder(request.account, folder_id, request.now)
    return answers.changed()


def download(request: Request, folder_id: int) -> HttpResponse:
    folder = library.folder(request.account, folder_id)
    name = folder.name or "Files"
    link = pins.pin(request.account, [folder.pk], [], name, now=request.now)
    return answers.leads_to(request, link)
