"""Hold deletions back until their undo has expired, where the service can't restore anything.

Most services can't restore entries, and none can restore transfers.

The site hides held entries at once, and the worker has the service delete them later. A row stays
until the service has done so: if a process dies in between, the next round deletes the same entry
again, which does no harm. Undo removes only rows that no round has begun.
"""

import logging
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from webui.activity import events
from webui.connection import connection
from webui.connection.connection import Service
from webui.library import folders, indexed_folders
from webui.library.entries import Entry
from webui.models import HeldDelete
from webui.player import resume_positions
from webui.v1.errors import Conflict, Failure, Forbidden, NotFound, Rejected

log = logging.getLogger("ferry.files")

# The message with its undo shows for ten seconds, and a slow request may take two more.
HELD = timedelta(seconds=12)
RETRY = timedelta(minutes=1)
PATIENCE = timedelta(days=1)  # with the service that the site shows
LIFETIME = timedelta(days=30)
ROWS_AT_ONCE = 500
# Asking again wouldn't change these.
REFUSALS = (Conflict, Forbidden, Rejected)


def hold(service: Service, folder: str, entries: Sequence[Entry], now: datetime) -> str:
    """Hide the entries, and schedule their deletion. Return the batch that undoes it."""
    rows = [
        HeldDelete(folder=folder, kind=entry.kind, entry_id=entry.id, name=entry.name)
        for entry in entries
    ]
    return _hold_rows(service, rows, now)


def hold_transfers(service: Service, names: Mapping[str, str], now: datetime) -> str:
    """Schedule the cancellation of transfers. Return the batch that undoes it, "" for none.

    Where the service can pause them, others get their slots at once. `names`: by their IDs.
    """
    if not names:
        return ""
    rows = [
        HeldDelete(kind=HeldDelete.TRANSFER, entry_id=transfer_id, name=name)
        for transfer_id, name in names.items()
    ]
    batch = _hold_rows(service, rows, now)
    if service.is_embedded:
        with suppress(Failure):
            service.v1.change_transfers(names, "pause")
    return batch


def _hold_rows(service: Service, rows: Sequence[HeldDelete], now: datetime) -> str:
    batch = secrets.token_urlsafe(16)
    for row in rows:
        row.batch, row.service = batch, service.key
        row.held_at, row.due_at = now, now + HELD
    HeldDelete.objects.bulk_create(rows, ROWS_AT_ONCE)
    return batch


def held_transfers(service: Service) -> set[str]:
    rows = HeldDelete.objects.filter(service=service.key, kind=HeldDelete.TRANSFER)
    return set(rows.values_list("entry_id", flat=True))


def undo(service: Service, batch: str, paused: Collection[str] = ()) -> list[str]:
    """Show the entries again. Return the names of those that aren't being deleted already.

    Transfers continue, except those that were `paused` before.
    """
    rows = HeldDelete.objects.filter(service=service.key, batch=batch, has_begun=False)
    undone = list(rows)
    if not rows.delete()[0]:
        return []
    transfers = [row.entry_id for row in undone if row.kind == HeldDelete.TRANSFER]
    resumed = [each for each in transfers if each not in paused]
    if resumed and service.is_embedded:
        service.v1.change_transfers(resumed, "resume")
    return [row.name for row in undone]


def delete_now(service: Service, **which: str) -> None:
    """Delete held entries at once, at the cost of their undo. A new entry may have the same name,
    or be the same transfer: the service would refuse it, or delete it along with the held one."""
    rows = HeldDelete.objects.filter(service=service.key, **which)
    delete_rows(service, rows.order_by("pk"), timezone.now())


def delete_due(now: datetime) -> None:
    """Delete the entries that are due at the service that the site shows."""
    rows = HeldDelete.objects.filter(due_at__lte=now)
    if not rows.exists():
        return
    service = connection.service()
    here = rows.filter(service=service.key)
    give_up(here.filter(held_at__lte=now - PATIENCE))
    give_up(rows.filter(held_at__lte=now - LIFETIME))
    delete_rows(service, here.order_by("due_at", "pk")[:ROWS_AT_ONCE], now)


def give_up(rows: QuerySet[HeldDelete]) -> None:
    """Show entries again that couldn't be deleted within PATIENCE or LIFETIME."""
    for row in rows:
        events.write(events.Kind.NOT_DELETED, "", row.name)
        row.delete()


def delete_rows(service: Service, rows: Iterable[HeldDelete], now: datetime) -> None:
    """Delete entries one by one. If the service fails, the others wait for the next round."""
    for row in rows:
        # Someone may have undone it first.
        if not HeldDelete.objects.filter(pk=row.pk).update(has_begun=True):
            continue
        try:
            delete_one(service, row)
        except REFUSALS as refusal:
            log.warning("not deleted kind=%s id=%s: %s", row.kind, row.entry_id, refusal)
            events.write(events.Kind.NOT_DELETED, "", row.name)
        except Failure as failure:
            log.warning("deletion waits kind=%s id=%s: %s", row.kind, row.entry_id, failure)
            again = {"due_at": now + RETRY, "has_begun": False}
            HeldDelete.objects.filter(pk=row.pk).update(**again)
            return
        # Do this before deleting the row, which hides the entry while a listing is cached.
        folders.mark_changed(service, [row.folder])
        row.delete()


def delete_one(service: Service, row: HeldDelete) -> None:
    if row.kind == HeldDelete.TRANSFER:
        with suppress(NotFound):
            service.v1.delete_transfer(row.entry_id)
    else:
        delete_entry(service, entry_of(row))


def delete_entry(service: Service, entry: Entry) -> None:
    """Delete an entry that can't be restored, and what is known about it."""
    with suppress(NotFound):
        if entry.is_folder:
            service.v1.delete_folder(entry.id)
        else:
            service.v1.delete_file(entry.id)
    resume_positions.forget(service, [entry])
    indexed_folders.forget_deleted(service, entry)
    forget_listings(service, [entry])


def forget_listings(service: Service, deleted: Iterable[Entry]) -> None:
    folder_ids = [entry.id for entry in deleted if entry.is_folder]
    for folder in resume_positions.with_opened_subfolders(service, folder_ids):
        folders.store().forget(service.key, folder)


def entry_of(row: HeldDelete) -> Entry:
    return Entry(row.kind, row.entry_id, row.name, None, None)
