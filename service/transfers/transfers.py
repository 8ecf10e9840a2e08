"""Record the transfers that people want. The worker carries them out."""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from django.db.models import Q
from msgspec import UNSET, UnsetType

from common.names import key_of
from service.accounts.accounts import changing_transfers
from service.errors import BadAddress, NameTaken, NotNow
from service.library import deleted_items, free_names, library
from service.library import names as library_names
from service.library.file_rows import MOMENT
from service.models import Account, File, Folder, TorrentFile, Transfer, Wish
from service.store.sums import Stored
from service.transfers import imports, quota, ranks, wake_ups
from service.transfers.imports import Remainder
from service.transfers.torrents import magnets, torrent_files
from service.transfers.torrents.facts import TorrentFacts

log = logging.getLogger("ferry.transfers")

MOST_WISHES = 100
LONGEST_ADDRESS = 8 * 1024
UPLOAD_LIFETIME = timedelta(days=30)
# A torrent's result is mostly named like its torrent file, but without this.
TORRENT_SUFFIX = re.compile(r"\.torrent$", re.IGNORECASE)


@dataclass(frozen=True)
class TransferRequest:
    """A requested transfer, before it is known whether it can start now."""

    kind: Transfer.Kind
    facts: TorrentFacts
    source: str = ""
    torrent: bytes = b""
    chooses: bool = False  # stop once its files are known, until people choose some


class TransferRow(NamedTuple):
    """A transfer in a listing of thousands. Django's objects would cost three times as much."""

    id: int
    folder_id: int
    title: str
    size_bytes: int
    info_hash_v1: str
    info_hash_v2: str
    state: str
    reason: str
    details: str | None
    notice: str
    progress_percent: float
    download_bytes_per_second: int
    upload_bytes_per_second: int
    peers_connected: int
    peers_sending: int
    peers_receiving: int
    seeders: int
    leechers: int
    folder_created_id: int | None
    file_created_id: int | None
    file_count: int
    chooses: bool
    moment: str


def list_rows(account: Account) -> list[TransferRow]:
    """Return the running and failed transfers by rank; those that are done became files."""
    present = Transfer.objects.filter(account=account).exclude(state=Transfer.State.DONE)
    rows = present.annotate(moment=MOMENT).order_by("rank", "pk")
    return [TransferRow._make(row) for row in rows.values_list(*TransferRow._fields)]


def get(account: Account, transfer_id: int) -> Transfer:
    """Return a transfer, even if it is done. Raises NotFound."""
    return library.one(Transfer.objects.filter(account=account), transfer_id)


def wishes(account: Account) -> list[Wish]:
    return list(Wish.objects.filter(account=account).order_by("pk"))


def add_magnet(
    account: Account, uri: str, folder_id: int, now: datetime, *, chooses: bool = False
) -> Transfer:
    """Add a magnet link, or return the transfer that has the same torrent.

    Raises BadMagnet, NotFound, NotNow.
    """
    facts, source = magnets.read(uri), uri.strip()
    request = TransferRequest(Transfer.Kind.MAGNET, facts, source=source, chooses=chooses)
    return add(account, request, folder_id, now)


def add_url(
    account: Account, url: str, folder_id: int, now: datetime, *, chooses: bool = False
) -> Transfer:
    """Add a URL, which may be a magnet link. Raises BadAddress, BadMagnet, NotFound, NotNow."""
    if magnets.is_magnet(url):
        return add_magnet(account, url, folder_id, now, chooses=chooses)
    url = url.strip()
    parts = _address(url)
    name = TORRENT_SUFFIX.sub("", unquote(parts.path.rpartition("/")[2])) or parts.hostname or ""
    facts = TorrentFacts(name)
    request = TransferRequest(Transfer.Kind.URL, facts, source=url, chooses=chooses)
    return add(account, request, folder_id, now)


def record_upload(  # noqa: PLR0913  As many facts as an upload has.
    account: Account,
    name: str,
    stored: Stored,
    folder_id: int,
    now: datetime,
    *,
    replaces: bool = False,
    present: str | UnsetType = UNSET,
) -> Transfer:
    """Add a stored file to its folder, as a transfer that is done. Raises NoRoom and NameTaken.

    A taken name gets a number, unless the file `replaces` the other, which can be restored.
    `present`: the SHA-1 that the other must have, empty if there must be none.

    The file's id is the transfer's `file_created_id`.
    """
    name = library_names.clean(name, otherwise=stored.sha1)
    with changing_transfers(account, now) as locked:
        namesakes = library.folder(locked, folder_id).files.filter(name_key=key_of(name))
        if present is not UNSET and [present] != ([each.sha1 for each in namesakes] or [""]):
            raise NameTaken
        if replaces:
            deleted_items.delete_within(locked, [], namesakes.values_list("pk", flat=True), now)
        file = library.add_file(locked, folder_id, name, stored, now)
        return Transfer.objects.create(
            account=locked,
            kind=Transfer.Kind.UPLOAD,
            folder=file.folder,
            title=file.name,
            title_key=file.name_key,
            size_bytes=file.size_bytes,
            state=Transfer.State.DONE,
            progress_percent=101,
            file_created_id=file.pk,
            created_at=now,
            updated_at=now,
        )


