"""What people delete can be restored."""

import random
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.accounts import accounts
from service.errors import NoRoom, RootStays
from service.library import deleted_items, library
from service.library.deleted_items import delete, purge, purge_expired, restore
from service.library.search.search import Search, find
from service.library.upkeep.orphans import unnamed_blobs
from service.models import (
    Account,
    DeletedFile,
    DeletedFolder,
    DeletedItem,
    Discarded,
    File,
    Folder,
    Transfer,
    Wish,
)
from service.transfers import transfers
from tests.service.builders import NOW, a_file, a_folder, a_tree, alice, mallory
from tests.service.reading import contents_of

pytestmark = pytest.mark.django_db
MAGNET = "magnet:?xt=urn:btih:" + "a" * 40 + "&dn=Harbour"
LATER = NOW + timedelta(days=1)
EVERYTHING = DeletedItem.objects.all


def tree_of(account) -> list[tuple[object, ...]]:
    """Return everything that people see of a library, with ids, sizes, and blobs."""
    folders = Folder.objects.filter(account=account).order_by("pk")
    files = File.objects.filter(account=account).order_by("pk")
    return [
        *folders.values_list("pk", "parent", "name", "name_key", "search_text", "lineage"),
        *folders.values_list("pk", "size_bytes"),
        *files.values_list("pk", "folder", "name", "name_key", "search_text", "size_bytes"),
        *files.values_list("pk", "sha1", "crc32", "blob", "updated_at"),
    ]


def used(account) -> int:
    return Account.objects.get(pk=account.pk).space_used_bytes


def paths(account) -> set[str]:
    files = File.objects.filter(account=account)
    return {f"{library.path_of(file.folder)}/{file.name}" for file in files}


def test_a_restored_file_is_unchanged():
    account = alice()
    file = a_file(account, "a.txt", folder=a_folder(account, "Notes"))
    before = tree_of(account)
    (item,) = delete(account, [], [file.pk], LATER)
    assert tree_of(account) != before
    assert (item.name, item.path, item.size_bytes) == ("a.txt", "Notes", 10)
    restore(account, EVERYTHING(), LATER)
    assert tree_of(account) == before
    assert not DeletedItem.objects.exists()
    assert not DeletedFile.objects.exists()


def test_a_restored_folder_has_all_its_contents():
    account = alice()
    a_tree(account, "Films", ["a/b/c.mkv", "a/d.mkv", "e.mkv"])
    top = Folder.objects.get(name="Films")
    before, space = tree_of(account), used(account)
    delete(account, [top.pk], [], LATER)
    assert paths(account) == set()
    assert library.root_of(account).size_bytes == 0
    assert used(account) == space
    restore(account, EVERYTHING(), LATER)
    assert tree_of(account) == before
    assert used(account) == space
    assert not DeletedFolder.objects.exists()
    assert not DeletedFile.objects.exists()


def test_nothing_that_was_deleted_is_shown_or_found():
    account = alice()
    folder = a_tree(account, "Films", ["a.mkv"])
    delete(account, [folder.pk], [], LATER)
    assert find(Search(account, "films")).folders == []
    assert find(Search(account, "")).files == []
    assert contents_of(account, 0).folders == []
    restore(account, EVERYTHING(), LATER)
    assert [each.name for each in find(Search(account, "films")).folders] == ["Films"]


def test_deleted_items_keep_their_space_and_bytes():
    account = alice()
    account.space_max_bytes = 15
    account.save()
    file = a_file(account, "a.txt")
    delete(account, [], [file.pk], LATER)
    assert [*unnamed_blobs([file.blob, "other"])] == ["other"]
    assert not Discarded.objects.exists()
    with pytest.raises(NoRoom):
        a_file(account, "b.txt")
    assert purge(account, EVERYTHING(), LATER) == 1
    assert Discarded.objects.get().blob == file.blob
    assert used(account) == 0
    a_file(account, "b.txt")


