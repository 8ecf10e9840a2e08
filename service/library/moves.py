"""Move and copy files and folders into another folder, and undo that.

Bytes stay where they are: a moved file keeps its blob, and a copy has the same one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple, TypeVar, cast

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from common.batches import ROWS_AT_ONCE, batches
from common.names import key_of
from service.accounts.accounts import changing_library
from service.errors import IntoItself, RootStays, TooManyItems
from service.library import bulk_insert, deleted_items, library, space
from service.library import names as library_names
from service.models import Account, DeletedFile, DeletedItem, File, Folder, MovedEntry
from service.store.sums import Stored

MOST_COPIED = 100_000
UNDO_LIFETIME = timedelta(days=1)
IfTaken = Literal["ask", "keep_both", "skip", "replace"]
NewNames = dict[tuple[bool, int], str]  # by whether the entry is a folder, and its id
Entry = TypeVar("Entry", File, Folder)


class Chosen(NamedTuple):
    folder_ids: Sequence[int]
    file_ids: Sequence[int]


class Moved(NamedTuple):
    batch: int = 0  # undoes it; 0 if nothing has changed
    entries: int = 0
    taken: Sequence[str] = ()  # names that exist in the folder already; then nothing was moved


class Undone(NamedTuple):
    entries: int
    folder_ids: set[int]  # whose contents changed


class _NamesTaken(Exception):  # noqa: N818  It ends the transaction, and is an answer.
    def __init__(self, names: Sequence[str]) -> None:
        self.names = names


def move(  # noqa: PLR0913  So much belongs to a move.
    account: Account,
    chosen: Chosen,
    target_id: int,
    if_taken: IfTaken,
    now: datetime,
    *,
    names: NewNames | None = None,
) -> Moved:
    """Move the entries that still exist. Raises NotFound, RootStays, IntoItself, TooDeep."""
    return _put(Move(account, if_taken, now, names), chosen, target_id)


def copy(  # noqa: PLR0913  As above.
    account: Account,
    chosen: Chosen,
    target_id: int,
    if_taken: IfTaken,
    now: datetime,
    *,
    names: NewNames | None = None,
) -> Moved:
    """Copy instead, with numbers beside the originals. Raises NoRoom and TooManyItems, too."""
    return _put(Copy(account, if_taken, now, names), chosen, target_id)


def _put(placement: "Placement", chosen: Chosen, target_id: int) -> Moved:
    try:
        with changing_library(placement.account, placement.now) as locked:
            folders = _rows(Folder, locked, chosen.folder_ids)
            if any(folder.parent_id is None for folder in folders):
                raise RootStays
            placement.account = locked
            target = library.folder(locked, target_id)
            count = placement.put(target, folders, _rows(File, locked, chosen.file_ids))
            return Moved(placement.record(), count)
    except _NamesTaken as taken:
        return Moved(taken=taken.names)


def _rows(model: type[Entry], locked: Account, ids: Iterable[int]) -> list[Entry]:
    rows: list[Entry] = []
    for some in batches(ids):
        rows += model.objects.filter(account=locked, pk__in=some).order_by("name_key", "pk")
    return rows


class MoveStep(NamedTuple):
    """A row of MovedEntry."""

    is_folder: bool
    entry_id: int
    name: str
    size_bytes: int
    target_id: int
    folder_id: int | None = None
    deleted_item_id: int | None = None


class Placement:
    """The work of putting entries into folders, within one transaction."""

    def __init__(
        self, account: Account, if_taken: IfTaken, now: datetime, names: NewNames | None = None
    ) -> None:
        """`account` must be locked before the first `put`. Some entries get other `names`."""
        self.account = account
        self.now = now
        self._if_taken = if_taken
        self._new_names = names or {}
        self._steps: list[MoveStep] = []

    def put(self, target: Folder, folders: list[Folder], files: list[File]) -> int:
        """Put entries into a folder, and return how many were not skipped."""
        folders = [folder for folder in folders if not self._is_there(folder, target)]
        files = [file for file in files if not self._is_there(file, target)]
        names = bulk_insert.Names([target])
        if self._if_taken == "ask":
            self._ask(target, [*folders, *files], names)
        count = sum(self._put_folder(folder.pk, target, names) for folder in folders)
        if folders:
            # The folders may have contained some of these files.
            files = [
                file
                for file in _rows(File, self.account, [file.pk for file in files])
                if not self._is_there(file, target)
            ]
        for some in batches(files):
            count += self._put_files(some, target, names)
        return count

    def record(self) -> int:
        """Record how to undo this, and return the number of the batch."""
        if not self._steps:
            return 0
        first, *others = self._steps
        row = MovedEntry.objects.create(account=self.account, moved_at=self.now, **first._asdict())
        MovedEntry.objects.filter(pk=row.pk).update(batch=row.pk)
        # Django would take longer for these rows than for everything else.
        at = connection.ops.adapt_datetimefield_value(self.now)
        columns = ("account_id", "moved_at", "batch", *MoveStep._fields)
        values = ", ".join(["%s"] * len(columns))
        table = MovedEntry._meta.db_table  # noqa: SLF001  Django documents it.
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})",  # noqa: S608
                [(self.account.pk, at, row.pk, *step) for step in others],
            )
        return row.pk

    # Folders

    def _put_folder(self, folder_id: int, target: Folder, names: bulk_insert.Names) -> bool:
        # An earlier folder may have contained it.
        folder = Folder.objects.filter(account=self.account, pk=folder_id).first()
        if folder is None or self._is_there(folder, target):
            return False
        if target.lineage.startswith(folder.lineage):
            raise IntoItself
        if self._is_taken(folder, target, names):
            present = names.folder(target, self._key_of(folder))
            if self._if_taken == "skip":
                return False
            if self._if_taken == "replace" and present:
                self._merge(folder, present)
                return True
        within = Folder.objects.filter(library.below("lineage", folder.lineage))
        library.refuse_too_deep(target, within, folder.lineage)
        name = names.free(target, self._name_of(folder), is_folder=True)
        self._place_folder(folder, target, name)
        return True

    def _merge(self, folder: Folder, present: Folder) -> None:
        """Move a folder's contents into the existing one, and resolve name conflicts there, too."""
        self.put(present, [*folder.folders.all()], [*folder.files.all()])

    # Files

    def _put_files(self, files: Sequence[File], target: Folder, names: bulk_insert.Names) -> int:
        taken = {self._key_of(file) for file in files if self._is_taken(file, target, names)}
        if taken and self._if_taken == "skip":
            files = [file for file in files if self._key_of(file) not in taken]
        if taken and self._if_taken == "replace":
            present = dict(target.files.filter(name_key__in=taken).values_list("name_key", "pk"))
            self._delete([], present.values())
            names.drop(target, present)
        self._place_files(
            [(file, names.free(target, self._name_of(file), is_folder=False)) for file in files],
            target,
        )
        return len(files)

    # Names

    def _name_of(self, entry: File | Folder) -> str:
        return self._new_names.get((isinstance(entry, Folder), entry.pk), entry.name)

    def _key_of(self, entry: File | Folder) -> str:
        return key_of(self._name_of(entry)) if self._new_names else entry.name_key

    def _stays(self, entry: File | Folder, target: Folder) -> bool:
        return place_of(entry) == target.pk and self._key_of(entry) == entry.name_key

    def _is_taken(self, entry: File | Folder, target: Folder, names: bulk_insert.Names) -> bool:
        """Return whether another entry of the folder has the name; a copy's original doesn't
        count."""
        return not self._stays(entry, target) and names.has(target, self._key_of(entry))

    def _ask(
        self, target: Folder, entries: Sequence[File | Folder], names: bulk_insert.Names
    ) -> None:
        count_of = Counter(map(self._key_of, entries))
        taken = [
            entry.name
            for entry in entries
            if self._is_taken(entry, target, names) or count_of[self._key_of(entry)] > 1
        ]
        if taken:
            raise _NamesTaken(taken)

    # Differences between moving and copying

    def _is_there(self, _entry: File | Folder, _target: Folder) -> bool:
        return False

    def _place_folder(self, folder: Folder, target: Folder, name: str) -> None:
        raise NotImplementedError

    def _place_files(self, placed: list[tuple[File, str]], target: Folder) -> None:
        raise NotImplementedError

    def _delete(self, folder_ids: Iterable[int], file_ids: Iterable[int]) -> list[DeletedItem]:
        items = deleted_items.delete_within(self.account, folder_ids, file_ids, self.now)
        for item in items:
            self._steps.append(
                MoveStep(
                    is_folder=item.is_folder,
                    entry_id=item.entry_id,
                    name=item.name,
                    size_bytes=item.size_bytes,
                    target_id=item.folder_id,
                    deleted_item_id=item.pk,
                )
            )
        return items

    def _note(self, entry: File | Folder, target: Folder, folder_id: int | None) -> None:
        self._steps.append(
            MoveStep(
                is_folder=isinstance(entry, Folder),
                entry_id=entry.pk,
                name=entry.name,
                size_bytes=entry.size_bytes,
                target_id=target.pk,
                folder_id=folder_id,
            )
        )


