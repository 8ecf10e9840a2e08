"""Delete files and folders so that they can be restored, and restore them.

A deleted item keeps its bytes, its ids, and its space. Its rows move to tables of deleted rows,
so that nothing else in Ferry can show them.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import F, QuerySet, Sum, Value

from common.batches import batches
from common.host import host
from common.names import key_of
from service.accounts.accounts import changing_library
from service.errors import NotFound, RootStays
from service.library import bulk_insert, free_names, library
from service.library import names as library_names
from service.library.library import Incoming
from service.models import Account, DeletedFile, DeletedFolder, DeletedItem, Discarded, File, Folder
from service.models.deleted import copy_rows

log = logging.getLogger("ferry.library")

# Each file of a folder keeps its path. If a longer one is gone, its files return to the root.
LONGEST_PATH = 4_096
MOST_LISTED = 1_000
# The columns that both tables of files have, and both tables of folders.
IN_FOLDERS = ("name", "name_key", "search_text", "size_bytes", "updated_at")
IN_FILES = (*IN_FOLDERS, "sha1", "crc32", "blob")


class DeletedList(NamedTuple):
    items: list[DeletedItem]
    size_bytes: int  # of all, listed or not
    has_more: bool


class Restored(NamedTuple):
    item: DeletedItem
    folder_id: int
    name: str


def deleted_items(account: Account) -> DeletedList:
    """Return what can be restored, the latest first."""
    everything = DeletedItem.objects.filter(account=account)
    items = list(everything.order_by("-deleted_at", "-pk")[: MOST_LISTED + 1])
    size_bytes = everything.aggregate(sum=Sum("size_bytes", default=0))["sum"]
    return DeletedList(items[:MOST_LISTED], size_bytes, len(items) > MOST_LISTED)


# Deleting


def delete(
    account: Account, folder_ids: Iterable[int], file_ids: Iterable[int], now: datetime
) -> list[DeletedItem]:
    """Delete the entries that still exist, and return them as one batch. Raises RootStays."""
    with changing_library(account, now) as locked:
        return delete_within(locked, folder_ids, file_ids, now)


def delete_by_program(account: Account, entry: type[File | Folder], pk: int, now: datetime) -> str:
    """Delete a file or folder, for good unless the account says otherwise. Return its name."""
    is_folder = entry is Folder
    if account.keeps_deleted:
        items = delete(account, [pk] if is_folder else [], [] if is_folder else [pk], now)
        if not items:
            raise NotFound
        return items[0].name
    return (library.delete_folder if is_folder else library.delete_file)(account, pk, now)


def delete_within(
    locked: Account, folder_ids: Iterable[int], file_ids: Iterable[int], now: datetime
) -> list[DeletedItem]:
    """Do what `delete` does, within another change of the library."""
    items: list[DeletedItem] = []
    for folder_id in folder_ids:
        # An earlier folder may have contained this one.
        folders = Folder.objects.filter(account=locked, pk=folder_id)
        items += [_delete_folder(locked, folder, now) for folder in folders]
    for some_ids in batches(file_ids):
        files = File.objects.filter(account=locked, pk__in=some_ids)
        items += _delete_files(list(files.select_related("folder").order_by("pk")), now)
    for some in batches(items):
        ids = [item.pk for item in some]
        DeletedItem.objects.filter(pk__in=ids).update(batch=items[0].pk)
    for item in items:
        item.batch = items[0].pk
    return items


def _delete_folder(locked: Account, folder: Folder, now: datetime) -> DeletedItem:
    if folder.parent is None:
        raise RootStays
    item = _item_of(folder, folder.parent, library.path_of(folder.parent), now)
    item.save()
    files = File.objects.filter(library.below("folder__lineage", folder.lineage))
    folders = Folder.objects.filter(library.below("lineage", folder.lineage))
    ids = {"item_id": Value(item.pk), "entry_id": F("pk")}
    copy_rows(files, DeletedFile, ids | {"folder_id": F("folder_id")}, IN_FILES)
    places = {"parent_id": F("parent_id"), "lineage": F("lineage")}
    copy_rows(folders, DeletedFolder, ids | places, IN_FOLDERS)
    files.delete()
    item.incoming = library.move_transfers_to_root(locked, folders, now)
    item.save(update_fields=["incoming"])
    folders.delete()
    library.spread(folder.parent, -folder.size_bytes, now)
    return item


def _delete_files(files: list[File], now: datetime) -> list[DeletedItem]:
    path_of = library.paths_of({file.folder_id for file in files})
    items = [_item_of(file, file.folder, path_of[file.folder_id], now) for file in files]
    DeletedItem.objects.bulk_create(items)
    DeletedFile.objects.bulk_create(
        DeletedFile(item=item, entry_id=file.pk, folder_id=file.folder_id, **_facts(file))
        for item, file in zip(items, files, strict=True)
    )
    File.objects.filter(pk__in=[file.pk for file in files]).delete()
    bytes_from: Counter[Folder] = Counter()
    for file in files:
        bytes_from[file.folder] += file.size_bytes
    for folder, size_bytes in bytes_from.items():
        library.spread(folder, -size_bytes, now)
    return items


def _item_of(entry: File | Folder, parent: Folder, path: str, now: datetime) -> DeletedItem:
    return DeletedItem(
        account_id=entry.account_id,
        batch=0,
        is_folder=isinstance(entry, Folder),
        entry_id=entry.pk,
        name=entry.name,
        folder_id=parent.pk,
        path=path if len(path) <= LONGEST_PATH else "",
        lineage=entry.lineage if isinstance(entry, Folder) else "",
        size_bytes=entry.size_bytes,
        deleted_at=now,
    )


# Restoring


def restore(account: Account, items: QuerySet[DeletedItem], now: datetime) -> list[Restored]:
    """Put items back where they were. Folders that are gone are created, and taken names numbered.

    Raises TooDeep.
    """
    restored: list[Restored] = []
    with changing_library(account, now) as locked:
        mine = items.filter(account=locked)
        # Restore the latest first: an entry may have been deleted before the folder it was in.
        for item in mine.filter(is_folder=True).order_by("-deleted_at", "-pk"):
            parent = _place_of(locked, item, now)
            name = free_names.free_name(parent, item.name, is_folder=True)
            _restore_folder(item, parent, name)
            library.spread(parent, item.size_bytes, now)
            incoming = [Incoming(*each) for each in item.incoming or ()]
            former = Folder.objects.in_bulk({each.folder_id for each in incoming})
            library.redirect(locked, incoming, former, now)
            restored.append(Restored(item, parent.pk, name))
        files = mine.filter(is_folder=False).order_by("folder_id", "path", "pk")
        for _place, group in groupby(files, lambda item: (item.folder_id, item.path)):
            restored += _restore_files(locked, list(group), now)
        for some in batches(restored):
            DeletedItem.objects.filter(pk__in=[each.item.pk for each in some]).delete()
    return restored


def _restore_files(locked: Account, items: list[DeletedItem], now: datetime) -> list[Restored]:
    """Restore files that were in one folder, in few queries: they may be thousands."""
    parent = _place_of(locked, items[0], now)
    names = bulk_insert.Names([parent])
    restored: list[Restored] = []
    for some in batches(items):
        rows = DeletedFile.objects.filter(item__in=[item.pk for item in some])
        row_of = {row.item_id: row for row in rows}
        for item in some:
            name = names.free(parent, item.name, is_folder=False)
            restored.append(Restored(item, parent.pk, name))
        File.objects.bulk_create(
            File(
                pk=item.entry_id,
                account_id=locked.pk,
                folder=parent,
                **_facts(row_of[item.pk]) | library_names.fields_of(name),
            )
            for item, _folder_id, name in restored[-len(some) :]
        )
        rows.delete()
    library.spread(parent, sum(item.size_bytes for item in items), now)
    return restored


def _place_of(locked: Account, item: DeletedItem, now: datetime) -> Folder:
    """Return the folder where the item was, or one at the same path."""
    place = Folder.objects.filter(account=locked, pk=item.folder_id).first()
    if place is not None:
        return place
    place = library.root_of(locked)
    for name in item.path.split("/") if item.path else []:
        key = key_of(name)
        place = place.folders.filter(name_key=key).first() or library.insert_folder(
            place, free_names.free_name(place, name, is_folder=True), now
        )
    return place


def _restore_folder(item: DeletedItem, parent: Folder, name: str) -> None:
    files, folders = item.deletedfile_set.all(), item.deletedfolder_set.all()
    library.refuse_too_deep(parent, folders, item.lineage)
    top = folders.filter(entry_id=item.entry_id)
    top.update(parent_id=parent.pk, **library_names.fields_of(name))
    ids = {"id": F("entry_id"), "account_id": Value(item.account_id)}
    lineage = library.lineage_after_move(item.lineage, parent.lineage_of(item.entry_id))
    places = {"parent_id": F("parent_id"), "lineage": lineage}
    copy_rows(folders, Folder, ids | places, IN_FOLDERS)
    copy_rows(files, File, ids | {"folder_id": F("folder_id")}, IN_FILES)
    files.delete()
    folders.delete()


# Deleting for good


def purge(account: Account, items: QuerySet[DeletedItem], now: datetime) -> int:
    """Delete items for good, and return how many."""
    with changing_library(account, now) as locked:
        doomed = items.filter(account=locked)
        if not doomed.exists():
            return 0
        files = DeletedFile.objects.filter(item__in=doomed)
        locked.space_used_bytes -= doomed.aggregate(sum=Sum("size_bytes", default=0))["sum"]
        Discarded.take_over(files, now)
        files.delete()
        DeletedFolder.objects.filter(item__in=doomed).delete()
        count, _by_model = doomed.delete()
    return count


def kept_days() -> int:
    days: int = host().find_setting("DELETED_DAYS")
    return days


def purge_expired(now: datetime) -> None:
    expired = DeletedItem.objects.filter(deleted_at__lt=now - timedelta(kept_days()))
    for account in Account.objects.filter(pk__in=expired.values("account")):
        with suppress(NotFound):  # The account may be removed meanwhile.
            count = purge(account, expired, now)
            log.info("deleted for good items=%d account=%s", count, account.pk)


# Rows


def _facts(file: File | DeletedFile) -> dict[str, Any]:
    return {column: getattr(file, column) for column in IN_FILES}
