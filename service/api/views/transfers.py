"""Transfers, which the other naming of v1 calls torrents: list, show, add, delete."""

from typing import Any

from django.http import HttpResponse

from service import signals, transfers
from service.api import answers, bodies, uploads
from service.api.errors import NothingPassed
from service.api.http import Request
from service.api.records import (
    added_record,
    space_record,
    transfer_record,
    whole_transfer_record,
)
from service.errors import NotATorrent
from service.models import Account, Folder, Transfer
from service.store import library_store

# Part of the ETag: raised when the list changes its shape.
SHAPE = 1


def index(request: Request) -> HttpResponse:
    """Not in the specification, but asked for by some clients."""
    etag = etag_of(request.account)
    return answers.unless_known(request, etag, lambda: answers.record(index_record(request)))


def etag_of(account: Account) -> str:
    """Space and the paths of folders follow from the library. Read before the rows, as those of
    listings are."""
    numbers = [SHAPE, account.pk, account.library_revision, account.transfers_revision]
    return '"t{}"'.format("-".join(map(str, numbers)))


def index_record(request: Request) -> dict[str, Any]:
    running = running_records(request.account)
    space = space_record(request.account)
    return {**space, "result": True, "code": 200, "torrents": running, "transfers": running}


def running_records(account: Account) -> list[dict[str, Any]]:
    running = transfers.listed(account)
    path_of = paths_of({transfer.folder_id for transfer in running})
    # A folder that went between the queries has no path any more; its transfers land in the root.
    return [transfer_record(each, path_of.get(each.folder_id, "")) for each in running]


def paths_of(folder_ids: set[int]) -> dict[int, str]:
    """Two queries, however many folders."""
    folders = list(Folder.objects.filter(pk__in=folder_ids)) if folder_ids else []
    above = {folder_id for folder in folders for folder_id in folder.ids_from_root[1:]}
    name_of = dict(Folder.objects.filter(pk__in=above).values_list("pk", "name")) if above else {}
    return {
        folder.pk: "/".join(name_of.get(each, "") for each in folder.ids_from_root[1:])
        for folder in folders
    }


def show(request: Request, transfer_id: int) -> HttpResponse:
    transfer = transfers.get(request.account, transfer_id)
    return answers.record(whole_transfer_record(transfer, request.account, request.now))


def add_magnet(request: Request) -> HttpResponse:
    fields = bodies.fields_of(request)
    magnet = fields.text("magnet")
    if not magnet:
        raise NothingPassed
    return added(transfers.add_magnet(request.account, magnet, fields.folder_id(), request.now))


def add_url(request: Request) -> HttpResponse:
    """An address, a magnet link, or (an older listing) a torrent's file."""
    if request.content_type == "multipart/form-data":
        return add_torrent_or_url(request)
    return added(url_transfer(request, bodies.fields_of(request)))


def add_torrent_or_url(request: Request) -> HttpResponse:
    with uploads.received(request, None) as (files, fields):
        if not files:
            return added(url_transfer(request, fields))
        return added(*[torrent_transfer(request, each, fields) for each in files])


def url_transfer(request: Request, fields: bodies.Fields) -> Transfer:
    url = fields.text("url", "torrent_url")
    if not url:
        raise NothingPassed
    return transfers.add_url(request.account, url, fields.folder_id(), request.now)


def add_torrent(request: Request) -> HttpResponse:
    with uploads.received(request, None) as (files, fields):
        return added(*[torrent_transfer(request, each, fields) for each in files])


def torrent_transfer(request: Request, upload: uploads.Upload, fields: bodies.Fields) -> Transfer:
    if upload.torrent is None:
        raise NotATorrent
    return transfers.add_known_torrent(
        request.account, upload.torrent, upload.content, fields.folder_id(), request.now
    )


def add_file(request: Request) -> HttpResponse:
    """A torrent is fetched; whatever else is here already, and is kept as it is."""
    with uploads.received(request, library_store()) as (files, fields):
        return added(*[file_transfer(request, each, fields) for each in files])


def file_transfer(request: Request, upload: uploads.Upload, fields: bodies.Fields) -> Transfer:
    if upload.torrent is not None:
        return torrent_transfer(request, upload, fields)
    folder_id = fields.folder_id()
    with uploads.kept(upload) as stored:
        return transfers.record_upload(request.account, upload.name, stored, folder_id, request.now)


def added(*made: Transfer) -> HttpResponse:
    """Of several, the first answers for all, as clients expect, and names each."""
    if not made:
        raise NothingPassed
    records = [added_record(transfer) for transfer in made]
    more = {"transfers": records} if len(records) > 1 else {}
    return answers.record(records[0] | more)


def delete(request: Request, transfer_id: int) -> HttpResponse:
    title = transfers.delete(request.account, transfer_id, request.now)
    signals.deleted.send(Transfer, request=request, name=title)
    return answers.changed()
