"""People move and copy files and folders, and undo it."""

import random
from datetime import timedelta
from itertools import count

import pytest
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from service.errors import IntoItself, NoRoom, NotFound, Refusal, RootStays, TooDeep, TooManyItems
from service.library import deleted_items, library, moves
from service.library.moves import Chosen, Moved, copy, move, undo
from service.library.search.search import Search, find
from service.library.upkeep.sweep import sweep_leavings
from service.models import Account, DeletedItem, Discarded, File, Folder, MovedEntry, Wish
from service.store.blobs import library_store
from service.transfers import transfers
from tests.service.builders import NOW, a_file, a_folder, a_tree, alice, mallory, put
from tests.service.library.test_deleted_items import MAGNET, paths, tree_of, used

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)


def chosen(*entries) -> Chosen:
    return Chosen(
        [each.pk for each in entries if isinstance(each, Folder)],
        [each.pk for each in entries if isinstance(each, File)],
    )


def check_sums(account) -> None:
    """Check that each folder has the size of its contents, and the lineage of its parent."""
    rows = Folder.objects.filter(account=account)
    lineage_of = dict(rows.values_list("pk", "lineage"))
    for folder in rows:
        above = lineage_of[folder.parent_id] if folder.parent_id else ""
        assert folder.lineage == f"{above}{folder.pk:012}"
        files = File.objects.filter(library.below("folder__lineage", folder.lineage))
        assert folder.size_bytes == (files.aggregate(sum=Sum("size_bytes"))["sum"] or 0)
    waiting = DeletedItem.objects.filter(account=account).aggregate(sum=Sum("size_bytes"))["sum"]
    assert used(account) == library.root_of(account).size_bytes + (waiting or 0)


def test_files_and_folders_move_and_come_back():
    account = alice()
    films, target = a_tree(account, "Films", ["a/b.mkv", "c.mkv"]), a_folder(account, "Old")
    file = a_file(account, "d.txt")
    before = tree_of(account)
    moved = move(account, chosen(films, file), target.pk, "ask", LATER)
    assert (moved.entries, moved.taken) == (2, ())
    assert paths(account) == {"Old/Films/a/b.mkv", "Old/Films/c.mkv", "Old/d.txt"}
    check_sums(account)
    done = undo(account, moved.batch, LATER)
    assert done.entries == 2
    assert done.folder_ids == {target.pk, library.root_of(account).pk}
    assert tree_of(account) == before
    assert not MovedEntry.objects.exists()
    assert undo(account, moved.batch, LATER).entries == 0


def test_moved_items_are_found_at_their_new_place():
    account = alice()
    file, target = a_file(account, "Dune.mkv"), a_folder(account, "Old")
    move(account, chosen(file), target.pk, "ask", LATER)
    (found,) = find(Search(account, "dune")).files
    assert found.folder_id == target.pk


def test_existing_items_stay():
    account = alice()
    file = a_file(account, "a.txt")
    assert move(account, chosen(file), 0, "ask", LATER) == Moved()


def test_we_ask_before_a_name_is_taken_twice():
    account = alice()
    target = a_folder(account, "Old")
    a_file(account, "a.txt", folder=target)
    file, other = a_file(account, "a.txt"), a_file(account, "b.txt")
    before, revision = tree_of(account), Account.objects.get().library_revision
    assert move(account, chosen(file, other), target.pk, "ask", LATER).taken == ["a.txt"]
    assert tree_of(account) == before
    assert Account.objects.get().library_revision == revision


def test_entries_of_several_folders_may_have_the_same_name():
    account = alice()
    first, second = a_tree(account, "1", ["a.txt"]), a_tree(account, "2", ["a.txt"])
    target = a_folder(account, "Old")
    files = [*first.files.all(), *second.files.all()]
    assert move(account, chosen(*files), target.pk, "ask", LATER).taken == ["a.txt", "a.txt"]
    move(account, chosen(*files), target.pk, "keep_both", LATER)
    assert paths(account) == {"Old/a.txt", "Old/a (2).txt"}


