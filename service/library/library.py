"""The library: folders and files of an account.

Functions that change it take ids, reread the rows under the account's lock, and are one
transaction. The ids of other accounts aren't found.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from django.db.models import F, Max, Model, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat, Length, Substr

from common.names import key_of
from service.accounts.accounts import changing_library, changing_transfers
from service.code_point_order import by_code_point
from service.errors import NotFound, RootStays, TooDeep
from service.library import names as library_names
from service.library import space
from service.library.file_rows import MOMENT, FileRow, file_rows
from service.library.free_names import free_name, refuse_taken
from service.library.upkeep import database_match
from service.models import (
    LINEAGE_DIGITS,
    Account,
    Discarded,
    File,
    Folder,
    Transfer,
    Wish,
    lineage_end,
)
from service.store.sums import Stored

MOST_DEPTH = 200
Row = TypeVar("Row", bound=Model)


class FolderRow(NamedTuple):
    id: int
    name: str
    size_bytes: int
    moment: str


class FolderContents(NamedTuple):
    folder: Folder
    path: str  # from the root, without a leading slash; "" for the root
    folders: list[FolderRow]
    files: list[FileRow]


# Reading


def root_of(account: Account) -> Folder:
    return Folder.objects.get(account=account, parent=None)


def folder(account: Account, folder_id: int) -> Folder:
    """Return a folder; id 0 is the root. Raises NotFound."""
    if folder_id == 0:
        return root_of(account)
    return one(Folder.objects.filter(account=account), folder_id)


def file(account: Account, file_id: int) -> File:
    return one(File.objects.filter(account=account), file_id)


def one(rows: QuerySet[Row], pk: int) -> Row:
    """Return one of these rows. Raises NotFound."""
    row = rows.filter(pk=pk).first()
    if row is None:
        raise NotFound
    return row


def listing(here: Folder) -> FolderContents:
    """Return a folder's contents, with as many queries for 10,000 entries as for 10."""
    folders = here.folders.annotate(moment=MOMENT).order_by(by_code_point("name_key"))
    return FolderContents(
        here,
        path_of(here),
        [FolderRow._make(row) for row in folders.values_list(*FolderRow._fields)],
        file_rows(here),
    )


def path_of(folder: Folder) -> str:
    """Return the path from the root, such as "Films/2024"; "" for the root."""
    ids = folder.ids_from_root[1:-1]
    names = dict(Folder.objects.filter(pk__in=ids).values_list("pk", "name")) if ids else {}
    if len(names) < len(ids):
        # A folder above was deleted between the two queries, and this one with it.
        raise NotFound
    return "/".join([*(names[folder_id] for folder_id in ids), folder.name])


def paths_of(folder_ids: set[int]) -> dict[int, str]:
    """Return the paths of any number of folders, with two queries."""
    folders = list(Folder.objects.filter(pk__in=folder_ids)) if folder_ids else []
    above = {folder_id for folder in folders for folder_id in folder.ids_from_root[1:]}
    name_of = dict(Folder.objects.filter(pk__in=above).values_list("pk", "name")) if above else {}
    return {
        folder.pk: "/".join(name_of.get(each, "") for each in folder.ids_from_root[1:])
        for folder in folders
    }


# Changing


def create_folder(account: Account, path: str, now: datetime) -> Folder:
    """Create a folder at a path from the root, whose parent must exist; a leading slash is fine."""
    *above, name = path.strip("/").split("/")
    for part in (*above, name):
        library_names.check(part)
    with changing_library(account, now) as locked:
        parent = _descend(root_of(locked), above)
        refuse_taken(parent, name)
        new_folder = insert_folder(parent, name, now)
        spread(parent, 0, now)
    return new_folder


def rename_folder(account: Account, folder_id: int, name: str, now: datetime) -> Folder:
    library_names.check(name)
    with changing_library(account, now) as locked:
        row = folder(locked, folder_id)
        if row.parent is None:
            raise RootStays
        refuse_taken(row.parent, name, but=row)
        library_names.rename(row, name)
        spread(row, 0, now)
    return row


def rename_file(account: Account, file_id: int, name: str, now: datetime) -> File:
    library_names.check(name)
    with changing_library(account, now) as locked:
        row = file(locked, file_id)
        refuse_taken(row.folder, name, but=row)
        library_names.rename(row, name)
        spread(row.folder, 0, now)
    return row


def delete_folder(account: Account, folder_id: int, now: datetime) -> str:
    """Delete a folder and all below it, and return its name; transfers into it go to the root."""
    with changing_library(account, now) as locked:
        doomed = folder(locked, folder_id)
        if doomed.parent is None:
            raise RootStays
        files = File.objects.filter(below("folder__lineage", doomed.lineage))
        folders = Folder.objects.filter(below("lineage", doomed.lineage))
        Discarded.take_over(files, now)
        files.delete()
        move_transfers_to_root(locked, folders, now)
        folders.delete()
        spread(doomed.parent, -doomed.size_bytes, now)
        locked.space_used_bytes -= doomed.size_bytes
    return doomed.name


def delete_file(account: Account, file_id: int, now: datetime) -> str:
    with changing_library(account, now) as locked:
        doomed = file(locked, file_id)
        Discarded.objects.create(blob=doomed.blob, at=now)
        File.objects.filter(pk=doomed.pk).delete()
        spread(doomed.folder, -doomed.size_bytes, now)
        locked.space_used_bytes -= doomed.size_bytes
    return doomed.name


