import pytest

from service import library, planting
from service.errors import BadName, NameTaken, NoRoom
from service.models import Account, File, Folder
from service.planting import Planted
from tests.cases import each_case
from tests.service.builders import NOW, a_file, a_folder, a_tree, alice, stored

pytestmark = pytest.mark.django_db


def test_a_tree_appears_with_its_sizes():
    account = alice()
    parent = a_folder(account)
    top = a_tree(account, "top", ["a/b/1", "a/2", "3"], folder=parent)
    assert top.size_bytes == 30
    assert library.path_of(Folder.objects.get(name="b")) == "Films/top/a/b"
    sizes = dict(Folder.objects.values_list("name", "size_bytes"))
    assert sizes == {"": 30, "Films": 30, "top": 30, "a": 20, "b": 10}
    assert Account.objects.get().space_used_bytes == 30


def test_a_planted_tree_behaves_like_one_made_by_hand():
    account = alice()
    top = a_tree(account, "top", ["a/b/1", "a/2"])
    inner = library.create_folder(account, "top/a/b/c", NOW)
    a_file(account, "new", folder=inner)
    assert Folder.objects.get(pk=top.pk).size_bytes == 30
    library.delete_folder(account, Folder.objects.get(name="a").pk, NOW)
    assert Folder.objects.get(pk=top.pk).size_bytes == 0


def test_one_folder_in_two_spellings_is_one():
    account = alice()
    top = a_tree(account, "top", ["Café/1", "Cafe\u0301/2"])
    assert [row.size_bytes for row in library.listing(account, top.pk).folders] == [20]


@each_case(
    ("paths", "refusal"),
    [
        (["a", "a"], NameTaken),
        (["é", "e\u0301"], NameTaken),
        (["a/b", "a"], NameTaken),
        (["a", "a/b"], NameTaken),
        (["../a"], BadName),
        (["a//b"], BadName),
        ([""], BadName),
    ],
)
def test_a_bad_tree_is_refused_whole(paths, refusal):
    account = alice()
    with pytest.raises(refusal):
        a_tree(account, "top", ["good", *paths])
    assert not File.objects.exists()
    assert Folder.objects.count() == 1


def test_a_tree_without_room_is_refused_whole():
    account = alice(space_max_bytes=15)
    with pytest.raises(NoRoom):
        a_tree(account, "top", ["1", "2"])
    assert Folder.objects.count() == 1


def test_a_tree_may_be_empty():
    account = alice()
    assert planting.plant(account, 0, "top", [], NOW).size_bytes == 0


def test_a_taken_name_refuses_the_tree():
    account = alice()
    a_file(account, "top")
    with pytest.raises(NameTaken):
        planting.plant(account, 0, "top", [Planted(("1",), stored())], NOW)
