"""Insert a whole tree of files at once, such as a finished transfer."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import OuterRef, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat, LPad

from common.batches import ROWS_AT_ONCE, batches
from common.names import key_of
from service.accounts.accounts import changing_library
from service.errors import NameTaken, TooDeep
from service.library import free_names, library, space
from service.library import names as library_names
from service.library.upkeep import database_match
from service.models import LINEAGE_DIGITS, Account, File, Folder, Transfer
from service.store.sums import Stored

Keys = tuple[str, ...]


class NewFile(NamedTuple):
    """A file to insert: its path below the inserted folder, with its name last, and its blob."""

    path: tuple[str, ...]
    stored: Stored


class Grown(NamedTuple):
    folder: Folder
    file_ids: list[int]  # of the new files, in the given order


def insert_tree(
    account: Account, folder_id: int, name: str, files: Iterable[NewFile], now: datetime
) -> Grown:
    """Insert a folder with all its files into `folder_id`, atomically. A taken name gets a number.

    Raises TooDeep, what `library.add_file` raises, and NameTaken for two files of one name.
    """
    tree = FolderTree(files)
    library_names.check(name)
    with changing_library(account, now) as locked:
        parent = library.folder(locked, folder_id)
        free = free_names.free_name(parent, name, is_folder=True)
        top = library.insert_folder(parent, free, now)
        return _insert(locked, tree, top, now, has_content=False)


def graft(account: Account, folder_id: int, files: Iterable[NewFile], now: datetime) -> Grown:
    """Add files to a folder, reusing the folders in it. A taken name gets a number.

    Raises what `insert_tree` raises.
    """
    tree = FolderTree(files)
    with changing_library(account, now) as locked:
        top = library.folder(locked, folder_id)
        return _insert(locked, tree, top, now, has_content=True)


def _insert(
    locked: Account, tree: "FolderTree", top: Folder, now: datetime, *, has_content: bool
) -> Grown:
    if top.depth + tree.depth > library.MOST_DEPTH:
        raise TooDeep
    space.take(locked, tree.size_of[()])
    file_ids = _grow(tree, top, now, has_content=has_content)
    database_match.advance()
    library.spread(top, tree.size_of[()], now)
    return Grown(library.folder(locked, top.pk), file_ids)


class FolderTree:
    """The folders that some paths imply, and their files; NFC and NFD of a name are one name."""

    def __init__(self, files: Iterable[NewFile]) -> None:
        self.files: dict[Keys, NewFile] = {}
        self.name_of: dict[Keys, str] = {(): ""}
        self.size_of: dict[Keys, int] = {(): 0}
        for file in files:
            self._add(file)
        if self.files.keys() & self.name_of.keys():
            raise NameTaken

    @property
    def depth(self) -> int:
        return max(map(len, self.name_of))

    def level(self, depth: int) -> list[Keys]:
        return [keys for keys in self.name_of if len(keys) == depth]

    def _add(self, file: NewFile) -> None:
        for name in file.path:
            library_names.check(name)
        keys = tuple(map(key_of, file.path))
        if keys in self.files:
            raise NameTaken
        self.files[keys] = file
        for length in range(len(keys)):
            above = keys[:length]
            self.name_of.setdefault(above, file.path[length - 1] if length else "")
            self.size_of[above] = self.size_of.get(above, 0) + file.stored.size_bytes


def _grow(tree: FolderTree, top: Folder, now: datetime, *, has_content: bool) -> list[int]:
    folder_of: dict[Keys, Folder] = {(): top}
    names = Names([top] if has_content else [])
    for depth in range(1, tree.depth + 1):
        level = {keys: folder_of[keys[:-1]] for keys in tree.level(depth)}
        present = {
            keys: folder
            for keys, parent in level.items()
            if (folder := names.folder(parent, keys[-1]))
        }
        _add_sizes(tree, present, now)
        new = {
            keys: _folder_row(tree, keys, parent, names, now)
            for keys, parent in level.items()
            if keys not in present
        }
        Folder.objects.bulk_create(new.values(), batch_size=ROWS_AT_ONCE)
        write_lineages(top.account_id)
        names.read(list(present.values()))
        folder_of |= present | new
    rows = (_file_row(folder_of[keys[:-1]], file, names, now) for keys, file in tree.files.items())
    file_ids: list[int] = []
    for batch in batches(rows):
        file_ids += [file.pk for file in File.objects.bulk_create(batch)]
    return file_ids


class Names:
    """The names in folders that existed before; new folders are empty, and need no query."""

    def __init__(self, folders: Sequence[Folder]) -> None:
        self._keys: dict[int, set[str]] = {}
        self._folders: dict[tuple[int, str], Folder] = {}
        self.read(folders)

    def read(self, folders: Sequence[Folder]) -> None:
        """Read the names in any number of folders, with those that running transfers reserve."""
        for batch in batches(folders):
            self._keys |= {folder.pk: set() for folder in batch}
            for folder in Folder.objects.filter(parent__in=batch):
                self._folders[folder.parent_id or 0, folder.name_key] = folder
                self._keys[folder.parent_id or 0].add(folder.name_key)
            files = File.objects.filter(folder__in=batch).values_list("folder", "name_key")
            coming = Transfer.running().filter(folder__in=batch).values_list("folder", "title_key")
            for parent_id, key in (*files, *coming):
                self._keys[parent_id].add(key)

    def folder(self, parent: Folder, name_key: str) -> Folder | None:
        return self._folders.get((parent.pk, name_key))

    def has(self, parent: Folder, name_key: str) -> bool:
        return name_key in self._keys[parent.pk]

    def drop(self, parent: Folder, name_keys: Iterable[str]) -> None:
        self._keys[parent.pk] -= {*name_keys}

    def free(self, parent: Folder, name: str, *, is_folder: bool) -> str:
        """Return `name`, numbered if the folder had it before."""
        if parent.pk not in self._keys:
            return name
        keys = self._keys[parent.pk]
        variants = library_names.variants(name, is_folder=is_folder)
        free = next(each for each in variants if key_of(each) not in keys)
        keys.add(key_of(free))
        return free


def _add_sizes(tree: FolderTree, folders: dict[Keys, Folder], now: datetime) -> None:
    for keys, folder in folders.items():
        folder.size_bytes += tree.size_of[keys]
        folder.updated_at = now
    Folder.objects.bulk_update(folders.values(), ["size_bytes", "updated_at"], ROWS_AT_ONCE)


def _folder_row(
    tree: FolderTree, keys: Keys, parent: Folder, names: Names, now: datetime
) -> Folder:
    name = names.free(parent, tree.name_of[keys], is_folder=True)
    return library.folder_row(parent, name, now, tree.size_of[keys])


def _file_row(parent: Folder, file: NewFile, names: Names, now: datetime) -> File:
    name = names.free(parent, file.path[-1], is_folder=False)
    return library.file_row(parent, name, file.stored, now)


def write_lineages(account_id: int) -> None:
    """Write the lineages of all new folders whose parents have one, in one statement."""
    above = Folder.objects.filter(pk=OuterRef("parent_id")).values("lineage")
    own = LPad(Cast("pk", TextField()), LINEAGE_DIGITS, Value("0"))
    Folder.objects.filter(account=account_id, lineage="").update(
        lineage=Concat(Subquery(above), own, output_field=TextField())
    )
