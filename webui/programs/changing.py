"""Change torrents as other programs want it, as far as the service can."""

import logging
from collections.abc import Collection, Mapping, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from webui.activity import events
from webui.connection.connection import Service
from webui.handover import places
from webui.http.requests import Request
from webui.models import Role, Sent
from webui.programs.adding import ensure_category, join_tags
from webui.programs.refusals import CannotDo
from webui.programs.torrents import Torrent, tags_in
from webui.transfers import actions
from webui.v1.errors import Failure
from webui.v1.own_records import TransferAction

log = logging.getLogger("ferry.programs")


def change(service: Service, torrents: Sequence[Torrent], act: TransferAction) -> None:
    refuse_foreign(service)
    actions.change(service, [each.transfer for each in torrents], act)


def refuse_foreign(service: Service) -> None:
    if not service.is_embedded:
        raise CannotDo(409, "The storage service can't do this.")


def remove(
    request: Request, service: Service, torrents: Sequence[Torrent], *, with_files: bool
) -> None:
    """Remove torrents from the list, and copies that were made of them. The files that the service
    has stay, as when a person removes a transfer."""
    if not torrents:
        return
    # If this is interrupted, the program still sees the torrents, and tries again.
    for each in torrents:
        if with_files and each.marks.handed_path:
            places.remove(each.marks.handed_path, each.transfer.row)
    transfers = [each.transfer for each in torrents]
    actions.remove(service, transfers, timezone.now())
    rows = Sent.objects.filter(pk__in=[each.row for each in transfers if each.row])
    rows.update(category=None, handed_path=None, handed_at=None, handover_trouble=None)
    kind = events.Kind.TRANSFER_REMOVED
    events.record(request, kind, transfers[0].name, count=len(transfers))


# Categories and tags


def set_category(service: Service, torrents: Sequence[Torrent], category: str) -> None:
    """Sort torrents into a category. Copies stay where they are, as programs know them there."""
    ensure_category(category)
    find_rows(service, torrents).update(category=category)


def find_rows(service: Service, torrents: Sequence[Torrent]) -> QuerySet[Sent]:
    """Return the rows of torrents. Those that no one sent from here get one."""
    rows = [each.transfer.row or make_row(service, each) for each in torrents]
    return Sent.objects.filter(pk__in=rows)


def make_row(service: Service, torrent: Torrent) -> int:
    transfer = torrent.transfer
    actions.mark_changed(service)
    return Sent.record(
        service.key,
        transfer_id=transfer.id,
        info_hash=transfer.hash,
        title=transfer.name,
        source_kind=Sent.MAGNET,
        source=actions.magnet_of(transfer),
        added_at=timezone.now(),
    ).pk


def change_tags(
    service: Service, torrents: Sequence[Torrent], tags: Sequence[str], *, adds: bool
) -> None:
    """Add tags, or remove them; without any, all of them."""
    for each in torrents:
        if adds:
            left = [*each.tags, *tags]
        else:
            left = [tag for tag in each.tags if tags and tag not in tags]
        find_rows(service, [each]).update(tags=join_tags(left))


def set_tags(service: Service, torrents: Sequence[Torrent], tags: str) -> None:
    find_rows(service, torrents).update(tags=join_tags(tags_in(tags)))


def delete_tags(service: Service, torrents: Collection[Torrent], tags: Sequence[str]) -> None:
    tagged = [each for each in torrents if not set(tags).isdisjoint(each.tags)]
    change_tags(service, tagged, tags, adds=False)


# Files and limits


def choose_files(
    service: Service, torrent: Torrent, indexes: Collection[int], *, wanted: bool
) -> None:
    refuse_foreign(service)
    files = service.v1.transfer_files(torrent.transfer.id)
    if not files:
        raise CannotDo(409, "The files aren't known yet.")
    if not set(indexes) <= {each.index for each in files}:
        raise CannotDo(409, "There is no such file.")
    chosen = {each.index for each in files if each.is_wanted}
    chosen = chosen | set(indexes) if wanted else chosen - set(indexes)
    if not chosen:
        raise CannotDo(409, "A torrent needs at least one file.")
    service.v1.choose_files(torrent.transfer.id, sorted(chosen))
    actions.mark_changed(service)


def adjust(
    service: Service, ids: Sequence[str], limits: Mapping[str, str], *, is_paused: bool
) -> None:
    """Give new transfers their limits, and pause them. They stay if the service refuses that."""
    if not service.is_embedded or not ids:
        return
    try:
        if is_paused:
            service.v1.change_transfers(ids, "pause")
        for each in ids if limits else ():
            service.v1.limit_transfer(each, limits)
    except Failure as failure:
        log.warning("added without what was wanted: %s", failure)


def limit(service: Service, torrents: Sequence[Torrent], fields: Mapping[str, str]) -> None:
    refuse_foreign(service)
    for each in torrents:
        if not each.transfer.is_ended:
            service.v1.limit_transfer(each.transfer.id, fields)


def limit_all(request: Request, service: Service, fields: Mapping[str, str]) -> None:
    """Change limits of everyone's transfers, as only owners may."""
    refuse_foreign(service)
    if not Role(request.user.role).includes(Role.OWNER):
        raise CannotDo(403, "Only owners change the speeds of all transfers.")
    service.v1.set_limits(fields)
