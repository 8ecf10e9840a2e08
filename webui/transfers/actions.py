"""What people do to transfers: pause, continue, move, remove, clear, restore, and retry."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from io import BytesIO
from urllib.parse import quote

from django.db.models import Q

from webui.connection.connection import Service
from webui.deleting import held_deletes
from webui.library.entries import ROOT
from webui.models import HeldDelete, Sent
from webui.transfers import poll, states
from webui.transfers.states import FAILED, GONE, CachedTransfer
from webui.v1.errors import Failure, NotFound
from webui.v1.own_records import TransferAction
from webui.v1.records import Added

CLEARED_LIFETIME = timedelta(days=30)


def mark_changed(service: Service) -> None:
    """Note that something was sent: the next reader waits for a new poll."""
    poll.store().change(service.key)


CHANGES: Sequence[TransferAction] = ("pause", "resume", "first", "up", "down", "last")


def change(service: Service, transfers: Iterable[CachedTransfer], act: TransferAction) -> int:
    """Pause, continue, or move transfers, and return how many the service changed: it knows best
    which of them it can."""
    chosen = [each for each in transfers if each.id and not each.is_ended]
    if act in ("up", "down") and len(chosen) == 1:
        return step(service, chosen[0], is_up=act == "up")
    return send_change(service, chosen, act)


def send_change(
    service: Service,
    chosen: Sequence[CachedTransfer],
    act: TransferAction,
    before: CachedTransfer | None = None,
) -> int:
    ids, before_id = [each.id for each in chosen], before.id if before else ""
    changed = service.v1.change_transfers(ids, act, before_id=before_id) if ids else ()
    mark_changed(service)
    return len(changed)


def step(service: Service, transfer: CachedTransfer, *, is_up: bool) -> int:
    """Move a transfer past the next one that the list shows above or below, in the same band.

    In the queue, transfers of other bands may be between them.
    """
    queue = find_queue(service)
    band = [each for each in queue if band_of(each) == band_of(transfer)]
    at = band.index(transfer) + (-1 if is_up else 1)
    if not 0 <= at < len(band):
        return 0
    before = band[at] if is_up else next(iter(queue[queue.index(band[at]) + 1 :]), None)
    return send_change(service, [transfer], "before" if before else "last", before)


def place(service: Service, transfers: Sequence[CachedTransfer], after: str) -> int:
    """Move transfers in the queue to where the list shows the place behind `after`, or its top.

    Return how many the service changed.
    """
    chosen = [each for each in transfers if each.id and not each.is_ended]
    if not chosen:
        return 0
    queue = [each for each in find_queue(service) if each not in chosen]
    before = find_next(queue, after, band_of(chosen[0]))
    return send_change(service, chosen, "before" if before else "last", before)


def find_queue(service: Service) -> list[CachedTransfer]:
    """Return the latest order: the person may have changed it since the last poll."""
    poll.refresh(service)
    transfers = poll.store().all(service.key).values()
    return [each for each in transfers if each.id and not each.is_ended]


def band_of(transfer: CachedTransfer) -> int:
    return states.BANDS[transfer.state]


def find_next(queue: list[CachedTransfer], after: str, band: int) -> CachedTransfer | None:
    """Return which transfer of the queue is the next one behind a place in the list.

    The list shows one band after the other, so a transfer keeps to its own.
    """
    shown = sorted(queue, key=band_of)
    at = next((place for place, each in enumerate(shown, 1) if each.key == after), 0)
    below = shown[at:]
    same = [each for each in below if band_of(each) == band]
    if not same and at and band_of(shown[at - 1]) == band:
        below = queue[queue.index(shown[at - 1]) + 1 :]
    return next(iter(same or below), None)


def remove(service: Service, transfers: Sequence[CachedTransfer], now: datetime) -> str:
    """Remove transfers from the list, but never their files.

    Schedule the cancellation of those that are running or failed for when the undo expires, and
    return the batch that undoes that. `restore` undoes the rest.
    """
    held = [each for each in transfers if each.id and (not each.is_ended or each.state == FAILED)]
    batch = held_deletes.hold_transfers(service, {each.id: each.name for each in held}, now)
    Sent.objects.filter(_same(service, *transfers)).update(cleared_at=now)
    poll.store().clear(service.key, [each.key for each in transfers], now.isoformat())
    return batch


def _same(service: Service, *transfers: CachedTransfer) -> Q:
    rows = [each.row for each in transfers if each.row]
    ids = [each.id for each in transfers if each.id and not each.row]
    return Q(connection=service.key) & (Q(pk__in=rows) | Q(transfer_id__in=ids))


def clear(service: Service, now: datetime) -> None:
    """Clear all finished transfers from the list. Failed ones stay, since they need a decision."""
    keys = poll.refresh(service).groups.done
    rows = [each.row for each in poll.store().of_keys(service.key, keys).values() if each.row]
    Sent.objects.filter(connection=service.key, pk__in=rows).update(cleared_at=now)
    poll.store().clear(service.key, keys, now.isoformat())


def restore(service: Service, cleared_at: datetime, batch: str = "") -> int:
    """Undo what `clear` or `remove` did at that moment, and return how many transfers are back.

    `batch`: of those that wait to be stopped. If it is too late for these, undo nothing.
    """
    cleared = poll.store().find_cleared(service.key, cleared_at.isoformat())
    paused = {each.id for each in cleared if each.state == states.STOPPED}
    if batch and not held_deletes.undo(service, batch, paused):
        return 0
    Sent.objects.filter(connection=service.key, cleared_at=cleared_at).update(cleared_at=None)
    poll.store().restore(service.key, cleared_at.isoformat())
    return len(cleared) or 1


def prune(now: datetime) -> None:
    """Delete what was cleared so long ago that no one can restore it."""
    Sent.objects.filter(cleared_at__lte=now - CLEARED_LIFETIME).delete()


def home_of(service: Service, cached: CachedTransfer) -> str:
    """Return the folder that a file went to; the root if the service takes no folder."""
    if cached.reason == poll.FOLDER_GONE:
        return ROOT
    row = Sent.objects.filter(_same(service, cached)).first()
    return (row.folder_id if row and service.takes_folder else "") or ROOT


def links_of(service: Service, transfers: Iterable[CachedTransfer]) -> list[str]:
    """Return the links that were added; magnet links of what other programs or files added."""
    chosen = list(transfers)
    rows = Sent.objects.filter(_same(service, *chosen)).exclude(source_kind=Sent.ZIP)
    sources = dict(rows.values_list("pk", "source"))
    links = (sources.get(each.row) or magnet_of(each) for each in chosen)
    return [link for link in links if link]


def magnet_of(transfer: CachedTransfer) -> str:
    if not transfer.hash:
        return ""
    return f"magnet:?xt=urn:btih:{transfer.hash}&dn={quote(transfer.name)}"


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


def retry_each(
    service: Service, transfers: Iterable[CachedTransfer], now: datetime
) -> tuple[int, int, Failure | None]:
    """Send failed transfers again, until the service fails. Return how many, of how many, and the
    failure."""
    ended = (find_sent(service, each) for each in transfers if each.state in (FAILED, GONE))
    rows = [row for row in ended if row]
    for count, row in enumerate(rows):
        try:
            retry(service, row, now)
        except Failure as failure:
            return count, len(rows), failure
    return len(rows), len(rows), None


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
