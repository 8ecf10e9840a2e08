"""Turn the transfer of a URL into that of the torrent or magnet link it led to."""

from datetime import datetime
from urllib.parse import urlsplit

from django.db.models import QuerySet

from service.accounts.accounts import changing_transfers
from service.models import Transfer, wire_hash
from service.transfers import transfers
from service.transfers.torrents import magnets, torrent_files
from service.transfers.torrents.identity import TorrentFacts, identify


def become_torrent(
    rows: QuerySet[Transfer], transfer: Transfer, content: bytes, now: datetime
) -> Transfer:
    """Turn the transfer of a URL into that of the torrent file it led to.

    Raises NotATorrent, and what `identify` raises.
    """
    torrent = torrent_files.read(content)
    # Clients look for the folder by the title that they got.
    is_named = transfers.TORRENT_SUFFIX.search(urlsplit(transfer.source).path)
    facts = TorrentFacts(
        "" if is_named else torrent.name,
        torrent.size_bytes,
        torrent.is_folder,
        torrent.info_hash_v1,
        torrent.info_hash_v2,
        torrent.is_private,
    )
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
    name = magnet.name or wire_hash(magnet.info_hash_v1, magnet.info_hash_v2)
    facts = TorrentFacts(name, 0, False, magnet.info_hash_v1, magnet.info_hash_v2)
    with changing_transfers(transfer.account, now):
        row = identify(rows, transfer, facts, now)
        row.kind, row.source = Transfer.Kind.MAGNET, uri
        row.save(update_fields=["kind", "source"])
    return row
