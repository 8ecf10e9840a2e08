"""Record what becomes known of a transfer over time: hashes, size, and sometimes a name."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from common.names import key_of
from service.accounts.accounts import changing_transfers
from service.library import free_names
from service.library import names as library_names
from service.models import Transfer
from service.transfers import imports, transfers
from service.transfers.torrents.same_torrent import HASHES, keep_earlier


@dataclass(frozen=True)
class TorrentFacts:
    name: str  # as a stranger wrote it; empty to keep the title
    size_bytes: int
    is_folder: bool = False
    info_hash_v1: str = ""
    info_hash_v2: str = ""
    is_private: bool = False


def identify(
    rows: QuerySet[Transfer], transfer: Transfer, facts: TorrentFacts, now: datetime
) -> Transfer:
    """Save the facts of a transfer at once; its name changes everywhere at the same time.

    Raises SameTorrent, and NotFound if the transfer is gone or another worker's.
    """
    with changing_transfers(transfer.account, now) as locked:
        row = transfers.get_of(rows.filter(account=locked), transfer.pk)
        remainder = keep_earlier(locked, row, facts.info_hash_v1, facts.info_hash_v2)
        if facts.name and not remainder and not _has_a_name(row):
            _rename(row, facts)
        row.info_hash_v1 = facts.info_hash_v1 or row.info_hash_v1
        row.info_hash_v2 = facts.info_hash_v2 or row.info_hash_v2
        row.is_private, row.size_bytes = facts.is_private, facts.size_bytes
        row.save(update_fields=[*NAMES, *HASHES, "is_private", "size_bytes"])
        if remainder:
            imports.refill(row, remainder)
    return row


NAMES = ("title", "title_key")


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
