"""Random actions and their undos, some killed in the middle, leave everything as it was."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.db.models import Max

from service.errors import Refusal
from service.library import deleted_items, library, moves
from service.library.moves import Chosen
from service.models import Account, DeletedItem, File, Folder, MovedEntry
from tests.service.builders import NOW, a_file, a_folder, alice, put
from tests.service.dying import dying_at
from tests.service.library.test_moves import check_sums
from tests.service.test_kills import whole

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = ("a", "B", "é", "e\u0301", "a (2)", "🎬.mkv", "c.txt", "Folder")
IF_TAKEN = ("ask", "keep_both", "skip", "replace")
MOST_DONE = 30  # actions that wait for their undo
MOST_CHOSEN = 4
UNDO_SHARE = 0.45
KILLED_SHARE = 0.02
MOST_STEPS = 120
LONG = pytest.mark.slow(seconds=50)

Key = tuple[bool, int]  # whether it is a folder, and its id


class Tree(NamedTuple):
    """All that people see, with ids and blobs, and the quota. A name that was changed twice leaves
    another date."""

    folders: list[tuple[Any, ...]]
    files: list[tuple[Any, ...]]
    used_bytes: int

    @property
    def names(self) -> dict[Key, str]:
        folders = {(True, pk): name for pk, name, *_facts in self.folders}
        return folders | {(False, pk): name for pk, name, *_facts in self.files}


def tree_of(account: Account) -> Tree:
    folders = Folder.objects.filter(account=account).order_by("pk")
    files = File.objects.filter(account=account).order_by("pk")
    return Tree(
        [*folders.values_list("pk", "name", "parent", "lineage", "size_bytes")],
        [*files.values_list("pk", "name", "folder", "size_bytes", "sha1", "blob")],
        Account.objects.get(pk=account.pk).space_used_bytes,
    )


class Done(NamedTuple):
    before: Tree
    undo: Callable[[], object]


class Person:
    """Someone who does things at random, and undoes them, the latest first."""

    def __init__(self, account: Account, seed: int) -> None:
        self.account = account
        self.chance = random.Random(seed)
        self.tree = tree_of(account)
        self.done: list[Done] = []
        self.killed = self.acted = 0
        self.batches = newest_batches()
        self.moment = NOW

    def act(self) -> None:
        self.moment += timedelta(seconds=1)
        before = self.tree
        self.run(self.chance.choice([self.delete, self.move, self.copy, self.rename])())
        self.tree = tree_of(self.account)
        if undo := self.find_undo(before):
            self.done.append(Done(before, undo))
            self.acted += 1
        else:
            assert self.tree == before

    def undo(self) -> None:
        """Undo the latest action. If its process is killed, all of it has happened, or nothing."""
        latest = self.done.pop()
        while self.tree != latest.before:
            was_killed = not self.run(latest.undo)
            tree = tree_of(self.account)
            assert tree == latest.before or (was_killed and tree == self.tree)
            self.tree = tree

    def find_undo(self, before: Tree) -> Callable[[], object] | None:
        """Return the call that undoes the latest change, according to the database: after a kill,
        there is no response to go by."""
        (deleted, moved), self.batches = self.batches, newest_batches()
        if (batch := self.batches.moved) > moved:
            return lambda: moves.undo(self.account, batch, self.moment)
        if (batch := self.batches.deleted) > deleted:
            items = DeletedItem.objects.filter(account=self.account, batch=batch)
            return lambda: deleted_items.restore(self.account, items, self.moment)
        for key, name in before.names.items():
            if self.tree.names[key] != name:
                return lambda: self.change_name(key, name)
        return None

    def run(self, act: Callable[[], object]) -> bool:
        """Run it. Return False if its process was killed on the way."""
        if self.chance.random() >= KILLED_SHARE:
            allowed(act)
            return True
        code = dying_at(self.chance.randrange(MOST_STEPS), lambda: allowed(act))
        self.killed += code < 0
        return code >= 0

    # Actions

    def delete(self) -> Callable[[], object]:
        chosen = self.choose()
        return lambda: deleted_items.delete(self.account, *chosen, self.moment)

    def move(self) -> Callable[[], object]:
        chosen, target, if_taken = self.choose(), self.folder(), self.chance.choice(IF_TAKEN)
        return lambda: moves.move(self.account, chosen, target, if_taken, self.moment)

    def copy(self) -> Callable[[], object]:
        chosen, target, if_taken = self.choose(), self.folder(), self.chance.choice(IF_TAKEN)
        return lambda: moves.copy(self.account, chosen, target, if_taken, self.moment)

    def rename(self) -> Callable[[], object]:
        key, name = self.chance.choice(sorted(self.tree.names)), self.chance.choice(NAMES)
        return lambda: self.change_name(key, name)

    def change_name(self, key: Key, name: str) -> None:
        is_folder, pk = key
        change = library.rename_folder if is_folder else library.rename_file
        change(self.account, pk, name, self.moment)

    # State

    def choose(self) -> Chosen:
        keys = sorted(self.tree.names)
        chosen = self.chance.sample(keys, min(len(keys), self.chance.randint(1, MOST_CHOSEN)))
        folder_ids = [pk for is_folder, pk in chosen if is_folder]
        return Chosen(folder_ids, [pk for is_folder, pk in chosen if not is_folder])

    def folder(self) -> int:
        folder_id: int = self.chance.choice(self.tree.folders)[0]
        return folder_id


class Batches(NamedTuple):
    deleted: int
    moved: int


def newest_batches() -> Batches:
    newest = Max("batch", default=0)
    return Batches(
        *(model.objects.aggregate(newest=newest)["newest"] for model in (DeletedItem, MovedEntry))
    )


def allowed(act: Callable[[], object]) -> None:
    """Act as far as the library allows it: moving a folder into itself is refused, for example."""
    try:
        act()
    except Refusal:
        return


@pytest.mark.slow
@pytest.mark.parametrize(
    ("actions", "seed"),
    [(300, 0), *(pytest.param(2_500, seed, marks=LONG) for seed in range(1, 5))],
)
def test_undone_actions_leave_everything_as_it_was(actions, seed, store):
    account = alice(space_max_bytes=2_000)
    for path in ("", "Films", "Films/Folder", "Films/Folder/a", "Music", "Music/B"):
        folder = a_folder(account, path) if path else None
        for name in ("a", "é", "c.txt") if folder else ("B",):
            a_file(account, f"{name} {path[-1:]}", folder=folder, blob=put(store, path.encode()))
    first = tree_of(account)
    person = Person(account, seed=seed)
    while person.acted < actions:
        person.act()
        while person.done and (
            len(person.done) >= MOST_DONE or person.chance.random() < UNDO_SHARE
        ):
            person.undo()
        if person.acted % 100 == 0:
            check_sums(account)
    while person.done:
        person.undo()
    assert tree_of(account) == first
    assert person.killed > actions * KILLED_SHARE / 4
    check_sums(account)
    whole(account, store)
