"""Random operations on the library, compared with a model of plain objects."""

from dataclasses import dataclass, field
from itertools import chain, count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.names import key_of
from service.content import traversal
from service.errors import BadName, NameTaken, NoRoom, Refusal, RootStays
from service.library import library
from service.models import Account, Discarded, File
from tests.service.builders import NOW, an_account, stored
from tests.service.reading import contents_of, walked

pytestmark = pytest.mark.django_db
SPACE = 100


@dataclass
class Node:
    name: str
    above: "Node | None" = None
    size: int | None = None  # None: a folder
    below: list["Node"] = field(default_factory=list)
    row_id: int = 0

    def bytes(self):
        return self.size if self.size is not None else sum(each.bytes() for each in self.below)

    def walk(self):
        yield self
        for each in self.below:
            yield from each.walk()

    def refuse_taken(self, name, but=None):
        keys = {key_of(each.name) for each in self.below if each is not but}
        if key_of(name) in keys:
            raise NameTaken

    def free_name(self, name):
        keys = {key_of(each.name) for each in self.below}
        stem, dot, suffix = key_of(name).partition(".")
        numbers = (f"{stem} ({number}){dot}{suffix}" for number in count(2))
        return next(each for each in chain([name], numbers) if key_of(each) not in keys)

    def shape(self):
        return self.name, self.bytes(), sorted(each.shape() for each in self.below)


def path_of(node):
    return f"{path_of(node.above)}/{node.name}" if node.above else ""


def check(name):
    if name in ("", ".."):
        raise BadName("any")


def create_folder(account, root, at, name, _size):
    folders = [node for node in root.walk() if node.size is None]
    parent = folders[at % len(folders)]

    def expected():
        check(name)
        parent.refuse_taken(name)
        parent.below.append(Node(name, parent))
        return parent.below[-1]

    path = f"{path_of(parent)}/{name}"
    return expected, lambda: library.create_folder(account, path, NOW) if name else bad()


def bad():
    raise BadName("an empty name ends in a path that means its parent")


def add_file(account, root, at, name, size):
    folders = [node for node in root.walk() if node.size is None]
    parent = folders[at % len(folders)]

    def expected():
        check(name)
        if root.bytes() + size > SPACE:
            raise NoRoom
        parent.below.append(Node(parent.free_name(name), parent, size))
        return parent.below[-1]

    return expected, lambda: library.add_file(account, parent.row_id, name, stored(size), NOW)


def rename(account, root, at, name, _size):
    nodes = list(root.walk())
    node = nodes[at % len(nodes)]
    change = library.rename_folder if node.size is None else library.rename_file

    def expected():
        check(name)
        if node.above is None:
            raise RootStays
        node.above.refuse_taken(name, but=node)
        node.name = name
        return node

    return expected, lambda: change(account, node.row_id, name, NOW)


def delete(account, root, at, _name, _size):
    nodes = list(root.walk())
    node = nodes[at % len(nodes)]
    change = library.delete_folder if node.size is None else library.delete_file

    def expected():
        if node.above is None:
            raise RootStays
        node.above.below.remove(node)

    return expected, lambda: change(account, node.row_id, NOW)


def outcome(act):
    try:
        return act(), None
    except Refusal as refused:
        return None, type(refused)


def shape_of(account, folder_id, name=""):
    here = contents_of(account, folder_id)
    below = [shape_of(account, row.id, row.name) for row in here.folders]
    below += [(row.name, row.size_bytes, []) for row in here.files]
    return name, here.folder.size_bytes, sorted(below)


steps = st.tuples(
    st.sampled_from([create_folder, add_file, rename, delete]),
    st.integers(0, 20),
    st.sampled_from(["a", "b", "é", "e\u0301", "🎬.mkv", "..", ""]),
    st.integers(0, 40),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "examples", [15, pytest.param(400, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_the_library_does_what_a_plain_tree_would(examples):
    @settings(max_examples=examples)
    @given(st.lists(steps, max_size=25))
    def hold(operations):
        account = an_account(space_max_bytes=SPACE)
        root = Node("", row_id=library.root_of(account).pk)
        added = 0
        discarded = Discarded.objects.count()
        for operation, *options in operations:
            expected, act = operation(account, root, *options)
            before = Account.objects.get(pk=account.pk).library_revision
            (node, refused), (row, really) = outcome(expected), outcome(act)
            assert really == refused
            if node and row:
                node.row_id = row.pk
            added += operation is add_file and really is None
            after = Account.objects.get(pk=account.pk)
            assert after.library_revision == before + (really is None)
            assert after.space_used_bytes == root.bytes()
        assert shape_of(account, 0) == root.shape()
        names = [
            name.removesuffix("/") for _depth, name in walked(traversal.walk(account, [0], []))
        ]
        assert sorted(names) == sorted(node.name for node in root.walk())
        gone = added - File.objects.filter(account=account).count()
        assert Discarded.objects.count() == discarded + gone

    hold()
