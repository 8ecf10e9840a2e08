"""Unpack a ZIP file beside it, and undo that. The worker does the work."""

from datetime import datetime

from service.accounts.accounts import changing_transfers
from service.errors import NotFound
from service.library import deleted_items, library
from service.library import names as library_names
from service.library.moves import Undone
from service.models import Account, Transfer
from service.transfers import transfers, wake_ups
from service.transfers.torrents.facts import TorrentFacts
from service.transfers.transfers import TransferRequest


def unpack(account: Account, file_id: int, now: datetime) -> Transfer:
    """Add a transfer that unpacks a file into a new folder beside it. Raises NotFound, NotNow."""
    zip_file = library.file(account, file_id)
    name, _suffix = library_names.split(zip_file.name)
    facts = TorrentFacts(name, is_folder=True)
    request = TransferRequest(Transfer.Kind.ZIP, facts, source=str(zip_file.pk))
    return transfers.add(account, request, zip_file.folder_id, now)


def undo(account: Account, transfer_id: int, now: datetime) -> Undone:
    """Cancel the unpacking, or delete the folder so that it can be restored. Raises NotFound."""
    with changing_transfers(account, now) as locked:
        transfer = transfers.get(locked, transfer_id)
        if transfer.kind != Transfer.Kind.ZIP:
            raise NotFound
        transfers.remove(transfer)
        folder_ids = [transfer.folder_created_id] if transfer.folder_created_id else []
        items = deleted_items.delete(locked, folder_ids, [], now)
    wake_ups.wake_workers()
    has_undone = bool(items) or transfer.state not in Transfer.OVER
    return Undone(int(has_undone), {transfer.folder_id})
