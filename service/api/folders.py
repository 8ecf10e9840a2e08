"""Folders: list, create, rename, delete, and a whole one as a ZIP."""

import re
from itertools import product
from typing import Any
from zlib import crc32

from django.http import HttpResponse

from service import library, links, pins, signals
from service.api import answers, bodies, transfers
from service.api.errors import Missing
from service.api.http import Request
from service.api.records import file_record, folder_record, link_facts, moment, space_record
from service.library import Listing
from service.links import ListingLinks
from service.models import Folder

# Part of every ETag: raised when the listing changes its shape, else clients would keep the old.
SHAPE = 3
HAS = re.compile('"has_picture":(?:true|false),"has_stream":(?:true|false)')


def show(request: Request, folder_id: int = 0) -> HttpResponse:
    folder = library.folder(request.account, folder_id)
    return answers.unless_known(
        request,
        etag_of(request, folder),
        lambda: Listed(request, library.listing_of(folder)),
    )


def etag_of(request: Request, folder: Folder) -> str:
    """All that a listing says follows from these numbers; they were read before its rows, so that
    a change in between makes the next one differ."""
    account = request.account
    numbers = [SHAPE, account.pk, folder.pk, account.library_revision, account.media_revision]
    # The links in it carry a day and a host.
    numbers += [
        links.expiry_of(request.now, links.LISTING_WINDOW),
        crc32(base_of(request).encode()),
    ]
    if folder.parent_id is None:
        numbers.append(account.transfers_revision)
    return '"{}"'.format("-".join(map(str, numbers)))


def base_of(request: Request) -> str:
    return request.build_absolute_uri("/").removesuffix("/")


class Listed(answers.Record):
    """Links are written only. The site in this process shows few of 10,000 files, and
    asks for the pictures of those."""

    def __init__(self, request: Request, listing: Listing) -> None:
        super().__init__(listing_record(request, listing))
        self._asked = request

    def written(self) -> str:
        """Links take the place of HAS. No name can pass for it: inside of a text, JSON has a
        backslash before each quote. To encode each link took half the time of a listing."""
        request, files = self._asked, iter(self.facts["files"])
        links = ListingLinks(request.account, base_of(request), request.now)
        patterns = {
            (picture, stream): members(link_facts(links, has_picture=picture, has_stream=stream))
            for picture, stream in product((False, True), repeat=2)
        }

        def links_of_next(_found: re.Match[str]) -> str:
            file = next(files)
            return links.filled(patterns[file["has_picture"], file["has_stream"]], file["id"])

        return HAS.sub(links_of_next, super().written())


def members(facts: dict[str, Any]) -> str:
    return answers.encoded(facts)[1:-1]


def listing_record(request: Request, listing: Listing) -> dict[str, Any]:
    folder = listing.folder
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
    folder_id = listing.folder.pk
    return {
        "folders": [folder_record(row, listing.path) for row in listing.folders],
        "files": [file_record(row, folder_id) for row in listing.files],
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
    wanted = fields.text("rename_to")
    name = fields.text("name") if wanted is None else wanted
    if name is None:
        raise Missing("rename_to")
    folder = library.folder(request.account, folder_id)
    if wanted is None and (folder.parent_id is None or "/" in name):
        # An older listing of v1 creates folders here: `name` is the whole path of a new one.
        return created(request, name)
    library.rename_folder(request.account, folder.pk, name, request.now)
    return answers.changed()


def delete(request: Request, folder_id: int) -> HttpResponse:
    name = library.delete_folder(request.account, folder_id, request.now)
    signals.deleted.send(Folder, request=request, name=name)
    return answers.changed()


def download(request: Request, folder_id: int) -> HttpResponse:
    folder = library.folder(request.account, folder_id)
    name = folder.name or "Files"
    link = pins.pin(request.account, [folder.pk], [], name, now=request.now)
    return answers.leads_to(request, link)
