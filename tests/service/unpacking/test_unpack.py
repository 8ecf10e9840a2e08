"""Unpack ZIP files of the library, by the worker."""

import io
import os
from zipfile import ZipFile

import pytest

from service.errors import NotFound, StoreAway
from service.library import deleted_items, library, moves
from service.models import Account, DeletedItem, File, Folder, Transfer
from service.store.blobs import library_store
from service.transfers import transfers, unpacking
from service.transfers.download_folders import download_folder, ids_on_disk
from service.unpacking import unpack
from tests.cases import each_case
from tests.service.builders import NOW, a_folder, alice, mallory, stored
from tests.service.test_kills import whole
from tests.service.unpacking.shift import UnpackingShift, a_zip_file, unpacked
from tests.service.unpacking.zips import (
    a_zip,
    overlapping,
    with_harm,
    with_size,
    with_wrong_sum,
)
from tests.service.unpacking.zips import stored as a_stored_zip

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account(library_folder) -> Account:
    return alice()


def content_of(folder: Folder) -> dict[str, bytes]:
    """Return the content of all files below a folder, by their paths."""
    files = File.objects.filter(library.below("folder__lineage", folder.lineage))
    result = {}
    for file in files.select_related("folder"):
        path = "/".join([library.path_of(file.folder), file.name])
        with library_store().open(file.blob) as blob:
            result[path] = blob.read()
    return result


def result_of(transfer: Transfer) -> dict[str, bytes]:
    assert transfer.state == "done", transfer.details
    return content_of(Folder.objects.get(pk=transfer.folder_created_id))


def test_a_zip_file_becomes_a_folder_beside_it(account, library_folder):
    films = a_folder(account, "Films")
    files = [("a.txt", b"one"), ("below/b.bin", os.urandom(10**6)), ("empty", b"")]
    zip_file = a_zip_file(account, a_zip(*files), folder=films)
    transfer = unpacking.unpack(account, zip_file.pk, NOW)
    assert (transfer.title, transfer.folder) == ("Photos", films)
    UnpackingShift().until_over(transfer)
    assert result_of(transfer) == {f"Films/Photos/{name}": content for name, content in files}
    assert list(ids_on_disk()) == []
    whole(account, library_folder)


def test_the_folder_gets_a_number_if_its_name_is_taken(account):
    a_folder(account, "Photos")
    transfer = unpacked(account, a_zip(("a", b"x")))
    assert list(result_of(transfer)) == ["Photos (2)/a"]


def test_names_stay_apart_and_within_the_limits_of_the_library(account):
    long = "n" * 300 + ".txt"
    names = ("a", "a", "A", long, "a/b", "..")
    content = a_zip(*((name, str(number).encode()) for number, name in enumerate(names)))
    result = result_of(unpacked(account, content, "Mixed.cbz"))
    assert sorted(result.values()) == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert {"Mixed/A", "Mixed/a/b", "Mixed/a (2)", "Mixed/_"} <= result.keys()
    assert max(len(name) for name in result) == len("Mixed/") + 255


@pytest.mark.slow
def test_deep_paths_are_shortened(account):
    (path,) = result_of(unpacked(account, a_zip(("d/" * 1000 + "a.txt", b"x"))))
    assert path.count("/") == library.MOST_DEPTH
    assert path.endswith("/a.txt")


@pytest.mark.slow
@each_case(
    ("name", "content", "reason"),
    [
        ("wrong sum", with_wrong_sum(a_zip(("a", b"content"))), "zip_damaged"),
        ("changed content", with_harm(a_stored_zip(("a", b"content"))), "zip_damaged"),
        ("bomb", overlapping(1000), "zip_damaged"),
        ("longer than it says", with_size(a_zip(("a", b"content")), 6), "zip_damaged"),
        ("shorter than it says", with_size(a_zip(("a", b"content")), 8), "zip_damaged"),
        ("text", b"no ZIP", "zip_damaged"),
    ],
)
def test_a_bad_file_leaves_nothing(library_folder, name, content, reason):
    account = alice() if not Account.objects.exists() else Account.objects.get()
    zip_file = a_zip_file(account, content, f"{name}.zip")
    transfer = UnpackingShift().until_over(unpacking.unpack(account, zip_file.pk, NOW))
    assert (transfer.state, transfer.reason) == ("failed", reason)
    assert not Folder.objects.exclude(parent=None).exists()
    assert list(ids_on_disk()) == []
    whole(account, library_folder)


def test_large_files_and_zip64_are_read(account):
    made = io.BytesIO()
    with ZipFile(made, "w") as zip_file, zip_file.open("big", "w", force_zip64=True) as big:
        big.write(b"x" * 3_000_000)
    assert result_of(unpacked(account, made.getvalue())) == {"Photos/big": b"x" * 3_000_000}


def test_it_waits_for_space_and_then_continues(account, library_folder):
    other = a_zip_file(account, a_zip(("a", b"x" * 10**6)), "big.zip")
    account.refresh_from_db()
    account.space_max_bytes = account.space_used_bytes + 10**6 - 1
    account.save()
    transfer, shift = unpacking.unpack(account, other.pk, NOW), UnpackingShift()
    shift.until_state(transfer, "no_room")
    assert transfer.reason == "not_enough_space"
    assert not Folder.objects.exclude(parent=None).exists()
    Account.objects.update(space_max_bytes=10**9)
    shift.until_over(transfer)
    assert list(result_of(transfer)) == ["big/a"]


