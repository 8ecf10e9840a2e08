"""A whole tree that appears in the library at once: what a transfer of many files ends in."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db.models import OuterRef, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat, LPad

from service import generation, library, naming, walking
from service.accounts import changing_library
from service.errors import NameTaken, TooDeep
from service.models import LINEAGE_DIGITS, Account, File, Folder
from service.store import Stored

ROWS_AT_ONCE = 500
Keys = tuple[str, ...]


class Planted(NamedTuple):
    """A file to be: its path below the folder that is planted, its own name as the last."""

    path: tuple[str, ...]
    stored: Stored


def plant(
    account: Account, folder_id: int, name: str, files: Iterable[Planted], now: datetime
) -> Folder:
    """A new folder in `folder_id` with all its files: whole, or not there.

    Raises as `library.add_file` does, NameTaken also for two files of one name.
    """
    tree = Tree(files)
    naming.check(name)
    with changing_library(account, now) as locked:
        parent = library.folder(locked, folder_id)
        if parent.depth + tree.depth >= library.MOST_DEPTH:
            raise TooDeep
        library.refuse_taken(parent, name)
        library.take_space(locked, tree.size_of[()])
        top = library.insert_folder(parent, name, now)
        _grow(tree, top, now)
        generation.advance()
        library.spread(top, tree.size_of[()], now)
        return library.folder(locked, top.pk)


class Tree:
    """The folders that some paths imply, with what lies in each; one in NFC and NFD is one."""

    def __init__(self, files: Iterable[Planted]) -> None:
        self.files: dict[Keys, Planted] = {}
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

    def _add(self, file: Planted) -> None:
        for name in file.path:
            naming.check(name)
        keys = tuple(map(naming.key_of, file.path))
        if keys in self.files:
            raise NameTaken
        self.files[keys] = file
        for length in range(len(keys)):
            above = keys[:length]
            self.name_of.setdefault(above, file.path[length - 1] if length else "")
            self.size_of[above] = self.size_of.get(above, 0) + file.stored.size_bytes


def _grow(tree: Tree, top: Folder, now: datetime) -> None:
    folder_of: dict[Keys, Folder] = {(): top}
    for depth in range(1, tree.depth + 1):
        level = {
            keys: _folder_row(tree, keys, folder_of[keys[:-1]], now) for keys in tree.level(depth)
        }
        Folder.objects.bulk_create(level.values(), batch_size=ROWS_AT_ONCE)
        folder_of |= level
        _write_lineages(top.account_id)
    rows = (
        library.file_row(folder_of[keys[:-1]], file.path[-1], file.stored, now)
        for keys, file in tree.files.items()
    )
    for batch in walking.batches(rows, ROWS_AT_ONCE):
        File.objects.bulk_create(batch)


def _folder_row(tree: Tree, keys: Keys, parent: Folder, now: datetime) -> Folder:
    return Folder(
        account_id=parent.account_id,
        parent=parent,
        name=tree.name_of[keys],
        name_key=keys[-1],
        size_bytes=tree.size_of[keys],
        updated_at=now,
    )


def _write_lineages(account_id: int) -> None:
    """Of all new folders whose parents have theirs, in one statement."""
    above = Folder.objects.filter(pk=OuterRef("parent_id")).values("lineage")
    own = LPad(Cast("pk", TextField()), LINEAGE_DIGITS, Value("0"))
    Folder.objects.filter(account=account_id, lineage="").update(
        lineage=Concat(Subquery(above), own, output_field=TextField())
    )