def delete(account: Account, transfer_id: int, now: datetime) -> str:
    """Delete a transfer, but none of the files in its folder, and return its title."""
    with changing_transfers(account, now) as locked:
        transfer = get(locked, transfer_id)
        _drop_wishes(locked, transfer)
        is_done = transfer.state == Transfer.State.DONE
        # Without the record of a canceled refill, the whole torrent would be fetched again.
        record = None if is_done else imports.find_record(transfer.pk)
        if record:
            imports.restore_done(transfer, record, now)
        else:
            remove(transfer)
    wake_ups.wake_workers()
    return transfer.title


def added_since(
    account: Account, since: datetime, most: int
) -> Iterable[tuple[int, int, float, int]]:
    """Return the id, size, progress, and uploaded bytes of the newest that fetch something."""
    kinds = (*Transfer.TORRENTS, Transfer.Kind.URL)
    rows = Transfer.objects.filter(account=account, kind__in=kinds, created_at__gte=since)
    columns = ("pk", "size_bytes", "progress_percent", "uploaded_bytes")
    return rows.order_by("-pk").values_list(*columns)[:most]


def prune(now: datetime) -> None:
    """Delete the transfers of old uploads and unpacked ZIP files, which no listing shows.

    Their files stay.
    """
    kinds = (Transfer.Kind.UPLOAD, Transfer.Kind.ZIP)
    done = Transfer.objects.filter(kind__in=kinds, state=Transfer.State.DONE)
    done.filter(created_at__lt=now - UPLOAD_LIFETIME).delete()


def _address(url: str) -> SplitResult:
    """Check a URL's form. The worker checks the address that it then connects to."""
    if len(url) > LONGEST_ADDRESS or magnets.CONTROL.search(url):
        raise BadAddress
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError as unreadable:
        raise BadAddress from unreadable
    if not is_good:
        raise BadAddress
    return parts


def add(account: Account, request: TransferRequest, folder_id: int, now: datetime) -> Transfer:
    """Add a transfer, or return the one that fetches the same. Raises NotFound, NotNow."""
    outcome = _decide(account, request, folder_id, now)
    wake_ups.wake_workers()
    # Raise it outside the transaction, which would otherwise roll back the wish.
    if isinstance(outcome, NotNow):
        raise outcome
    # The worker's lines name the transfer; only this one has the ID of the request.
    log.info("requested transfer=%d kind=%s", outcome.pk, outcome.kind)
    return outcome


def _decide(
    account: Account, request: TransferRequest, folder_id: int, now: datetime
) -> Transfer | NotNow:
    with changing_transfers(account, now) as locked:
        folder = library.folder(locked, folder_id)
        existing = find_same(folder, request)
        if isinstance(existing, Transfer):
            return existing
        if existing:
            facts = replace(request.facts, size_bytes=existing.missing_bytes)
            request = replace(request, facts=facts)
        word = quota.find_obstacle(locked, 0 if request.chooses else request.facts.size_bytes)
        if word:
            return NotNow(word, _add_wish(locked, folder, request, now))
        return create(folder, request, now, existing)


def find_same(folder: Folder, request: TransferRequest) -> Transfer | Remainder | None:
    """Return the transfer that fetches the same or still has all of it, else what is left of it."""
    same = Transfer.objects.filter(_same(folder, request), account=folder.account_id)
    remainder = None
    for each in same:
        existing = what_is_left(each, folder)
        if isinstance(existing, Transfer):
            return existing
        remainder = remainder or existing
    return remainder


def _same(folder: Folder, request: TransferRequest) -> Q:
    """Return the condition for transfers of the same torrent or URL.

    A torrent is known by either of its hashes. A URL is fetched again once it is done, since its
    content may have changed, and once into each folder. A ZIP file is unpacked in the same way.
    """
    same = with_hash(request.facts)
    if request.source and request.kind not in Transfer.TORRENTS:
        is_failed, is_done = Q(state=Transfer.State.FAILED), Q(state=Transfer.State.DONE)
        same |= Q(source=request.source) & (is_failed | Q(folder=folder) & ~is_done)
    return same


def with_hash(torrent: TorrentFacts | Transfer) -> Q:
    same = Q(pk__in=[])
    if torrent.info_hash_v1:
        same |= Q(info_hash_v1=torrent.info_hash_v1)
    if torrent.info_hash_v2:
        same |= Q(info_hash_v2=torrent.info_hash_v2)
    return same


def what_is_left(transfer: Transfer, folder: Folder) -> Transfer | Remainder | None:
    """Return the transfer if it's running, or if everything that it fetched is still there.

    If some of its files were deleted, return what is left. An emptied folder is filled again only
    if `folder` holds it: elsewhere, the torrent gets a new folder.
    """
    if transfer.state not in Transfer.OVER:
        return transfer
    remainder = imports.find_remainder(transfer.pk)
    if remainder is None:
        # Without a record of its files, a folder that lost bytes counts as lost.
        is_done = transfer.state == Transfer.State.DONE
        return transfer if is_done and has_result(transfer, transfer.size_bytes) else None
    if not remainder.missing:
        return transfer
    return remainder if remainder.present or remainder.folder.parent_id == folder.pk else None