@pytest.mark.parametrize("act", [move, copy])
@pytest.mark.parametrize(
    ("if_taken", "expected"),
    [
        ("keep_both", {"Old/a.txt", "Old/a (2).txt", "Old/Films/b.mkv", "Old/Films (2)/b.mkv"}),
        ("skip", {"Old/a.txt", "Old/Films/b.mkv"}),
        ("replace", {"Old/a.txt", "Old/Films/b.mkv"}),
    ],
)
def test_names_that_are_taken_are_settled_once_for_all(act, if_taken, expected):
    account = alice()
    target = a_tree(account, "Old", ["Films/b.mkv", "a.txt"])
    file, films = a_file(account, "a.txt"), a_tree(account, "Films", ["b.mkv"])
    before, present = tree_of(account), {*File.objects.filter(folder__name="Old")}
    moved = act(account, chosen(file, films), target.pk, if_taken, LATER)
    assert {path for path in paths(account) if path.startswith("Old/")} == expected
    is_replaced = if_taken == "replace"
    assert (present <= {*File.objects.all()}) is not is_replaced
    assert moved.entries == (0 if if_taken == "skip" else 2)
    check_sums(account)
    if moved.batch:
        undo(account, moved.batch, LATER)
    assert tree_of(account) == before
    assert not DeletedItem.objects.exists()
    check_sums(account)


def test_a_replaced_folder_gets_what_is_in_the_other_and_keeps_its_own():
    account = alice()
    target = a_tree(account, "Old", ["Films/a.mkv", "Films/x/b.mkv"])
    films = a_tree(account, "Films", ["x/b.mkv", "x/c.mkv", "y/d.mkv"])
    moved = move(account, chosen(films), target.pk, "replace", LATER)
    assert paths(account) == {
        *("Old/Films/a.mkv", "Old/Films/x/b.mkv", "Old/Films/x/c.mkv", "Old/Films/y/d.mkv")
    }
    assert not Folder.objects.filter(pk=films.pk).exists()
    check_sums(account)
    undo(account, moved.batch, LATER)
    assert len(paths(account)) == 5
    assert Folder.objects.filter(pk=films.pk).exists()
    check_sums(account)


def test_a_file_never_replaces_a_folder():
    account = alice()
    target = a_tree(account, "Old", ["Films/b.mkv"])
    file = a_file(account, "Films")
    move(account, chosen(file), target.pk, "replace", LATER)
    assert paths(account) == {"Old/Films/b.mkv", "Old/Films (2)"}


def test_a_folder_that_merges_into_the_one_above_loses_nothing():
    account = alice()
    a_tree(account, "A", ["A/A/deep.txt", "A/b.txt"])
    inner = Folder.objects.get(name="A", parent__name="A", parent__parent__name="")
    move(account, chosen(inner), library.root_of(account).pk, "replace", LATER)
    assert {path.rpartition("/")[2] for path in paths(account)} == {"deep.txt", "b.txt"}
    check_sums(account)


def test_a_folder_moves_neither_into_itself_nor_below():
    account = alice()
    a_tree(account, "A", ["B/c.txt"])
    folder, below = Folder.objects.get(name="A"), Folder.objects.get(name="B")
    for target in (folder, below):
        for act in (move, copy):
            with pytest.raises(IntoItself):
                act(account, chosen(folder), target.pk, "replace", LATER)


def test_the_root_stays_and_others_have_their_own():
    account, other = alice(), mallory()
    target, theirs = a_folder(account), a_folder(other)
    with pytest.raises(RootStays):
        move(account, chosen(library.root_of(account)), target.pk, "ask", LATER)
    with pytest.raises(NotFound):
        move(account, chosen(target), theirs.pk, "ask", LATER)
    assert move(account, chosen(theirs), 0, "ask", LATER).entries == 0
    moved = move(account, chosen(a_file(account, "a.txt")), target.pk, "ask", LATER)
    assert undo(other, moved.batch, LATER).entries == 0


def test_folders_are_not_nested_too_deeply():
    account = alice()
    parent = library.root_of(account)
    for _level in range(library.MOST_DEPTH - 1):
        parent = library.insert_folder(parent, "x", NOW)
    folder = a_tree(account, "A", ["B/c.txt"])
    for act in (move, copy):
        with pytest.raises(TooDeep):
            act(account, chosen(folder), parent.pk, "ask", LATER)


