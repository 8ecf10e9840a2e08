"""Two transfers of the same torrent in one account: which of them stays."""

from service.errors import Refusal
from service.models import Account, Transfer
from service.transfers import transfers
from service.transfers.imports import Remainder


class SameTorrent(Refusal):
    """An earlier transfer of this account fetches the same torrent, or has fetched it."""

    reason = "same_torrent"
    sentence = "The same torrent is here already."


HASHES = ("info_hash_v1", "info_hash_v2")


def keep_earlier(locked: Account, row: Transfer, hash_v1: str, hash_v2: str) -> Remainder | None:
    """Keep only the earlier of two transfers of the same torrent. Raises SameTorrent.

    If the earlier one's folder has lost files since, the later replaces it: return what is left.
    """
    same = transfers.with_hash(hash_v1, hash_v2)
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
