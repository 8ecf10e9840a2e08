"""List, show, add, change, and delete transfers, which v1 also calls torrents."""

from typing import Annotated

import msgspec
from django.http import HttpResponse
from msgspec import UNSET

from service import signals
from service.api import records, uploads
from service.api.auth import AccountRequest
from service.api.encoded import transfers as encoded_transfers
from service.api.inputs import (
    DECISIONS,
    PLACES,
    AddressInput,
    ChangeInput,
    ChoiceInput,
    FileOptions,
    MagnetInput,
    RankInput,
    Target,
)
from service.errors import NotATorrent
from service.http import bodies, responses
from service.http.refusals import NothingPassed, UnreadableField
from service.models import LARGEST_ID, Account, Transfer
from service.store.blobs import library_store
from service.transfers import choices, transfers, under_way
from service.transfers.torrents import swarms
from service.transfers.transfers import TransferRequest
from service.transfers.under_way import Decision

# Part of the ETag: raise it when the shape of the list changes.
SHAPE = 4
# In one change: as many as QUEUE_LIMIT may allow.
MOST_IDS = 100_000


def index(request: AccountRequest) -> Annotated[HttpResponse, records.Transfers]:
    """List transfers; this isn't in the specification, but some clients request it."""
    etag = etag_of(request.account)
    return responses.unless_known(request, etag, lambda: responses.in_json(index_record(request)))


def etag_of(account: Account) -> str:
    """Return the ETag of the list. The library's revision covers space and the folders' paths.

    The numbers were read before the rows, as for listings.
    """
    numbers = [SHAPE, account.pk, account.library_revision, account.transfers_revision]
    return '"t{}"'.format("-".join(map(str, numbers)))


def index_record(request: AccountRequest) -> records.Transfers:
    account = request.account
    running = encoded_transfers.running_records(account)
    return records.Transfers(
        space_max=account.space_max_bytes,
        space_used=account.space_used_bytes,
        torrents=running,
        transfers=running,
    )


def show(request: AccountRequest, transfer_id: int) -> records.Transfer:
    transfer = transfers.get(request.account, transfer_id)
    return records.whole_transfer_record(transfer, request.account, request.now)


def add_magnet(request: AccountRequest, sent: MagnetInput) -> records.Added:
    if not sent.magnet:
        raise NothingPassed
    account, chooses = request.account, bool(sent.choose)
    transfer = transfers.add_magnet(
        account, sent.magnet, sent.folder_id, request.now, chooses=chooses
    )
    return record_of(transfer)


def add_url(request: AccountRequest) -> records.Added:
    """Add a URL, a magnet link, or (as in an older specification) a torrent file."""
    if request.content_type != "multipart/form-data":
        return record_of(url_transfer(request, bodies.fields_of(request)))
    with uploads.receive(request, None) as (files, fields):
        if not files:
            return record_of(url_transfer(request, fields))
        return record_of(*[torrent_transfer(request, each, fields) for each in files])


def url_transfer(request: AccountRequest, fields: bodies.Fields) -> Transfer:
    address = fields.read(AddressInput)
    if not address.url:
        raise NothingPassed
    account, chooses = request.account, bool(address.choose)
    return transfers.add_url(account, address.url, address.folder_id, request.now, chooses=chooses)


def add_torrent(request: AccountRequest) -> records.Added:
    with uploads.receive(request, None) as (files, fields):
        return record_of(*[torrent_transfer(request, each, fields) for each in files])


def torrent_transfer(
    request: AccountRequest, upload: uploads.ReceivedUpload, fields: bodies.Fields
) -> Transfer:
    if upload.torrent is None:
        raise NotATorrent
    target, kind = fields.read(Target), Transfer.Kind.TORRENT
    wanted = TransferRequest(
        kind, upload.torrent, torrent=upload.content, chooses=bool(target.choose)
    )
    return transfers.add(request.account, wanted, target.folder_id, request.now)


def add_file(request: AccountRequest) -> records.Added:
    """Add files: torrents are fetched, unless `as_file` is set; all others are kept as they are."""
    with uploads.receive(request, library_store()) as (files, fields):
        return record_of(*[file_transfer(request, each, fields) for each in files])


def file_transfer(
    request: AccountRequest, upload: uploads.ReceivedUpload, fields: bodies.Fields
) -> Transfer:
    options = fields.read(FileOptions)
    if upload.torrent is not None and not options.as_file:
        return torrent_transfer(request, upload, fields)
    with uploads.keep_blob(upload) as stored:
        return transfers.record_upload(
            *(request.account, upload.name, stored, options.folder_id, request.now),
            replaces=bool(options.replace),
            present=options.present,
        )


def record_of(*new_transfers: Transfer) -> records.Added:
    """Return the record of the first transfer, as clients expect, with a list if there are more."""
    if not new_transfers:
        raise NothingPassed
    each = [records.added_record(transfer) for transfer in new_transfers]
    return msgspec.structs.replace(each[0], transfers=each if len(each) > 1 else UNSET)


def pause(request: AccountRequest, transfer_id: int) -> records.Changed:
    under_way.decide(request.account, transfer_id, Decision.PAUSE, request.now)
    return records.Changed()


def resume(request: AccountRequest, transfer_id: int) -> records.Changed:
    under_way.decide(request.account, transfer_id, Decision.RESUME, request.now)
    return records.Changed()


def move(request: AccountRequest, transfer_id: int, sent: RankInput) -> records.Changed:
    if sent.to not in PLACES:
        raise UnreadableField("to")
    under_way.decide(request.account, transfer_id, Decision(sent.to), request.now)
    return records.Changed()


def change(request: AccountRequest, sent: ChangeInput) -> records.ChangedTransfers:
    """Change many transfers in one transaction. Skip ids that aren't under way, or too large."""
    if sent.action not in DECISIONS:
        raise UnreadableField("action")
    ids = [each.strip() for each in sent.ids.split(",", MOST_IDS)]
    if len(ids) > MOST_IDS or not all(map(bodies.DIGITS.fullmatch, ids)):
        raise UnreadableField("ids")
    known_ids = [pk for pk in map(int, ids) if pk <= LARGEST_ID]
    decision = Decision(sent.action)
    changed_ids = under_way.decide_all(
        request.account, known_ids, decision, request.now, before_id=sent.before
    )
    return records.ChangedTransfers(changed=changed_ids)


def details(request: AccountRequest, transfer_id: int) -> records.DetailsOfTransfer:
    transfer = transfers.get(request.account, transfer_id)
    row = swarms.look(transfer, request.now)
    return records.details_record(transfer, row, has_swarm=swarms.has_swarm(transfer))


def files(request: AccountRequest, transfer_id: int) -> records.FilesOfTransfer:
    listed = choices.list_files(transfers.get(request.account, transfer_id))
    return records.FilesOfTransfer(files=[records.FileOfTransfer(*each) for each in listed])


def choose(request: AccountRequest, transfer_id: int, sent: ChoiceInput) -> records.Added:
    parts = [part for each in sent.wanted.split(",") if (part := each.strip())]
    if not all(map(bodies.DIGITS.fullmatch, parts)):
        raise UnreadableField("wanted")
    wanted = set(map(int, parts))
    return record_of(choices.choose(request.account, transfer_id, wanted, request.now))


def delete(request: AccountRequest, transfer_id: int) -> records.Changed:
    title = transfers.delete(request.account, transfer_id, request.now)
    signals.deleted.send(Transfer, request=request, name=title)
    return records.Changed()
