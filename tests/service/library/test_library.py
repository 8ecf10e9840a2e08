from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.content import traversal
from service.content.archive import ArchiveFolder
from service.errors import BadName, NameTaken, NoRoom, NotFound, RootStays, TooDeep
from service.library import library, space
from service.library.search.search import largest_files
from service.models import Account, Discarded, File, Folder
from service.transfers import transfers
from tests.cases import each_case
from tests.service.builders import (
    NOW,
    a_file,
    a_folder,
    a_tree,
    alice,
    magnet,
    mallory,
    stored,
)
from tests.service.reading import contents_of, walked

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1)


def names(account, folder_id=0):
    here = contents_of(account, folder_id)
    return [row.name for row in here.folders], [row.name for row in here.files]


def used(account):
    return Account.objects.get(pk=account.pk).space_used_bytes


def size_of(folder):
    return Folder.objects.get(pk=folder.pk).size_bytes


# Folders


def test_a_new_account_has_an_empty_root():
    account = alice()
    here = contents_of(account, 0)
    assert here.folder == library.root_of(account)
    assert (here.path, here.folders, here.files) == ("", [], [])


@each_case("path", ["Films", "/Films"])
def test_a_leading_slash_makes_no_difference(path):
    account = alice()
    a_folder(account, path)
    assert names(account) == (["Films"], [])


def test_a_folder_is_created_below_its_parent():
    account = alice()
    a_folder(account, "Films")
    below = a_folder(account, "Films/2024")
    assert library.path_of(below) == "Films/2024"
    assert contents_of(account, below.pk).path == "Films/2024"


def test_a_folder_without_its_parent_is_refused():
    account = alice()
    a_folder(account, "Films")
    with pytest.raises(NotFound):
        a_folder(account, "Films/2024/May")


def test_a_file_cannot_be_a_parent():
    account = alice()
    a_file(account, "Films")
    with pytest.raises(NotFound):
        a_folder(account, "Films/2024")


@each_case("again", ["Café", "Cafe\u0301"])
def test_different_spellings_of_a_name_are_the_same_name(again):
    account = alice()
    a_folder(account, "Café")
    with pytest.raises(NameTaken):
        a_folder(account, again)


def test_a_name_is_stored_as_it_was_sent():
    account = alice()
    a_folder(account, "Cafe\u0301")
    assert names(account) == (["Cafe\u0301"], [])


def test_capitals_make_another_name():
    account = alice()
    a_folder(account, "films")
    a_folder(account, "Films")
    assert names(account) == (["Films", "films"], [])


def test_files_and_folders_share_their_names():
    account = alice()
    a_folder(account, "Films")
    assert a_file(account, "Films").name == "Films (2)"
    a_file(account, "film.mkv")
    with pytest.raises(NameTaken):
        a_folder(account, "film.mkv")


def test_equal_names_in_different_folders_are_no_trouble():
    account = alice()
    a_folder(account, "Films")
    a_folder(account, "Films/Films")
    assert names(account) == (["Films"], [])


@each_case("path", ["", "/", "a//b", "../a", "a/..", "a\0b", "a/b\n"])
def test_a_bad_path_is_refused(path):
    account = alice()
    a_folder(account, "a")
    with pytest.raises(BadName):
        a_folder(account, path)


@pytest.mark.slow
def test_a_tree_has_a_deepest_level():
    account = alice()
    a_tree(account, "a", ["a/" * (library.MOST_DEPTH - 2) + "file"])
    deepest = "/".join("a" * library.MOST_DEPTH)
    assert a_folder(account, deepest).depth == library.MOST_DEPTH
    with pytest.raises(TooDeep):
        a_folder(account, f"{deepest}/a")


def test_200_levels_can_be_walked_and_deleted():
    account = alice()
    parts = ["d"] * (library.MOST_DEPTH - 1)
    top = a_tree(account, "top", ["/".join([*parts, "leaf"])])
    assert len(walked(traversal.walk(account, [top.pk], []))) == library.MOST_DEPTH + 1
    with pytest.raises(TooDeep):
        a_tree(account, "top2", ["/".join([*parts, "d", "leaf"])])
    library.delete_folder(account, top.pk, NOW)
    assert used(account) == 0


def test_renaming_a_folder_keeps_what_is_in_it():
    account = alice()
    folder = a_folder(account)
    a_file(account, folder=folder)
    library.rename_folder(account, folder.pk, "Movies", LATER)
    assert names(account) == (["Movies"], [])
    assert names(account, folder.pk) == ([], ["film.mkv"])


