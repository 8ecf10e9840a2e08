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
    held: QuerySet[Transfer], transfer: Transfer, facts: TorrentFacts, now: datetime
) -> Transfer:
    """Save the facts of a transfer at once; its name changes everywhere at the same time.

    Raises SameTorrent, and NotFound if the transfer is gone or another worker's.
    """
    with changing_transfers(transfer.account, now) as locked:
        found = transfers.get_of(held.filter(account=locked), transfer.pk)
        left = _make_way(locked, found, facts)
        if facts.name and not left and not _has_a_name(found):
            _rename(found, facts)
        found.info_hash_v1 = facts.info_hash_v1 or found.info_hash_v1
        found.info_hash_v2 = facts.info_hash_v2 or found.info_hash_v2
        found.is_private, found.size_bytes = facts.is_private, facts.size_bytes
        found.save(update_fields=[*NAMES, *HASHES, "is_private", "size_bytes"])
        if left:
            imports.refill(found, left)
    return found


NAMES = ("title", "title_key")
HASHES = ("info_hash_v1", "info_hash_v2")


def _make_way(locked: Account, found: Transfer, facts: TorrentFacts) -> Remainder | None:
    """Keep only the earlier of two transfers of the same torrent. Raises SameTorrent.

    If the earlier one's folder has lost files since, the later replaces it: return what is left.
    """
    same = transfers.same_torrent(facts.info_hash_v1, facts.info_hash_v2)
    left = None
    for other in Transfer.objects.filter(same, account=locked).exclude(pk=found.pk):
        known = transfers.what_is_left(other, found.folder)
        if not isinstance(known, Transfer):
            left = left or known
            transfers.remove(other)
        elif other.state == Transfer.State.DONE or other.pk < found.pk:
            raise SameTorrent
        else:
            other.info_hash_v1 = other.info_hash_v2 = ""
            other.state, other.reason = Transfer.State.FAILED, SameTorrent.reason
            other.sentence = SameTorrent.sentence
            other.save(update_fields=[*HASHES, "state", "reason", "sentence"])
    return left


def _has_a_name(found: Transfer) -> bool:
    """Return whether the title is final.

    A magnet's title is its hash until its name is known, and a URL's server may send a name.
    """
    if found.kind == Transfer.Kind.MAGNET:
        return not found.title.startswith(found.wire_hash)
    return found.kind != Transfer.Kind.URL


def _rename(found: Transfer, facts: TorrentFacts) -> None:
    name = library_names.clean(facts.name, otherwise=found.title)
    # Release its own title, which otherwise counts as taken.
    Transfer.objects.filter(pk=found.pk).update(title_key="")
    found.title = library.free_name(found.folder, name, is_folder=facts.is_folder)
    found.title_key = library_names.key_of(found.title)
