"""Record what becomes known of a transfer over time: hashes, size, and sometimes a name."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from service.accounts.accounts import changing_transfers
from service.errors import Refusal
from service.library import library
from service.library import names as library_names
from service.models import Account, Transfer
from service.transfers import imports, transfers
from service.transfers.imports import Remainder


class SameTorrent(Refusal):
    """An earlier transfer of this account fetches the same torrent, or has fetched it."""

    reason = "same_torrent"
    sentence = "The same torrent is here already."


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
        remainder = _make_way(locked, row, facts)
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
HASHES = ("info_hash_v1", "info_hash_v2")


def _make_way(locked: Account, row: Transfer, facts: TorrentFacts) -> Remainder | None:
    """Keep only the earlier of two transfers of the same torrent. Raises SameTorrent.

    If the earlier one's folder has lost files since, the later replaces it: return what is left.
    """
    same = transfers.same_torrent(facts.info_hash_v1, facts.info_hash_v2)
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
            other.sentence = SameTorrent.sentence
            other.save(update_fields=[*HASHES, "state", "reason", "sentence"])
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
    row.title = library.free_name(row.folder, name, is_folder=facts.is_folder)
    row.title_key = library_names.key_of(row.title)