def test_a_copy_shares_the_bytes_until_the_last_one_is_deleted():
    account, store = alice(), library_store()
    file = a_file(account, "a.txt", blob=put(store, b"hello"))
    copy(account, chosen(file), 0, "ask", LATER)
    made = File.objects.get(name="a (2).txt")
    assert (made.blob, made.sha1, made.updated_at) == (file.blob, file.sha1, file.updated_at)
    assert used(account) == 2 * file.size_bytes
    library.delete_file(account, file.pk, LATER)
    assert sweep_leavings(store, LATER, timedelta(0)).discarded == 0
    assert store.path(file.blob).exists()
    assert not Discarded.objects.exists()
    (item,) = deleted_items.delete(account, [], [made.pk], LATER)
    sweep_leavings(store, LATER, timedelta(0))
    assert store.path(file.blob).exists()
    deleted_items.purge(account, DeletedItem.objects.filter(pk=item.pk), LATER)
    assert sweep_leavings(store, LATER, timedelta(0)).discarded == 1
    assert not store.path(file.blob).exists()


def test_readers_of_the_last_copy_have_time_to_finish():
    account, store = alice(), library_store()
    file = a_file(account, "a.txt", blob=put(store, b"hello"))
    copy(account, chosen(file), 0, "ask", NOW)
    library.delete_file(account, file.pk, NOW)
    library.delete_file(account, File.objects.get().pk, NOW + timedelta(minutes=59))
    for minutes, discarded in ((60, 0), (119, 1)):
        swept = sweep_leavings(store, NOW + timedelta(minutes=minutes), timedelta(hours=1))
        assert swept.discarded == discarded
        assert store.path(file.blob).exists() is not bool(discarded)


def test_a_copy_takes_space():
    account = alice(space_max_bytes=35)
    folder = a_tree(account, "Films", ["a.mkv", "b/c.mkv"])
    with pytest.raises(NoRoom):
        copy(account, chosen(folder), 0, "ask", LATER)
    file = File.objects.get(name="a.mkv")
    copy(account, chosen(file), 0, "ask", LATER)
    with pytest.raises(NoRoom):
        copy(account, chosen(file), folder.pk, "ask", LATER)
    check_sums(account)


def test_the_number_of_empty_files_is_limited(monkeypatch):
    # A test can't copy 100,000 files.
    monkeypatch.setattr(moves, "MOST_COPIED", 10)
    account = alice()
    folder = a_tree(account, "Films", [f"{number}" for number in range(9)])
    copy(account, chosen(folder), 0, "ask", LATER)
    before = tree_of(account)
    with pytest.raises(TooManyItems):
        copy(account, chosen(*Folder.objects.exclude(parent=None)), 0, "ask", LATER)
    with pytest.raises(TooManyItems):
        copy(account, chosen(*File.objects.all()), 0, "keep_both", LATER)
    assert tree_of(account) == before


def test_a_folder_is_copied_with_everything_in_it():
    account = alice()
    folder = a_tree(account, "Films", ["a/b/c.mkv", "a/d.mkv", "e.mkv"])
    library.create_folder(account, "Films/empty", NOW)
    before, space = tree_of(account), used(account)
    copied = copy(account, chosen(folder), 0, "ask", LATER)
    assert paths(account) >= {"Films (2)/a/b/c.mkv", "Films (2)/a/d.mkv", "Films (2)/e.mkv"}
    assert Folder.objects.filter(name="empty").count() == 2
    check_sums(account)
    undo(account, copied.batch, LATER)
    assert (tree_of(account), used(account)) == (before, space)


def test_a_copy_that_has_changed_can_be_restored_after_undo():
    account = alice()
    folder = a_tree(account, "Films", ["a.mkv"])
    copied = copy(account, chosen(folder), 0, "ask", LATER)
    a_file(account, "new.txt", folder=Folder.objects.get(name="Films (2)"))
    undo(account, copied.batch, LATER)
    assert [item.name for item in DeletedItem.objects.all()] == ["Films (2)"]