def test_transfers_into_a_restored_folder_go_there_again():
    account = alice()
    folder = a_tree(account, "Films", ["new/a.mkv"])
    inner = Folder.objects.get(name="new")
    running = transfers.add_magnet(account, MAGNET, inner.pk, NOW)
    wish = Wish.objects.create(
        account=account, folder=folder, title="b", size_bytes=1, magnet=MAGNET, created_at=NOW
    )
    title = Transfer.objects.get(pk=running.pk).title
    delete(account, [folder.pk], [], LATER)
    running.refresh_from_db()
    assert (running.folder, running.notice) == (library.root_of(account), "folder_gone")
    restore(account, EVERYTHING(), LATER)
    running.refresh_from_db()
    wish.refresh_from_db()
    assert (running.folder, running.notice, running.title) == (inner, "", title)
    assert wish.folder == folder
    revision = Account.objects.get(pk=account.pk).transfers_revision
    assert revision > account.transfers_revision + 1


def test_files_fetched_while_the_folder_was_deleted_stay_in_the_root():
    account = alice()
    folder = a_folder(account, "Films")
    over = transfers.add_magnet(account, MAGNET, folder.pk, NOW)
    delete(account, [folder.pk], [], LATER)
    Transfer.objects.filter(pk=over.pk).update(state=Transfer.State.DONE)
    restore(account, EVERYTHING(), LATER)
    over.refresh_from_db()
    assert over.folder == library.root_of(account)


def test_a_name_that_is_taken_gets_a_number():
    account = alice()
    file, folder = a_file(account, "a.txt"), a_folder(account, "Films")
    delete(account, [folder.pk], [file.pk], LATER)
    a_file(account, "a.txt")
    a_folder(account, "Films")
    names = {each.name for each in restore(account, EVERYTHING(), LATER)}
    assert names == {"a (2).txt", "Films (2)"}
    assert File.objects.get(pk=file.pk).search_text == " a 2 txt "


def test_missing_folders_are_created_again():
    account = alice()
    top = a_tree(account, "Films", ["2024/Summer/a.mkv", "2024/b.mkv"])
    inner = Folder.objects.get(name="Summer")
    delete(account, [inner.pk], [], LATER)
    library.delete_folder(account, top.pk, LATER)
    (restored,) = restore(account, EVERYTHING(), LATER)
    assert paths(account) == {"Films/2024/Summer/a.mkv"}
    assert library.folder(account, restored.folder_id).name == "2024"
    summer = Folder.objects.get(pk=inner.pk)
    assert summer.ids_from_root[-1] == summer.pk
    assert summer.lineage.startswith(summer.parent.lineage)
    assert library.root_of(account).size_bytes == 10


def test_an_item_deleted_before_its_folder_returns_into_it():
    account = alice()
    top = a_tree(account, "Films", ["2024/a.mkv", "2024/b.mkv"])
    before = tree_of(account)
    file = File.objects.get(name="a.mkv")
    delete(account, [], [file.pk], NOW)
    delete(account, [top.pk], [], LATER)
    restore(account, EVERYTHING(), LATER)
    assert tree_of(account) == before


def test_items_too_deep_to_keep_their_path_return_to_the_root():
    account = alice()
    top = a_tree(account, "n" * 255, ["/".join(["n" * 255] * 17 + ["a.txt"])])
    file = File.objects.get()
    (item,) = delete(account, [], [file.pk], NOW)
    assert item.path == ""
    library.delete_folder(account, top.pk, LATER)
    restore(account, EVERYTHING(), LATER)
    assert paths(account) == {"/a.txt"}


def test_a_batch_can_be_restored_alone():
    account = alice()
    first, second = a_file(account, "a.txt"), a_file(account, "b.txt")
    third = a_folder(account, "Films")
    (earlier,) = delete(account, [], [first.pk], LATER)
    later = delete(account, [third.pk], [second.pk], LATER)
    assert {item.batch for item in later} == {later[0].pk} != {earlier.batch}
    restore(account, EVERYTHING().filter(batch=later[0].batch), LATER)
    assert paths(account) == {"/b.txt"}


def test_a_selection_may_contain_a_folder_and_its_contents():
    account = alice()
    top = a_tree(account, "Films", ["2024/a.mkv"])
    inner, file = Folder.objects.get(name="2024"), File.objects.get()
    items = delete(account, [top.pk, inner.pk], [file.pk, 999], LATER)
    assert [item.name for item in items] == ["Films"]