def place_of(entry: File | Folder) -> int | None:
    return entry.folder_id if isinstance(entry, File) else entry.parent_id


class Move(Placement):
    def _is_there(self, entry: File | Folder, target: Folder) -> bool:
        return self._stays(entry, target)

    def _merge(self, folder: Folder, present: Folder) -> None:
        super()._merge(folder, present)
        is_empty = not folder.folders.exists() and not folder.files.exists()
        if is_empty:
            for item in self._delete([folder.pk], []):
                library.redirect(self.account, item.incoming or (), {folder.pk: present}, self.now)

    def _place_folder(self, folder: Folder, target: Folder, name: str) -> None:
        self._note(folder, target, folder.parent_id)
        old, new = folder.lineage, target.lineage_of(folder.pk)
        # The root stays, so there is a folder above.
        library.spread(cast("Folder", folder.parent), -folder.size_bytes, self.now)
        library.spread(target, folder.size_bytes, self.now)
        fields = library_names.fields_of(name) if name != folder.name else {}
        Folder.objects.filter(pk=folder.pk).update(parent=target, **fields)
        Folder.objects.filter(library.below("lineage", old)).update(
            lineage=library.lineage_after_move(old, new)
        )

    def _place_files(self, placed: list[tuple[File, str]], target: Folder) -> None:
        bytes_from: Counter[int] = Counter()
        renamed = []
        for file, name in placed:
            self._note(file, target, file.folder_id)
            bytes_from[file.folder_id] += file.size_bytes
            if name != file.name:
                file.folder = target
                for field, value in library_names.fields_of(name).items():
                    setattr(file, field, value)
                renamed.append(file)
        others = [file.pk for file, _name in placed if file.folder_id != target.pk]
        File.objects.filter(pk__in=others).update(folder=target)
        File.objects.bulk_update(renamed, ["folder", "name", "name_key", "search_text"])
        for folder in Folder.objects.filter(pk__in=bytes_from):
            library.spread(folder, -bytes_from[folder.pk], self.now)
        library.spread(target, bytes_from.total(), self.now)