def test_renaming_to_its_own_name_in_another_spelling_works():
    account = alice()
    folder = a_folder(account, "Café")
    library.rename_folder(account, folder.pk, "Cafe\u0301", LATER)
    assert names(account) == (["Cafe\u0301"], [])


def test_renaming_to_a_taken_name_is_refused():
    account = alice()
    folder, _other, file = a_folder(account), a_folder(account, "Taken"), a_file(account)
    with pytest.raises(NameTaken):
        library.rename_folder(account, folder.pk, "Taken", LATER)
    with pytest.raises(NameTaken):
        library.rename_file(account, file.pk, "Taken", LATER)
    assert names(account) == (["Films", "Taken"], ["film.mkv"])


def test_the_root_stays():
    account = alice()
    with pytest.raises(RootStays):
        library.rename_folder(account, 0, "Everything", NOW)
    with pytest.raises(RootStays):
        library.delete_folder(account, 0, NOW)


def test_deleting_a_folder_deletes_all_below_and_nothing_else():
    account = alice()
    doomed = a_tree(account, "doomed", ["a/b/1", "a/2", "3"])
    a_tree(account, "kept", ["a/b/1"])
    library.delete_folder(account, doomed.pk, LATER)
    assert names(account) == (["kept"], [])
    assert used(account) == size_of(library.root_of(account)) == 10
    assert File.objects.count() == 1
    assert Folder.objects.count() == 4
    assert set(Discarded.objects.values_list("at", flat=True)) == {LATER}
    assert Discarded.objects.count() == 3


def test_a_running_transfer_of_a_deleted_folder_lands_in_the_root():
    account = alice()
    folder = a_folder(account, "Films")
    a_folder(account, "Sintel")
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), folder.pk, NOW)
    library.delete_folder(account, folder.pk, LATER)
    landed = transfers.get(account, transfer.pk)
    assert landed.folder == library.root_of(account)
    assert landed.title == "Sintel (2)"


# Files


def test_sizes_are_right_in_every_folder_above():
    account = alice()
    films, year = a_folder(account, "Films"), a_folder(account, "Films/2024")
    beside = a_folder(account, "Music")
    file = a_file(account, folder=year, size_bytes=100)
    root = library.root_of(account)
    assert [size_of(each) for each in (root, films, year, beside)] == [100, 100, 100, 0]
    assert used(account) == 100
    library.delete_file(account, file.pk, NOW)
    assert [size_of(each) for each in (root, films, year)] == [0, 0, 0]
    assert used(account) == 0


def test_a_nested_change_marks_the_folders_above():
    account = alice()
    films = a_folder(account, "Films")
    a_folder(account, "Films/2024")
    library.create_folder(account, "Films/2024/May", LATER)
    assert library.folder(account, films.pk).updated_at == LATER


def test_a_deleted_file_leaves_its_blob_to_the_sweep():
    account = alice()
    file = a_file(account)
    library.delete_file(account, file.pk, LATER)
    assert list(Discarded.objects.values_list("blob", "at")) == [(file.blob, LATER)]
    with pytest.raises(NotFound):
        library.file(account, file.pk)


def test_a_file_too_many_is_refused():
    account = alice(space_max_bytes=100)
    a_file(account, size_bytes=60)
    with pytest.raises(NoRoom):
        a_file(account, "other", size_bytes=50)
    assert names(account) == ([], ["film.mkv"])
    assert used(account) == 60


def test_the_last_byte_can_be_used():
    account = alice(space_max_bytes=100)
    a_file(account, size_bytes=100)
    a_file(account, "empty", size_bytes=0)
    assert space.free_bytes(Account.objects.get()) == 0


def test_a_taken_name_of_a_file_gets_a_number():
    account = alice()
    made = [library.add_file(account, 0, "film.mkv", stored(), NOW).name for _ in range(3)]
    assert made == ["film.mkv", "film (2).mkv", "film (3).mkv"]


def test_600_equal_names_all_get_a_number():
    account = alice()
    a_tree(account, "t", ["film.mkv", *(f"film ({number}).mkv" for number in range(2, 600))])
    folder = contents_of(account, 0).folders[0]
    made = library.add_file(account, folder.id, "film.mkv", stored(), NOW)
    assert made.name == "film (600).mkv"