def test_the_root_stays():
    account = alice()
    with pytest.raises(RootStays):
        delete(account, [library.root_of(account).pk], [], LATER)


def test_others_can_neither_see_nor_restore_nor_delete_it():
    account, other = alice(), mallory()
    file = a_file(account, "a.txt")
    assert delete(other, [], [file.pk], LATER) == []
    delete(account, [], [file.pk], LATER)
    assert deleted_items.deleted_items(other).items == []
    assert restore(other, EVERYTHING(), LATER) == []
    assert purge(other, EVERYTHING(), LATER) == 0
    assert [item.name for item in deleted_items.deleted_items(account).items] == ["a.txt"]


def test_after_its_time_it_is_deleted_for_good(settings):
    account = alice()
    old, new = a_file(account, "old.txt"), a_file(account, "new.txt")
    delete(account, [], [old.pk], NOW)
    delete(account, [], [new.pk], NOW + timedelta(days=2))
    settings.DELETED_DAYS = 7
    purge_expired(NOW + timedelta(days=8))
    assert [item.name for item in deleted_items.deleted_items(account).items] == ["new.txt"]
    assert [row.blob for row in Discarded.objects.all()] == [old.blob]
    assert used(account) == 10


def test_removing_an_account_does_not_end_the_round(monkeypatch):
    gone, other = alice(), mallory()
    for account in (gone, other):
        delete(account, [], [a_file(account, "a.txt").pk], NOW)

    def purge_late(account, items, now):
        if account == gone:
            accounts.remove(gone, now)
        return purge(account, items, now)

    # Between the round's query and its lock, a test has no other way in.
    monkeypatch.setattr(deleted_items, "purge", purge_late)
    purge_expired(NOW + timedelta(days=365))
    assert not DeletedItem.objects.exists()
    assert used(other) == 0


def test_removing_an_account_removes_its_deleted_items():
    account = alice()
    folder = a_tree(account, "Films", ["a.mkv"])
    delete(account, [folder.pk], [], LATER)
    accounts.remove(account, LATER)
    assert Discarded.objects.count() == 1
    for model in (DeletedItem, DeletedFolder, DeletedFile):
        assert not model.objects.exists()


def test_many_files_take_no_more_queries_than_few():
    def queries(count):
        account = Account.objects.filter(email="alice@example.org").first() or alice()
        folder = a_tree(account, f"{count}", [f"{number}.txt" for number in range(count)])
        with CaptureQueriesContext(connection) as captured:
            delete(account, [folder.pk], [], LATER)
            restore(account, EVERYTHING(), LATER)
        return len(captured)

    assert queries(300) == queries(3)


def test_many_chosen_files_take_few_queries():
    account = alice()
    folder = a_tree(account, "Photos", [f"{number}.jpg" for number in range(400)])
    ids = [file.pk for file in folder.files.all()]
    before = tree_of(account)
    with CaptureQueriesContext(connection) as captured:
        items = delete(account, [], ids, LATER)
        assert len(restore(account, EVERYTHING().filter(batch=items[0].batch), LATER)) == 400
    assert len(captured) < 80
    assert tree_of(account) == before


@pytest.mark.parametrize("seed", range(3))
def test_any_deletions_and_their_undos_leave_no_trace(seed):
    dice = random.Random(seed)
    account = alice()
    paths_ = [f"{dice.randint(1, 3)}/{dice.randint(1, 3)}/{number}.txt" for number in range(40)]
    a_tree(account, "Tree", paths_)
    before, space = tree_of(account), used(account)
    for number in range(12):
        folders = [*Folder.objects.filter(account=account, parent__isnull=False)]
        files = [*File.objects.filter(account=account)]
        some_folders = [each.pk for each in dice.sample(folders, min(len(folders), 1))]
        some_files = [each.pk for each in dice.sample(files, min(len(files), 4))]
        delete(account, some_folders, some_files, NOW + timedelta(minutes=number))
    assert used(account) == space
    restore(account, EVERYTHING(), LATER)
    assert tree_of(account) == before
    assert used(account) == space