def test_undo_of_a_copy_keeps_bytes_that_nothing_else_has():
    """Someone replaced a file in the copy by one of the same size, and deleted the original of
    another copy for good."""
    account = alice()
    folder, file = a_tree(account, "Films", ["a.mkv"]), a_file(account, "b.mkv")
    copied = copy(account, chosen(folder, file), 0, "keep_both", LATER)
    copied_file = File.objects.get(folder__name="Films (2)")
    deleted_items.delete(account, [], [copied_file.pk], LATER)
    deleted_items.purge(account, DeletedItem.objects.all(), LATER)
    new = a_file(account, "a.mkv", folder=copied_file.folder, size_bytes=copied_file.size_bytes)
    deleted_items.delete(account, [], [file.pk], LATER)
    deleted_items.purge(account, DeletedItem.objects.all(), LATER)
    undo(account, copied.batch, LATER)
    assert paths(account) == {"Films/a.mkv"}
    deleted_items.restore(account, DeletedItem.objects.all(), LATER)
    assert paths(account) == {"Films/a.mkv", "Films (2)/a.mkv", "/b (2).mkv"}
    assert File.objects.filter(blob=new.blob).count() == 1


def test_transfers_into_a_folder_that_merges_go_on_into_the_other():
    account = alice()
    other, _new = a_folder(account, "Films"), a_folder(account, "New")
    folder = a_folder(account, "New/Films")
    running = transfers.add_magnet(account, MAGNET, folder.pk, NOW)
    wish = Wish.objects.create(
        account=account, folder=folder, title="b", size_bytes=1, magnet=MAGNET, created_at=NOW
    )
    moved = move(account, chosen(folder), 0, "replace", LATER)
    for expected in (other, folder):
        running.refresh_from_db()
        wish.refresh_from_db()
        assert (running.folder, running.notice) == (expected, "")
        assert wish.folder == expected
        undo(account, moved.batch, LATER)


def test_undo_leaves_what_has_moved_on():
    account = alice()
    file, target, other = a_file(account, "a.txt"), a_folder(account, "1"), a_folder(account, "2")
    first = move(account, chosen(file), target.pk, "ask", LATER)
    move(account, chosen(file), other.pk, "ask", LATER)
    assert undo(account, first.batch, LATER).entries == 0
    assert paths(account) == {"2/a.txt"}


def test_undo_is_forgotten_after_a_day():
    account = alice()
    moved = move(account, chosen(a_file(account)), a_folder(account).pk, "ask", NOW)
    moves.forget_expired(NOW + timedelta(hours=23))
    assert MovedEntry.objects.count() == 1
    moves.forget_expired(NOW + timedelta(hours=25))
    assert undo(account, moved.batch, LATER).entries == 0


def test_many_files_move_in_few_queries():
    account = alice()
    folder = a_tree(account, "Photos", [f"{number}.jpg" for number in range(2_000)])
    target, files = a_folder(account, "Old"), [*folder.files.all()]
    with CaptureQueriesContext(connection) as queries:
        moved = move(account, chosen(*files), target.pk, "ask", LATER)
    assert len(queries) < 100, len(queries)
    assert moved.entries == 2_000
    check_sums(account)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_changes_can_be_undone(seed):
    """After each change, sums are right; after its undo, everything is as it was."""
    chance, account, names = random.Random(seed), alice(space_max_bytes=2000), count()
    for _action in range(120):
        folders = [*Folder.objects.filter(account=account).order_by("pk")]
        files = [*File.objects.filter(account=account).order_by("pk")]
        place, name = chance.choice(folders), chance.choice("abc")
        before, space = tree_of(account), used(account)
        some = chance.sample(folders + files, min(3, len(folders + files)))
        if_taken = chance.choice(["ask", "keep_both", "skip", "replace"])
        will_undo = chance.random() < 0.5
        try:
            match chance.choice(["folder", "file", "delete", "move", "move", "copy"]):
                case "folder":
                    library.create_folder(account, f"{library.path_of(place)}/{name}", LATER)
                case "file":
                    a_file(account, f"{name}{next(names) % 5}.txt", folder=place)
                case "delete":
                    items = deleted_items.delete(account, *chosen(*some), LATER)
                    batch = DeletedItem.objects.filter(batch=items[0].batch)
                    if will_undo:
                        deleted_items.restore(account, batch, LATER)
                        assert (tree_of(account), used(account)) == (before, space)
                    else:
                        deleted_items.purge(account, batch, LATER)
                case act:
                    change = move if act == "move" else copy
                    moved = change(account, chosen(*some), place.pk, if_taken, LATER)
                    if moved.batch and will_undo:
                        check_sums(account)
                        undo(account, moved.batch, LATER)
                        assert (tree_of(account), used(account)) == (before, space)
        except Refusal:
            assert (tree_of(account), used(account)) == (before, space)
        check_sums(account)
