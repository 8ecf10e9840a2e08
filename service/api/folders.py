"""Folders: list, create, rename, delete, and a whole one as a ZIP."""

from collections.abc import Iterator
from operator import add
from typing import Any
from zlib import crc32

from django.http import HttpResponse

from service import library, links, pins
from service.api import answers, bodies, transfers
from service.api.errors import Missing
from service.api.http import Request
from service.api.records import (
    NO_PICTURE,
    file_record,
    folder_record,
    moment,
    picture_facts,
    space_record,
)
from service.library import Listing
from service.links import PictureLinks
from service.models import Folder

# Part of every ETag: raised when the listing changes its shape, else clients would keep the old.
SHAPE = 2


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
    # The links to pictures in it carry a day and a host.
    numbers += [
        links.expiry_of(request.now, links.PICTURE_WINDOW),
        crc32(base_of(request).encode()),
    ]
    if folder.parent_id is None:
        numbers.append(account.transfers_revision)
    return '"{}"'.format("-".join(map(str, numbers)))


def base_of(request: Request) -> str:
    return request.build_absolute_uri("/").removesuffix("/")


class Listed(answers.Record):
    """Links to pictures are written only. The site in this process shows few of 10,000 files, and
    asks for the pictures of those."""

    def __init__(self, request: Request, listing: Listing) -> None:
        super().__init__(listing_record(request, listing))
        self._asked = request

    def written(self) -> str:
        """No name can pass for the words that links take the place of: inside of a text, JSON has
        a backslash before each quote."""
        words = super().written().replace(HAS_NO_PICTURE, members(NO_PICTURE))
        first, *others = words.split(HAS_PICTURE)
        links = self._picture_links()
        return first + "".join(map(add, links, others))

    def _picture_links(self) -> Iterator[str]:
        """As JSON. Only two words differ from file to file: to encode the links of 10,000 took
        half the time of their listing."""
        request = self._asked
        links = PictureLinks(request.account, base_of(request), request.now)
        pattern = members(picture_facts(f"{links.home}<id>/", f"{links.query}<signature>"))
        for file in self.facts["files"]:
            if file["has_picture"]:
                signed = pattern.replace("<signature>", links.signature(file["id"]))
                yield signed.replace("<id>", str(file["id"]))


def members(facts: dict[str, Any]) -> str:
    return answers.encoded(facts)[1:-1]


HAS_PICTURE, HAS_NO_PICTURE = (members({"has_picture": answer}) for answer in (True, False))


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
