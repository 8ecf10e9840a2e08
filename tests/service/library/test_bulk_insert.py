import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.errors import BadName, NameTaken, NoRoom
from service.library import bulk_insert, library
from service.library.bulk_insert import NewFile
from service.models import Account, File, Folder
from tests.cases import each_case
from tests.service.builders import NOW, a_file, a_folder, a_tree, alice, stored
from tests.service.reading import contents_of

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


def test_a_bulk_inserted_tree_behaves_like_one_made_by_hand():
    account = alice()
    top = a_tree(account, "top", ["a/b/1", "a/2"])
    inner = library.create_folder(account, "top/a/b/c", NOW)
    a_file(account, "new", folder=inner)
    assert Folder.objects.get(pk=top.pk).size_bytes == 30
    library.delete_folder(account, Folder.objects.get(name="a").pk, NOW)
    assert Folder.objects.get(pk=top.pk).size_bytes == 0


def test_two_spellings_of_a_folder_are_one_folder():
    account = alice()
    top = a_tree(account, "top", ["Café/1", "Cafe\u0301/2"])
    assert [row.size_bytes for row in contents_of(account, top.pk).folders] == [20]


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


def test_a_tree_that_does_not_fit_is_refused_completely():
    account = alice(space_max_bytes=15)
    with pytest.raises(NoRoom):
        a_tree(account, "top", ["1", "2"])
    assert Folder.objects.count() == 1


def test_a_tree_may_be_empty():
    account = alice()
    assert bulk_insert.insert_tree(account, 0, "top", [], NOW).folder.size_bytes == 0


def test_a_taken_name_of_the_tree_gets_a_number():
    account = alice()
    a_file(account, "top")
    assert a_tree(account, "top", ["1"]).name == "top (2)"


# Into an existing folder


def graft(account, folder, *paths):
    files = [NewFile(tuple(path.split("/")), stored()) for path in paths]
    return bulk_insert.graft(account, folder.pk, files, NOW)


def paths_below(folder):
    files = File.objects.filter(folder__lineage__startswith=folder.lineage)
    return sorted(f"{library.path_of(file.folder)}/{file.name}" for file in files)


def test_files_join_the_folders_that_are_there():
    account = alice()
    top = a_tree(account, "top", ["a/b/1", "a/2"])
    grown = graft(account, top, "a/b/3", "a/c/4", "5")
    names = [File.objects.get(pk=pk).name for pk in grown.file_ids]
    assert names == ["3", "4", "5"]
    assert paths_below(top) == ["top/5", "top/a/2", "top/a/b/1", "top/a/b/3", "top/a/c/4"]
    sizes = dict(Folder.objects.values_list("name", "size_bytes"))
    assert sizes == {"": 50, "top": 50, "a": 40, "b": 20, "c": 10}
    assert Account.objects.get().space_used_bytes == 50


def test_taken_names_are_numbered_and_nothing_is_replaced():
    account = alice()
    top = a_tree(account, "top", ["1.txt", "a", "b/1"])
    graft(account, top, "1.txt", "1 (2).txt", "a/2", "b")
    assert paths_below(top) == [
        "top/1 (2) (2).txt",
        "top/1 (2).txt",
        "top/1.txt",
        "top/a",
        "top/a (2)/2",
        "top/b (2)",
        "top/b/1",
    ]


def test_files_that_do_not_fit_are_not_added():
    account = alice(space_max_bytes=25)
    top = a_tree(account, "top", ["1", "2"])
    with pytest.raises(NoRoom):
        graft(account, top, "a/3")
    assert paths_below(top) == ["top/1", "top/2"]
    assert not Folder.objects.filter(name="a").exists()


def test_many_folders_take_no_more_queries_than_few():
    account = alice()

    def queries(count):
        paths = [f"{number}/{number}" for number in range(count)]
        top = a_tree(account, f"{count}", [f"{path} old" for path in paths])
        with CaptureQueriesContext(connection) as captured:
            graft(account, top, *paths)
        return len(captured)

    # SQLite takes 99 rows in one statement.
    assert queries(90) == queries(5)