def test_a_quota_that_shrinks_in_the_meantime_is_enforced(account):
    transfer = unpacking.unpack(account, a_zip_file(account, a_zip(("a", b"x" * 999))).pk, NOW)
    shift = UnpackingShift()
    shift.until_state(transfer, "downloading", "moving", "done")
    Account.objects.update(space_max_bytes=500)
    if shift.state(transfer) != "done":
        shift.until_state(transfer, "no_room", "done")
    used = Account.objects.get().space_used_bytes
    assert transfer.state == "done" or used < 999


def test_a_file_deleted_in_the_meantime_is_the_reason(account):
    zip_file = a_zip_file(account, a_zip(("a", b"x")))
    transfer = unpacking.unpack(account, zip_file.pk, NOW)
    deleted_items.delete(account, [], [zip_file.pk], NOW)
    UnpackingShift().until_over(transfer)
    assert (transfer.state, transfer.reason) == ("failed", "zip_gone")


def test_bytes_that_are_missing_are_a_reason_too(account):
    zip_file = library.add_file(account, 0, "lost.zip", stored(), NOW)
    transfer = UnpackingShift().until_over(unpacking.unpack(account, zip_file.pk, NOW))
    assert (transfer.state, transfer.reason) == ("failed", "zip_gone")


@pytest.mark.slow
def test_requests_to_an_unreachable_store_are_retried(account):
    transfer = unpacking.unpack(account, a_zip_file(account, a_zip(("a", b"x"))).pk, NOW)
    shift = UnpackingShift()

    def away():
        raise StoreAway

    with pytest.MonkeyPatch.context() as patch:
        # A store on the disk of this machine is never away.
        patch.setattr(unpack, "library_store", away)
        shift.until_state(transfer, "stalled")
        assert transfer.reason == "disk_error"
    shift.until_over(transfer)
    assert list(result_of(transfer)) == ["Photos/a"]


def test_another_worker_continues_an_abandoned_unpacking(account, library_folder):
    content = a_zip(("a", b"x" * 10**6), ("b", b"y"))
    transfer = unpacking.unpack(account, a_zip_file(account, content).pk, NOW)
    shift = UnpackingShift()
    shift.round()
    shift.worker.stop(5)
    transfer.refresh_from_db()
    assert transfer.leased_by == ""
    UnpackingShift().until_over(transfer)
    assert sorted(result_of(transfer)) == ["Photos/a", "Photos/b"]
    whole(account, library_folder)


def test_a_leftover_that_is_a_blob_is_never_written_to(account, library_folder):
    """After an import that failed, the files in the download folder may be blobs as well."""
    transfer = unpacking.unpack(account, a_zip_file(account, a_zip(("a", b"new"))).pk, NOW)
    folder = download_folder(transfer.pk)
    folder.make(transfer)
    folder.file(0).write_bytes(b"old bytes")
    (blob,) = library_folder.link_all([folder.file(0)])
    UnpackingShift().until_over(transfer)
    assert list(result_of(transfer).values()) == [b"new"]
    with library_folder.open(blob.blob) as content:
        assert content.read() == b"old bytes"


def test_the_same_file_is_unpacked_once_at_a_time(account):
    zip_file = a_zip_file(account, a_zip(("a", b"x")))
    transfer = unpacking.unpack(account, zip_file.pk, NOW)
    assert unpacking.unpack(account, zip_file.pk, NOW) == transfer
    UnpackingShift().until_over(transfer)
    again = UnpackingShift().until_over(unpacking.unpack(account, zip_file.pk, NOW))
    assert list(result_of(again)) == ["Photos (2)/a"]


def test_undo_cancels_what_has_not_ended(account, library_folder):
    zip_file = a_zip_file(account, a_zip(("a", b"x")))
    transfer = unpacking.unpack(account, zip_file.pk, NOW)
    shift = UnpackingShift()
    shift.round()
    assert unpacking.undo(account, transfer.pk, NOW).entries == 1
    shift.until(lambda: list(ids_on_disk()) == [])
    assert not Transfer.objects.exists()
    assert not Folder.objects.exclude(parent=None).exists()
    whole(account, library_folder)


def test_undo_deletes_the_folder_so_that_it_can_be_restored(account):
    transfer = unpacked(account, a_zip(("a", b"x")))
    undone = unpacking.undo(account, transfer.pk, NOW)
    assert (undone.entries, undone.folder_ids) == (1, {transfer.folder_id})
    assert not Folder.objects.exclude(parent=None).exists()
    deleted_items.restore(account, DeletedItem.objects.all(), NOW)
    assert Folder.objects.filter(name="Photos").exists()


def test_people_can_undo_only_their_own_unpackings(account):
    transfer = unpacked(account, a_zip(("a", b"x")))
    other = transfers.add_url(account, "https://example.org/a.zip", 0, NOW)
    for who, pk in ((mallory(), transfer.pk), (account, other.pk)):
        with pytest.raises(NotFound):
            unpacking.undo(who, pk, NOW)
    assert Folder.objects.filter(name="Photos").exists()


def test_a_copy_of_an_unpacked_file_outlives_the_folder(account, library_folder):
    transfer = unpacked(account, a_zip(("a", b"x")))
    file = File.objects.get(name="a")
    moves.copy(account, moves.Chosen([], [file.pk]), 0, "ask", NOW)
    unpacking.undo(account, transfer.pk, NOW)
    deleted_items.purge(account, DeletedItem.objects.all(), NOW)
    whole(account, library_folder)