class Copy(Placement):
    _count = 0

    def _count_up(self, count: int) -> None:
        self._count += count
        if self._count > MOST_COPIED:
            raise TooManyItems

    def _place_folder(self, folder: Folder, target: Folder, name: str) -> None:
        space.take(self.account, folder.size_bytes)
        copy_of: dict[int | None, Folder] = {folder.parent_id: target}
        folders = Folder.objects.filter(library.below("lineage", folder.lineage))
        files = File.objects.filter(library.below("folder__lineage", folder.lineage))
        self._count_up(folders.count() + files.count())
        depth = attrgetter("depth")
        for _depth, level in groupby(sorted(folders, key=depth), key=depth):
            originals = list(level)
            copies = [
                library.folder_row(
                    copy_of[original.parent_id],
                    name if original == folder else original.name,
                    self.now,
                    original.size_bytes,
                )
                for original in originals
            ]
            Folder.objects.bulk_create(copies, ROWS_AT_ONCE)
            bulk_insert.write_lineages(self.account.pk)
            copy_of |= {each.pk: made for each, made in zip(originals, copies, strict=True)}
        for some in batches(files.iterator()):
            File.objects.bulk_create(
                copy_row(file, copy_of[file.folder_id], file.name) for file in some
            )
        self._note(copy_of[folder.pk], target, None)
        library.spread(target, folder.size_bytes, self.now)

    def _place_files(self, placed: list[tuple[File, str]], target: Folder) -> None:
        self._count_up(len(placed))
        size_bytes = sum(file.size_bytes for file, _name in placed)
        space.take(self.account, size_bytes)
        for file in File.objects.bulk_create(copy_row(file, target, name) for file, name in placed):
            self._note(file, target, None)
        library.spread(target, size_bytes, self.now)


