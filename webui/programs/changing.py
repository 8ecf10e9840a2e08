"""Change torrents as other programs want it, as far as the service can."""

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from django.db.models import QuerySet
from django.utils import timezone

from webui.activity import events
from webui.deleting import held_deletes
from webui.handover import places
from webui.library import folders
from webui.library.entries import FILE, FOLDER
from webui.models import Role, Sent
from webui.programs.adding import ensure_category, join_tags
from webui.programs.calls import CannotDo
from webui.programs.torrents import Torrent, Torrents, tags_in
from webui.transfers import actions
from webui.transfers.states import CachedTransfer
from webui.v1.errors import Failure, NotFound
from webui.v1.own_records import TransferAction

log = logging.getLogger("ferry.programs")


class TorrentCall(Torrents):
    """A call, in the words of any client, about the torrents that it has `chosen`."""

    @property
    def chosen(self) -> list[Torrent]:
        raise NotImplementedError

    def change(self, act: TransferAction) -> None:
        self.refuse_foreign()
        actions.change(self.service, [each.transfer for each in self.chosen], act)

    def resume(self) -> None:
        """Continue. At a service that can't pause anything, all of them do."""
        if self.service.is_embedded:
            self.change("resume")

    def refuse_foreign(self) -> None:
        if not self.service.is_embedded:
            raise CannotDo(409, "The storage service can't do this.")

    def remove(self, *, with_files: bool) -> None:
        """Remove torrents from the list. With their files, also remove the copies that were made of
        them, and delete what they became at the service."""
        torrents = self.chosen
        if not torrents:
            return
        # If this is interrupted, the program still sees the torrents, and tries again.
        for each in torrents if with_files else ():
            self._delete_result(each.transfer)
            if each.marks.handed_path:
                places.remove(each.marks.handed_path, each.transfer.row)
        transfers = [each.transfer for each in torrents]
        actions.remove(self.service, transfers, timezone.now())
        rows = Sent.objects.filter(pk__in=[each.row for each in transfers if each.row])
        rows.update(category=None, handed_path=None, handed_at=None, handover_trouble=None)
        kind = events.Kind.TRANSFER_REMOVED
        events.record(self.request, kind, transfers[0].name, count=len(transfers))

    def _delete_result(self, transfer: CachedTransfer) -> None:
        """Delete what a transfer became, if it still lies where it was put: people may have moved
        it. Where people can undo that on the site, they can undo this."""
        if not transfer.folder and not transfer.file:
            return
        key = f"{FOLDER}-{transfer.folder}" if transfer.folder else f"{FILE}-{transfer.file}"
        folder, now = actions.home_of(self.service, transfer), timezone.now()
        with suppress(NotFound):
            snapshot = folders.read(self.service, folder, now=now, at_once=True).snapshot
            entry = snapshot.contents.find(key)
            if entry is None:
                return
            if self.service.can_restore:
                self.service.v1.delete_together([(entry.kind, entry.id)])
                folders.mark_changed(self.service, [folder])
                held_deletes.forget_listings(self.service, [entry])
            else:
                held_deletes.hold(self.service, folder, [entry], now)
            events.record(self.request, events.Kind.DELETED, entry.name)

    # Categories and tags

    def set_category(self, category: str) -> None:
        """Sort torrents into a category. Copies stay where they are: programs know them there."""
        ensure_category(category)
        self._find_rows(self.chosen).update(category=category)

    def set_tags(self, tags: str) -> None:
        self._find_rows(self.chosen).update(tags=join_tags(tags_in(tags)))

    def add_tags(self, tags: Sequence[str]) -> None:
        for each in self.chosen:
            self._find_rows([each]).update(tags=join_tags([*each.tags, *tags]))

    def remove_tags(self, torrents: Collection[Torrent], tags: Sequence[str]) -> None:
        for each in torrents:
            left = [tag for tag in each.tags if tag not in tags]
            if left != each.tags:
                self._find_rows([each]).update(tags=join_tags(left))

    def _find_rows(self, torrents: Sequence[Torrent]) -> QuerySet[Sent]:
        """Return the rows of torrents. Those that no one sent from here get one."""
        rows = [each.transfer.row or self._make_row(each.transfer) for each in torrents]
        return Sent.objects.filter(pk__in=rows)

    def _make_row(self, transfer: CachedTransfer) -> int:
        actions.mark_changed(self.service)
        return Sent.record(
            self.service.key,
            transfer_id=transfer.id,
            info_hash=transfer.hash,
            title=transfer.name,
            source_kind=Sent.MAGNET,
            source=actions.magnet_of(transfer),
            added_at=timezone.now(),
        ).pk

    # Files and limits

    def choose_files(self, torrent: Torrent, indexes: Collection[int], *, wanted: bool) -> None:
        self.refuse_foreign()
        files = self.service.v1.transfer_files(torrent.transfer.id)
        if not files:
            raise CannotDo(409, "The files aren't known yet.")
        if not set(indexes) <= {each.index for each in files}:
            raise CannotDo(409, "There is no such file.")
        chosen = {each.index for each in files if each.is_wanted}
        chosen = chosen | set(indexes) if wanted else chosen - set(indexes)
        if not chosen:
            raise CannotDo(409, "A torrent needs at least one file.")
        self.service.v1.choose_files(torrent.transfer.id, sorted(chosen))
        actions.mark_changed(self.service)

    def adjust(self, ids: Sequence[str], limits: Mapping[str, str], *, is_paused: bool) -> None:
        """Give new transfers their limits, and pause them. They stay if the service refuses."""
        if not self.service.is_embedded or not ids:
            return
        try:
            if is_paused:
                self.service.v1.change_transfers(ids, "pause")
            for each in ids if limits else ():
                self.service.v1.limit_transfer(each, limits)
        except Failure as failure:
            log.warning("added without what was wanted: %s", failure)

    def limit(self, fields: Mapping[str, str]) -> None:
        self.refuse_foreign()
        for each in self.chosen:
            if not each.transfer.is_ended:
                self.service.v1.limit_transfer(each.transfer.id, fields)

    def limit_all(self, fields: Mapping[str, str]) -> None:
        """Change limits of everyone's transfers, as only owners may."""
        self.refuse_foreign()
        if not Role(self.request.user.role).includes(Role.OWNER) or self.bounds:
            raise CannotDo(403, "Only owners change the speeds of all transfers.")
        self.service.v1.set_limits(fields)
