"""List, create, rename, and delete folders, and download them as ZIP."""

from functools import partial
from typing import Annotated
from zlib import crc32

from django.http import HttpResponse
from msgspec import UNSET

from common.storage import row_cache
from service import signals
from service.api import records
from service.api.auth import AccountRequest
from service.api.encoded import transfers as encoded_transfers
from service.api.encoded.listings import listings
from service.api.inputs import FolderName, ListingInput, NewFolder
from service.api.outcomes import ArchiveLink
from service.api.records import LinkForms
from service.content import archive_plans, signed_links
from service.content.signed_links import ListingLinks
from service.http import records as http_records
from service.http import responses
from service.http.refusals import MissingField
from service.library import deleted_items, library
from service.models import Folder

# Part of every ETag: raise it when the shape of listings changes, or clients keep the old one.
SHAPE = 5


def show(
    request: AccountRequest, folder_id: int = 0, *, sent: ListingInput
) -> Annotated[HttpResponse, records.Listing]:
    account, has_links = request.account, sent.links != 0
    find = partial(library.folder, account, folder_id)
    folder = row_cache.read(("folder", account.pk, folder_id), find)
    etag = etag_of(request, folder, has_links=has_links)

    def encode() -> bytes:
        return responses.encode(listing_record(request, folder, has_links=has_links))

    def answer() -> HttpResponse:
        return responses.json_response(listings.find(etag, encode))

    response = responses.unless_known(request, etag, answer)
    # Announces an extension of v1: additions go into the folder that `folder_id` names.
    response["Ferry-Keeps"] = "folder_id"
    return response


def etag_of(request: AccountRequest, folder: Folder, *, has_links: bool) -> str:
    """Return the ETag of a listing, whose content depends only on these numbers.

    They were read before its rows, so that a change in between gives the next listing another tag.
    """
    account = request.account
    numbers = [SHAPE, account.pk, folder.pk, account.library_revision, account.media_revision]
    if has_links:
        # They contain a day and a host.
        numbers += [
            signed_links.expiry_of(request.now, signed_links.LISTING_WINDOW),
            crc32(base_of(request).encode()),
        ]
    if folder.parent_id is None:
        numbers.append(account.transfers_revision)
    return '"{}"'.format("-".join(map(str, numbers)))


def base_of(request: AccountRequest) -> str:
    return request.build_absolute_uri("/").removesuffix("/")


def listing_record(request: AccountRequest, folder: Folder, *, has_links: bool) -> records.Listing:
    account, listing = request.account, library.listing(folder)
    links = None
    if has_links:
        links = LinkForms(ListingLinks(account, base_of(request), request.now))
    is_root = folder.parent_id is None
    running = encoded_transfers.running_records(account) if is_root else []
    # Not the time of the request: the bytes stay the same until something changes.
    changed_at = account.changed_at if is_root else folder.updated_at
    parent_id = folder.parent_id or -1
    return records.Listing(
        space_max=account.space_max_bytes,
        space_used=account.space_used_bytes,
        id=folder.pk,
        timestamp=http_records.moment(changed_at),
        path=folder.name,
        size=folder.size_bytes,
        parent=parent_id,
        folders=[records.folder_record(row, listing.path) for row in listing.folders],
        files=[records.file_record(row, folder.pk, links) for row in listing.files],
        torrents=running,
        name=folder.name,
        fullname=listing.path,
        parent_id=parent_id,
        transfers=running,
    )


def create(request: AccountRequest, sent: NewFolder) -> records.Created:
    folder = library.create_folder(request.account, sent.path, request.now)
    return records.Created(id=str(folder.pk), path=library.path_of(folder))


def rename(
    request: AccountRequest, folder_id: int, sent: FolderName
) -> records.Created | records.Changed:
    name = sent.name if sent.rename_to is UNSET else sent.rename_to
    if name is UNSET:
        raise MissingField("rename_to")
    folder = library.folder(request.account, folder_id)
    if sent.rename_to is UNSET and (folder.parent_id is None or "/" in name):
        # In an older specification, this call creates a folder, and `name` is its full path.
        return create(request, NewFolder(name))
    library.rename_folder(request.account, folder.pk, name, request.now)
    return records.Changed()


def delete(request: AccountRequest, folder_id: int) -> records.Changed:
    name = deleted_items.delete_by_program(request.account, Folder, folder_id, request.now)
    signals.deleted.send(Folder, request=request, name=name)
    return records.Changed()


def download(request: AccountRequest, folder_id: int) -> ArchiveLink:
    folder = library.folder(request.account, folder_id)
    name = folder.name or "Files"
    link = archive_plans.create_link(request.account, [folder.pk], [], name, now=request.now)
    return responses.redirect_to(request, link)
