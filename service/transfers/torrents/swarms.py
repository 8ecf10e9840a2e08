"""Which torrents people look at: the engine is asked for their swarms, and for no others."""

from datetime import datetime, timedelta
from typing import Any

from common.storage import row_cache
from service.models import Transfer, TransferDetails
from service.transfers import states

# A page that stays open looks again every few seconds.
LOOK = timedelta(seconds=12)
RENEW_AFTER = timedelta(seconds=4)
ASK_EVERY = timedelta(seconds=2)

State = Transfer.State


def look(transfer: Transfer, now: datetime) -> TransferDetails:
    """Return what is known of a transfer, and note that someone looks, if it has a swarm."""
    row = TransferDetails.objects.filter(transfer=transfer).first()
    row = row or TransferDetails(transfer=transfer)
    if has_swarm(transfer):
        if not (row.looked_at and timedelta(0) <= now - row.looked_at < RENEW_AFTER):
            TransferDetails.objects.update_or_create({"looked_at": now}, transfer=transfer)
        is_fresh = row.swarm_at and now - row.swarm_at < LOOK
        row.swarm = row.swarm if is_fresh else None
    else:
        row.swarm = None
    return row


def has_swarm(transfer: Transfer) -> bool:
    """Return whether the engine has it: while it downloads, and while it is seeded."""
    is_running = transfer.state in (*states.WITH_SLOT, State.STALLED)
    return transfer.kind in Transfer.TORRENTS and (is_running or transfer.is_seeding)


def find_looks() -> dict[int, Any]:
    """Return when people last looked, by the ids of the transfers. Ended looks are among them."""
    rows = TransferDetails.objects.filter(looked_at__isnull=False)
    return row_cache.read("looks", lambda: dict(rows.values_list("transfer_id", "looked_at")))


def end_looks(now: datetime) -> None:
    """Forget the swarms that people no longer look at."""
    if any(now - looked_at > LOOK for looked_at in find_looks().values()):
        rows = TransferDetails.objects.filter(looked_at__lt=now - LOOK)
        rows.update(looked_at=None, swarm=None, swarm_at=None)