def add_file(account: Account, folder_id: int, name: str, stored: Stored, now: datetime) -> File:
    """Add a file; a taken name gets a number.

    Raises NoRoom, BadName, NotFound; the caller then deletes the blob.
    """
    library_names.check(name)
    with changing_library(account, now) as locked:
        parent = folder(locked, folder_id)
        space.take(locked, stored.size_bytes)
        free = free_name(parent, name, is_folder=False)
        new_file = file_row(parent, free, stored, now)
        new_file.save()
        database_match.advance()
        spread(parent, stored.size_bytes, now)
    return new_file


def _descend(folder: Folder, names: list[str]) -> Folder:
    for name in names[:MOST_DEPTH]:
        below = folder.folders.filter(name_key=key_of(name)).first()
        if below is None:
            raise NotFound
        folder = below
    return folder


def insert_folder(parent: Folder, name: str, now: datetime) -> Folder:
    if parent.depth >= MOST_DEPTH:
        raise TooDeep
    new_folder = folder_row(parent, name, now)
    new_folder.save()
    new_folder.lineage = parent.lineage_of(new_folder.pk)
    new_folder.save(update_fields=["lineage"])
    return new_folder


def folder_row(parent: Folder, name: str, now: datetime, size_bytes: int = 0) -> Folder:
    """Return a new folder, whose lineage can be written once it has an id."""
    return Folder(
        account_id=parent.account_id,
        parent=parent,
        **library_names.fields_of(name),
        size_bytes=size_bytes,
        updated_at=now,
    )


def file_row(folder: Folder, name: str, stored: Stored, now: datetime) -> File:
    return File(
        account_id=folder.account_id,
        folder=folder,
        **library_names.fields_of(name),
        size_bytes=stored.size_bytes,
        sha1=stored.sha1,
        crc32=stored.crc32,
        blob=stored.blob,
        updated_at=now,
    )


def spread(folder: Folder, grown_bytes: int, now: datetime) -> None:
    """Update size and date of a folder and all above it after a change below."""
    Folder.objects.filter(pk__in=folder.ids_from_root).update(
        size_bytes=F("size_bytes") + grown_bytes, updated_at=now
    )


class Incoming(NamedTuple):
    """A transfer whose folder is about to be deleted."""

    model: str
    id: int
    folder_id: int
    title: str


def move_transfers_to_root(
    locked: Account, folders: QuerySet[Folder], now: datetime
) -> list[Incoming]:
    """Redirect transfers and wishes for these folders to the root, and return their old folders."""
    facts = "pk", "folder_id", "title"
    wishes = Wish.objects.filter(folder__in=folders).values_list(*facts)
    running = Transfer.running().filter(folder__in=folders).values_list(*facts)
    incoming = [Incoming("wish", *row) for row in wishes]
    incoming += [Incoming("transfer", *row) for row in running]
    root = root_of(locked)
    folder_of = {each.folder_id: root for each in incoming}
    redirect(locked, incoming, folder_of, now, notice="folder_gone")
    # The others are over, and need no name.
    Transfer.objects.filter(folder__in=folders).update(folder=root)
    return incoming


def redirect(
    locked: Account,
    incoming: Iterable[Sequence[Any]],
    folder_of: Mapping[int, Folder],
    now: datetime,
    *,
    notice: str = "",
) -> None:
    """Redirect unfinished transfers and wishes to the folder that takes the place of theirs."""
    rows = [Incoming(*each) for each in incoming]
    wish_ids = {each.id: each.folder_id for each in rows if each.model == "wish"}
    wishes = list(Wish.objects.filter(account=locked, pk__in=wish_ids))
    for wish in wishes:
        wish.folder = folder_of[wish_ids[wish.pk]]
    Wish.objects.bulk_update(wishes, ["folder"])
    of_transfers = {each.id: each for each in rows if each.model == "transfer"}
    running = Transfer.running().filter(account=locked, pk__in=of_transfers)
    if not running.exists():
        return
    with changing_transfers(locked, now):
        for transfer in running:
            former = of_transfers[transfer.pk]
            transfer.folder, transfer.notice = folder_of[former.folder_id], notice
            transfer.title = free_name(transfer.folder, former.title, is_folder=False)
            transfer.title_key = key_of(transfer.title)
            transfer.save(update_fields=["title", "title_key", "folder", "notice"])


def below(column: str, lineage: str) -> Q:
    """Match the folder of a lineage and all below it, as a range of the index."""
    return Q(**{f"{column}__gte": lineage, f"{column}__lt": lineage_end(lineage)})


def refuse_too_deep(parent: Folder, folders: QuerySet[Any], lineage: str) -> None:
    """Raise TooDeep if the top of these folders, which has this lineage, can't go into `parent`."""
    longest = folders.aggregate(longest=Max(Length("lineage")))["longest"]
    inner_depth = (longest - len(lineage)) // LINEAGE_DIGITS
    if parent.depth + 1 + inner_depth > MOST_DEPTH:
        raise TooDeep


def lineage_after_move(old: str, new: str) -> Concat:
    """Return the lineage of each folder within a folder whose lineage changes."""
    return Concat(Value(new), Substr("lineage", len(old) + 1), output_field=TextField())
