"""What people do to transfers: remove, clear, restore, and retry."""

from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from io import BytesIO

from django.db.models import Q

from webui.connection.connection import Service
from webui.deleting import held_deletes
from webui.library.entries import ROOT
from webui.models import HeldDelete, Sent
from webui.transfers import poll
from webui.transfers.states import FAILED, CachedTransfer
from webui.v1.errors import Failure, NotFound
from webui.v1.records import Added

CLEARED_LIFETIME = timedelta(days=30)


def mark_changed(service: Service) -> None:
    """Note that something was sent: the next reader waits for a new poll."""
    poll.store().change(service.key)


def remove(service: Service, cached: CachedTransfer, now: datetime) -> str:
    """Remove a transfer from the list, but never its files.

    If it is running or failed, schedule its cancellation for when the undo expires, and return the
    batch that undoes that. `restore` undoes the rest.
    """
    batch = ""
    if cached.id and (not cached.is_ended or cached.state == FAILED):
        batch = held_deletes.hold_transfer(service, cached.id, cached.name, now)
    Sent.objects.filter(_same(service, cached)).update(cleared_at=now)
    poll.store().clear(service.key, [cached.key], now.isoformat())
    return batch


def _same(service: Service, cached: CachedTransfer) -> Q:
    ours = Q(pk=cached.row) if cached.row else Q(transfer_id=cached.id)
    return Q(connection=service.key) & ours


def clear(service: Service, now: datetime) -> None:
    """Clear all finished transfers from the list. Failed ones stay, since they need a decision."""
    keys = poll.refresh(service).groups.done
    rows = [each.row for each in poll.store().of_keys(service.key, keys).values() if each.row]
    Sent.objects.filter(connection=service.key, pk__in=rows).update(cleared_at=now)
    poll.store().clear(service.key, keys, now.isoformat())


def restore(service: Service, cleared_at: datetime) -> None:
    """Undo what `clear` did at that moment."""
    Sent.objects.filter(connection=service.key, cleared_at=cleared_at).update(cleared_at=None)
    poll.store().restore(service.key, cleared_at.isoformat())


def prune(now: datetime) -> None:
    """Delete what was cleared so long ago that no one can restore it."""
    Sent.objects.filter(cleared_at__lte=now - CLEARED_LIFETIME).delete()


def home_of(service: Service, cached: CachedTransfer) -> str:
    """Return the folder that a file went to; the root if the service takes no folder."""
    if cached.reason == poll.FOLDER_GONE:
        return ROOT
    row = Sent.objects.filter(_same(service, cached)).first()
    return (row.folder_id if row and service.takes_folder else "") or ROOT


def find_sent(service: Service, cached: CachedTransfer) -> Sent | None:
    """Return what was sent, if the site has kept enough of it to send it again."""
    row = Sent.objects.filter(_same(service, cached)).order_by("-pk").first()
    return row if row and (row.source or row.torrent) else None


def add(
    service: Service, send: Callable[[], Added], info_hash: str, name: str
) -> tuple[Added, bool]:
    """Add a transfer. Return it, and whether the service confirmed that; if not, look for it."""
    old_keys = frozenset(poll.store().all(service.key))
    try:
        return send(), True
    except Failure as failure:
        transfer = find_added(service, failure, old_keys, info_hash, name)
        return Added(transfer.id, transfer.name, transfer.hash, was_there=False), False


def find_added(
    service: Service, failure: Failure, old_keys: Collection[str], info_hash: str, name: str
) -> CachedTransfer:
    """Return the transfer that a request added although it failed, or raise the failure."""
    transfers = look_again(service, failure)
    for each in transfers:
        if info_hash and each.hash:
            is_same = each.hash.lower() == info_hash
        else:
            is_same = each.key not in old_keys and each.name == name
        if is_same:
            return each
    without_hash = [each for each in transfers if not (info_hash and each.hash)]
    if all(each.key in old_keys and each.name != name for each in without_hash):
        failure.outcome = "unseen"
    raise failure


def look_again(service: Service, failure: Failure) -> list[CachedTransfer]:
    """Return the transfers that the service has after a request that may have added one.

    Raise the failure if it added none, or if the service doesn't list them either.
    """
    if failure.outcome == "nothing":
        raise failure
    mark_changed(service)
    try:
        cached_list = poll.refresh(service)
    except Failure as unlisted:
        raise failure from unlisted
    if cached_list.failure:
        raise failure
    return [each for each in poll.store().all(service.key).values() if each.id and each.is_listed]


def retry(service: Service, row: Sent, now: datetime) -> None:
    """Send a transfer again. Stop the failed one first, or the service would report a duplicate."""
    old_key = key_of(row)
    held_deletes.delete_now(service, kind=HeldDelete.TRANSFER)
    if row.transfer_id:
        with suppress(NotFound):
            service.v1.delete_transfer(row.transfer_id)
    added, _is_confirmed = add(service, partial(_send, service, row), row.info_hash, row.title)
    if added.id:
        same = Sent.objects.filter(connection=row.connection, transfer_id=added.id)
        same.exclude(pk=row.pk).delete()
    row.transfer_id, row.title = added.id or "", added.name or row.title
    row.state = row.reason = row.created_folder_id = row.created_file_id = ""
    row.done_at, row.added_at = None, now
    row.save()
    poll.store().change(service.key, [old_key, key_of(row)])


def _send(service: Service, row: Sent) -> Added:
    folder = row.folder_id or None
    if row.torrent:
        content = bytes(row.torrent)
        return service.v1.add_file(f"{row.title}.torrent", BytesIO(content), len(content), folder)
    if row.source_kind == Sent.ZIP:
        return service.v1.unpack(row.source)
    if row.source_kind == Sent.URL:
        return service.v1.add_url(row.source, folder)
    return service.v1.add_magnet(row.source, folder)


def key_of(row: Sent) -> str:
    return f"t{row.transfer_id}" if row.transfer_id else f"s{row.pk}"