def copy_row(file: File, target: Folder, name: str) -> File:
    stored = Stored(file.blob, file.size_bytes, file.sha1, file.crc32)
    return library.file_row(target, name, stored, file.updated_at)


# Undo


def undo(account: Account, batch: int, now: datetime) -> Undone:
    """Move entries back, delete copies, and restore what was replaced.

    What has been moved on or deleted since stays as it is. Raises what `move` raises.
    """
    moved = MovedEntry.objects.filter(account=account, batch=batch).order_by("-pk")
    count, folder_ids = 0, set[int]()
    with transaction.atomic():
        for (folder_id, target_id, is_deleted), group in groupby(list(moved), key=_step_of):
            entries = list(group)
            if is_deleted:
                item_ids = [entry.deleted_item_id for entry in entries if entry.deleted_item_id]
                items = DeletedItem.objects.filter(pk__in=item_ids)
                restored = deleted_items.restore(account, items, now)
                folder_ids |= {each.folder_id for each in restored}
            elif folder_id is None:
                count += _delete_copies(account, entries, now)
            else:
                count += _put_back(account, folder_id, entries, now)
                folder_ids.add(folder_id)
            folder_ids.add(target_id)
        moved.delete()
    return Undone(count, folder_ids)


def _step_of(entry: MovedEntry) -> tuple[int | None, int, bool]:
    """Return a key that is equal for entries that are undone together."""
    return entry.folder_id, entry.target_id, entry.deleted_item_id is not None


def forget_expired(now: datetime) -> None:
    MovedEntry.objects.filter(moved_at__lt=now - UNDO_LIFETIME).delete()


def _put_back(account: Account, folder_id: int, moved: Sequence[MovedEntry], now: datetime) -> int:
    names = {(entry.is_folder, entry.entry_id): entry.name for entry in moved}
    with changing_library(account, now) as locked:
        former = Folder.objects.filter(account=locked, pk=folder_id).first()
        if former is None:
            return 0
        folders, files = _still_there(Folder, locked, moved), _still_there(File, locked, moved)
        return Move(locked, "keep_both", now, names).put(former, folders, files)


def _delete_copies(account: Account, moved: Sequence[MovedEntry], now: datetime) -> int:
    """Delete copies for good. Those that have changed since, or that have the last copy of some
    bytes, can be restored."""
    size_of = {(entry.is_folder, entry.entry_id): entry.size_bytes for entry in moved}
    folder_ids = [folder.pk for folder in _still_there(Folder, account, moved)]
    file_ids = [file.pk for file in _still_there(File, account, moved)]
    items = deleted_items.delete(account, folder_ids, file_ids, now)
    if items:
        has_changed = [
            item.pk for item in items if item.size_bytes != size_of[item.is_folder, item.entry_id]
        ]
        batch = DeletedItem.objects.filter(batch=items[0].batch)
        unchanged = batch.exclude(pk__in=has_changed).exclude(pk__in=_with_last_bytes(batch))
        deleted_items.purge(account, unchanged, now)
    return len(items)


def _with_last_bytes(items: QuerySet[DeletedItem]) -> QuerySet[DeletedFile, int]:
    """Return the ids of items with a file whose bytes no other file or earlier item has."""
    same = {"blob": OuterRef("blob")}
    files = DeletedFile.objects.filter(item__in=items, size_bytes__gt=0)
    return files.exclude(
        Exists(File.objects.filter(**same))
        | Exists(DeletedFile.objects.filter(**same).exclude(item__in=items))
    ).values_list("item", flat=True)


def _still_there(model: type[Entry], account: Account, moved: Sequence[MovedEntry]) -> list[Entry]:
    """Return the rows of entries that are still where they were put."""
    target_of = {
        entry.entry_id: entry.target_id for entry in moved if entry.is_folder == (model is Folder)
    }
    rows = _rows(model, account, target_of)
    return [row for row in rows if place_of(row) == target_of[row.pk]]