def test_a_name_that_a_transfer_will_bring_is_taken():
    account = alice()
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), 0, NOW)
    with pytest.raises(NameTaken):
        a_folder(account, "Sintel")
    transfers.delete(account, transfer.pk, NOW)
    assert a_folder(account, "Sintel").name == "Sintel"


# Ownership


def test_anothers_things_are_not_found():
    owner, stranger = alice(), mallory()
    folder, file = a_folder(owner), a_file(owner)
    assert library.file(owner, file.pk)
    calls = [
        lambda: library.folder(stranger, folder.pk),
        lambda: library.file(stranger, file.pk),
        lambda: contents_of(stranger, library.root_of(owner).pk),
        lambda: library.rename_folder(stranger, folder.pk, "mine", NOW),
        lambda: library.rename_file(stranger, file.pk, "mine", NOW),
        lambda: library.delete_folder(stranger, folder.pk, NOW),
        lambda: library.delete_file(stranger, file.pk, NOW),
        lambda: library.add_file(stranger, folder.pk, "mine", stored(), NOW),
        lambda: traversal.walk(stranger, [folder.pk], []),
        lambda: traversal.walk(stranger, [], [file.pk]),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()
    assert names(owner) == (["Films"], ["film.mkv"])


@each_case("number", [-1, 2**31, 2**63, 10**30])
def test_an_absurd_id_is_not_found(number):
    account = alice()
    for read in (library.folder, library.file, transfers.get):
        with pytest.raises(NotFound):
            read(account, number)
    for selection in (([number], []), ([], [number])):
        with pytest.raises(NotFound):
            traversal.walk(account, *selection)


def test_every_change_raises_the_revision_and_no_look_does():
    account = alice()

    def revision():
        return Account.objects.get(pk=account.pk).library_revision

    seen = [revision()]
    folder = a_folder(account)
    seen.append(revision())
    file = a_file(account, folder=folder)
    seen.append(revision())
    library.rename_file(account, file.pk, "new", LATER)
    seen.append(revision())
    library.delete_folder(account, folder.pk, LATER)
    seen.append(revision())
    assert seen == sorted(set(seen))
    contents_of(account, 0)
    assert revision() == seen[-1]
    assert Account.objects.get().changed_at == LATER


# Reading


def queries_of(read):
    with CaptureQueriesContext(connection) as queries:
        read()
    return len(queries)


def test_names_are_sorted_by_code_point_on_any_database():
    account = alice()
    names = ["B", "Z", "_", "a", "b-c", "bb", "ä"]
    top = a_tree(account, "top", names[::-1])
    for name in reversed(names):
        a_folder(account, f"top/folder {name}")
    listing = contents_of(account, top.pk)
    assert [row.name for row in listing.files] == names
    assert [row.name for row in listing.folders] == [f"folder {name}" for name in names]
    _step, (_depth, columns), *_folders = traversal.walk(account, [top.pk], [])
    assert list(columns.names) == names
    (_none, chosen) = next(traversal.walk(account, [], [row.id for row in listing.files]))
    assert list(chosen.names) == names


@pytest.mark.slow
def test_a_long_listing_takes_no_more_queries_than_a_short_one():
    account = alice()
    short = a_tree(account, "short", [f"file {n}" for n in range(10)])
    long = a_tree(account, "long", [f"file {n}" for n in range(10_000)])
    assert len(contents_of(account, long.pk).files) == 10_000
    few = queries_of(lambda: contents_of(account, short.pk))
    assert queries_of(lambda: contents_of(account, long.pk)) == few


def steps(account, folders=(), files=()):
    ids = [each.pk for each in folders], [each.pk for each in files]
    return walked(traversal.walk(account, *ids))


def test_a_walk_is_depth_first():
    account = alice()
    top = a_tree(account, "top", ["b/2", "a/x/1", "a/0", "z"])
    a_folder(account, "top/empty")
    assert steps(account, [top]) == [
        *((0, "top/"), (1, "z"), (1, "b/"), (2, "2"), (1, "a/"), (2, "0"), (2, "x/"), (3, "1")),
        (1, "empty/"),
    ]


def test_a_walk_visits_each_item_once():
    account = alice()
    top = a_tree(account, "top", ["a/1"])
    inner = Folder.objects.get(name="a")
    one = File.objects.get(name="1")
    beside = a_file(account, "beside")
    expected = [(0, "top/"), (1, "a/"), (2, "1"), (0, "beside")]
    assert steps(account, [top, inner, top], [one, beside, beside]) == expected


def test_a_walk_of_the_root_takes_everything():
    account = alice()
    a_tree(account, "top", ["1"])
    a_file(account, "film.mkv")
    mine = walked(traversal.walk(account, [0], []))
    assert [name for _depth, name in mine] == ["/", "film.mkv", "top/", "1"]


def test_a_walk_tells_all_of_many_files_in_the_order_of_their_names():
    account = alice()
    many = [f"{n:04}" for n in range(2 * traversal.AT_ONCE + 1)]
    top = a_tree(account, "top", many)
    step, *files = traversal.walk(account, [top.pk], [])
    assert step.item == ArchiveFolder("top", top.updated_at)
    rows = [row for _depth, columns in files for row in zip(*columns, strict=True)]
    known = File.objects.order_by("name").values_list(
        "name", "size_bytes", "crc32", "updated_at", "blob"
    )
    assert [name for name, *_others in rows] == many
    assert rows == list(known)


def test_a_walk_of_many_folders_takes_few_queries():
    account = alice()
    a_tree(account, "top", [f"{n:03}/file" for n in range(300)])
    many = list(Folder.objects.filter(parent__name="top"))
    assert len(steps(account, many)) == 600
    assert queries_of(lambda: steps(account, many)) <= 8


def test_deleting_a_folder_during_a_walk_drops_only_its_own_files():
    account = alice()
    top = a_tree(account, "top", ["a/1", "b/2"])
    first = Folder.objects.order_by("lineage").get(lineage__startswith=top.lineage, name="a")
    walk = traversal.walk(account, [top.pk], [])

    def go(execute, sql, *options):
        if sql.startswith("SELECT") and "service_file" not in sql:
            goes.__exit__(None, None, None)
            library.delete_folder(account, first.pk, NOW)
        return execute(sql, *options)

    goes = connection.execute_wrapper(go)
    with goes:
        assert [name for _depth, name in walked(walk)] == ["top/", "b/", "2"]


def test_a_walk_of_some_folders_leaves_out_those_between():
    account = alice()
    a_tree(account, "top", ["1/a", "2/x/b", "3/c", "4/x/d"])
    inner = Folder.objects.get(name="x", parent__name="4")
    some = [Folder.objects.get(name="1"), inner, Folder.objects.get(name="3")]
    expected = [(0, "1/"), (1, "a"), (0, "3/"), (1, "c"), (0, "x/"), (1, "d")]
    assert steps(account, some) == expected


# The largest files


def test_the_largest_files_of_all_folders_come_first_and_the_newer_of_equals():
    account, other = alice(), mallory()
    inner = a_folder(account, "Films")
    names = [("small", 1), ("older", 9), ("newer", 9)]
    for name, size_bytes in names:
        a_file(account, name, folder=inner, size_bytes=size_bytes)
    a_file(account, "middle", size_bytes=5)
    a_file(other, "of mallory", size_bytes=99)
    found = [file.name for file in largest_files(account)]
    assert found == ["newer", "older", "middle", "small"]


def test_no_more_than_a_hundred_are_listed():
    account = alice()
    a_tree(account, "Photos", [f"{number}.jpg" for number in range(120)])
    assert len(largest_files(account)) == 100


def test_the_largest_files_are_read_from_an_index():
    """Sorting a million files takes a quarter of a second, and reads the whole table."""
    account = alice()
    explain = "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        if connection.vendor == "postgresql":
            explain = "EXPLAIN"
            # PostgreSQL prefers to read and sort so few rows.
            for way in ("seqscan", "bitmapscan", "sort"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
        largest_files(account)
        cursor.execute(f"{explain} {queries[-1]['sql']}")
        plan = str(cursor.fetchall())
    assert "file_by_size" in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.postgresql
def test_a_listing_never_reads_all_media():
    """The planner must not choose: it would rather read a million rows than look up thousands."""
    account = alice()
    a_file(account)
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        contents_of(account, 0)
        cursor.execute("SET LOCAL enable_nestloop = off")
        (listing,) = (each["sql"] for each in queries if "service_media" in each["sql"])
        cursor.execute(f"EXPLAIN {listing}")
        plan = str(cursor.fetchall())
    assert "Nested Loop Left Join" in plan
