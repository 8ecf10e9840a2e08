"""Record what becomes known of a transfer over time: hashes, size, and sometimes a name."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

from django.db.models import QuerySet

from common.names import key_of
from service.accounts.accounts import changing_transfers
from service.details import Details, encode_details
from service.errors import Refusal
from service.library import free_names, library
from service.library import names as library_names
from service.models import Account, Transfer
from service.transfers import choices, imports, transfers
from service.transfers.imports import Remainder, TorrentEntry
from service.transfers.torrents import magnets, torrent_files
from service.transfers.torrents.facts import TorrentFacts

HASHES = ("info_hash_v1", "info_hash_v2")


class SameTorrent(Refusal):
    """An earlier transfer of this account fetches the same torrent, or has fetched it."""

    reason = "same_torrent"
    details = Details("same_torrent")


def identify(
    rows: QuerySet[Transfer],
    transfer: Transfer,
    facts: TorrentFacts,
    now: datetime,
    entries: Sequence[TorrentEntry] = (),
) -> Transfer:
    """Save the facts of a transfer at once; its name changes everywhere at the same time.

    Raises SameTorrent, and NotFound if the transfer is gone or another worker's.
    """
    with changing_transfers(transfer.account, now) as locked:
        row = library.one(rows.filter(account=locked), transfer.pk)
        remainder = _keep_earlier(locked, row, facts)
        if facts.name and not remainder and not _has_a_name(row):
            _rename(row, facts)
        row.info_hash_v1 = facts.info_hash_v1 or row.info_hash_v1
        row.info_hash_v2 = facts.info_hash_v2 or row.info_hash_v2
        row.is_private, row.size_bytes = facts.is_private, facts.size_bytes
        row.save(update_fields=["title", "title_key", *HASHES, "is_private", "size_bytes"])
        if remainder:
            imports.refill(row, remainder)
        if entries:
            choices.know_files(row, entries)
    return row


def become_torrent(
    rows: QuerySet[Transfer], transfer: Transfer, content: bytes, now: datetime
) -> Transfer:
    """Turn the transfer of a URL into that of the torrent file it led to.

    Raises NotATorrent, and what `identify` raises.
    """
    facts = torrent_files.read(content)
    if transfers.TORRENT_SUFFIX.search(urlsplit(transfer.source).path):
        # Clients look for the folder by the title that they got.
        facts = replace(facts, name="")
    with changing_transfers(transfer.account, now):
        row = identify(rows, transfer, facts, now)
        row.kind = Transfer.Kind.TORRENT
        row.torrent_id = transfers.store_torrent(content)
        row.save(update_fields=["kind", "torrent"])
    return row


def become_magnet(
    rows: QuerySet[Transfer], transfer: Transfer, uri: str, now: datetime
) -> Transfer:
    """Turn the transfer of a URL into that of the magnet link it led to.

    Raises BadMagnet, and what `identify` raises.
    """
    magnet = magnets.read(uri)
    facts = replace(magnet, name=magnet.name or magnet.wire_hash, size_bytes=0)
    with changing_transfers(transfer.account, now):
        row = identify(rows, transfer, facts, now)
        row.kind, row.source = Transfer.Kind.MAGNET, uri
        row.save(update_fields=["kind", "source"])
    return row


def _keep_earlier(locked: Account, row: Transfer, facts: TorrentFacts) -> Remainder | None:
    """Keep only the earlier of two transfers of the same torrent. Raises SameTorrent.

    If the earlier one's folder has lost files since, the later replaces it: return what is left.
    """
    same = transfers.with_hash(facts)
    remainder = None
    for other in Transfer.objects.filter(same, account=locked).exclude(pk=row.pk):
        result = transfers.what_is_left(other, row.folder)
        if not isinstance(result, Transfer):
            remainder = remainder or result
            transfers.remove(other)
        elif other.state == Transfer.State.DONE or other.pk < row.pk:
            raise SameTorrent
        else:
            other.info_hash_v1 = other.info_hash_v2 = ""
            other.state, other.reason = Transfer.State.FAILED, SameTorrent.reason
            other.details = encode_details(SameTorrent.details)
            other.save(update_fields=[*HASHES, "state", "reason", "details"])
    return remainder


def _has_a_name(row: Transfer) -> bool:
    """Return whether the title is final.

    A magnet's title is its hash until its name is known, and a URL's server may send a name.
    """
    if row.kind == Transfer.Kind.MAGNET:
        return not row.title.startswith(row.wire_hash)
    return row.kind != Transfer.Kind.URL


def _rename(row: Transfer, facts: TorrentFacts) -> None:
    name = library_names.clean(facts.name, otherwise=row.title)
    # Release its own title, which otherwise counts as taken.
    Transfer.objects.filter(pk=row.pk).update(title_key="")
    row.title = free_names.free_name(row.folder, name, is_folder=facts.is_folder)
    row.title_key = key_of(row.title)