def has_result(transfer: Transfer, least_bytes: int = 0) -> bool:
    """Return whether the transfer's file exists, or its folder with at least so many bytes."""
    folders = Folder.objects.filter(pk=transfer.folder_created_id or 0)
    files = File.objects.filter(pk=transfer.file_created_id or 0)
    return folders.filter(size_bytes__gte=least_bytes).exists() or files.exists()


def _add_wish(
    locked: Account, folder: Folder, request: TransferRequest, now: datetime
) -> Wish | None:
    """Return the wish, new or known; None if it has no hash, or if there are too many wishes."""
    mine = Wish.objects.filter(account=locked)
    facts = request.facts
    existing = mine.filter(with_hash(facts)).first()
    if existing:
        return existing
    if not facts.wire_hash or mine.count() >= MOST_WISHES:
        return None
    return Wish.objects.create(
        account=locked,
        folder=folder,
        title=library_names.clean(facts.name, otherwise=facts.wire_hash),
        size_bytes=facts.size_bytes,
        info_hash_v1=facts.info_hash_v1,
        info_hash_v2=facts.info_hash_v2,
        magnet=request.source or magnets.link(facts.info_hash_v1, facts.info_hash_v2),
        torrent_id=store_torrent(request.torrent),
        is_private=facts.is_private,
        chooses=request.chooses,
        created_at=now,
    )


def create(
    folder: Folder, request: TransferRequest, now: datetime, remainder: Remainder | None = None
) -> Transfer:
    """Create a transfer, and remove older ones of the same torrent or URL.

    Call it under the account's lock. With the `remainder` of an earlier import, the transfer
    fetches only what is missing.
    """
    for transfer in Transfer.objects.filter(_same(folder, request), account=folder.account_id):
        remove(transfer)
    facts = request.facts
    _drop_wishes(folder.account, facts)
    name = library_names.clean(facts.name, otherwise=facts.wire_hash or "download")
    title = free_names.free_name(folder, name, is_folder=facts.is_folder)
    # To find out which files there are, a torrent needs no slot.
    asks = request.chooses and request.kind in Transfer.TORRENTS
    new_transfer = Transfer(
        account_id=folder.account_id,
        kind=request.kind,
        source=request.source,
        torrent_id=store_torrent(request.torrent),
        folder=folder,
        info_hash_v1=facts.info_hash_v1,
        info_hash_v2=facts.info_hash_v2,
        title=title,
        title_key=key_of(title),
        rank=ranks.next_rank(folder.account_id),
        is_private=facts.is_private,
        # The size in a magnet link is good enough to refuse the link, but not to be shown.
        size_bytes=facts.size_bytes if request.torrent else 0,
        chooses=request.chooses,
        state=Transfer.State.METADATA if asks else Transfer.State.QUEUED,
        notice="fetched_again" if _was_fetched(folder.account_id, request) else "",
        created_at=now,
        updated_at=now,
    )
    if remainder:
        imports.refill(new_transfer, remainder)
    else:
        new_transfer.save()
    return new_transfer


def request_of(row: Transfer | Wish, magnet: str) -> TransferRequest:
    """Return the request that a row came from, to make it again."""
    contents = TorrentFile.objects.filter(pk=row.torrent_id or 0).values_list("content", flat=True)
    torrent = bytes(contents.first() or b"")
    facts = TorrentFacts(
        row.title,
        row.size_bytes,
        is_folder=bool(torrent) and torrent_files.read(torrent).is_folder,
        info_hash_v1=row.info_hash_v1,
        info_hash_v2=row.info_hash_v2,
        is_private=row.is_private,
    )
    kind = Transfer.Kind.TORRENT if torrent else Transfer.Kind.MAGNET
    return TransferRequest(kind, facts, "" if torrent else magnet, torrent, row.chooses)


def _was_fetched(account_id: int, request: TransferRequest) -> bool:
    if request.kind != Transfer.Kind.URL:
        return False
    done_transfers = Transfer.objects.filter(account=account_id, state=Transfer.State.DONE)
    return done_transfers.filter(kind=Transfer.Kind.URL, source=request.source).exists()


def store_torrent(content: bytes) -> int | None:
    """Store a torrent file, and return its ID.

    A row that refers to the object would form a cycle with it, and keep megabytes in memory until
    the garbage collector runs.
    """
    return TorrentFile.objects.create(content=content).pk if content else None


def _drop_wishes(locked: Account, torrent: TorrentFacts | Transfer) -> None:
    """Drop the wishes for a torrent that was added or deleted: that decision is newer."""
    for wish in Wish.objects.filter(with_hash(torrent), account=locked):
        remove(wish)


def remove(row: Transfer | Wish) -> None:
    torrent_id = row.torrent_id
    row.delete()
    if torrent_id is not None:
        TorrentFile.objects.filter(pk=torrent_id).delete()
