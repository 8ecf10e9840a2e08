"""ZIP files that the service unpacks: begin, follow, and undo."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from common.storage import row_cache
from webui.connection.connection import Service
from webui.deleting import held_deletes
from webui.library.entries import Entry
from webui.models import HeldDelete, Sent, User
from webui.v1.errors import NotFound
from webui.v1.records import Transfer

DONE = "done"
# The states in which a transfer needs no one's attention. The last is the site's own.
OVER = (DONE, "gone")
MOST_SHOWN = 10


class UndoneUnpacking(NamedTuple):
    state: str  # before; empty if there was nothing to undo
    folder_ids: tuple[str, ...] = ()


def begin(service: Service, by: User, folder: str, entry: Entry, now: datetime) -> str:
    """Have a ZIP file unpacked into its own folder, and return the id of the transfer."""
    # The service would return a transfer that is about to be canceled.
    held_deletes.delete_now(service, kind=HeldDelete.TRANSFER)
    added = service.v1.unpack(entry.id)
    Sent.record(
        service.key,
        transfer_id=added.id or "",
        title=added.name,
        source_kind=Sent.ZIP,
        source=entry.id,
        folder_id=folder,
        added_by=by,
        added_at=now,
    )
    return added.id or ""


def list_unfinished(service: Service, folder: str) -> list[Transfer]:
    """Return the transfers that unpack into a folder, and those that failed."""

    def load() -> list[str]:
        rows = Sent.objects.filter(connection=service.key, cleared_at=None, source_kind=Sent.ZIP)
        here = rows.filter(folder_id=folder).exclude(state__in=OVER).order_by("-pk")
        return list(here.values_list("transfer_id", flat=True)[:MOST_SHOWN])

    ids = row_cache.read(("unpackings", service.key, folder), load)
    return [each for each in find(service, ids) if each.state != DONE]


def find(service: Service, transfer_ids: Iterable[str]) -> list[Transfer]:
    """Return the transfers that still exist."""
    transfers = []
    for transfer_id in transfer_ids:
        with suppress(NotFound):
            transfers.append(service.v1.transfer(transfer_id))
    return transfers


def undo(service: Service, transfer_id: str, now: datetime) -> UndoneUnpacking:
    """Cancel an unpacking, or delete the folder that it created."""
    try:
        transfer = service.v1.transfer(transfer_id)
        undone = service.v1.undo_unpacking(transfer_id)
    except NotFound:
        return UndoneUnpacking("")
    Sent.objects.filter(connection=service.key, transfer_id=transfer_id).update(cleared_at=now)
    return UndoneUnpacking(transfer.state or "", undone.folder_ids)
