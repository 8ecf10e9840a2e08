import logging
import os
from datetime import datetime, timedelta

import pytest

from service.library import deleted_items, library
from service.library.upkeep.orphans import ORPHAN_AGE
from service.library.upkeep.sweep import Swept, sweep, sweep_leavings
from service.models import Discarded
from tests.service.builders import a_file, alice, put

pytestmark = pytest.mark.django_db
GRACE = timedelta(hours=1)
OLD = timedelta(days=3)
NOTHING = Swept(discarded=0, orphans=0, drafts=0, missing=0)


@pytest.fixture
def now():
    """Return the machine's time, because files get their times from the machine."""
    return datetime.now().astimezone()


def age(path, by):
    then = path.stat().st_mtime - by.total_seconds()
    os.utime(path, (then, then))


def test_the_bytes_of_a_deleted_file_go_after_the_grace(store, now):
    account = alice()
    file = a_file(account, blob=put(store))
    library.delete_file(account, file.pk, now)
    assert sweep(store, now + GRACE / 2, GRACE) == NOTHING
    assert store.size(file.blob) is not None
    assert sweep(store, now + GRACE, GRACE).discarded == 1
    assert store.size(file.blob) is None
    assert not Discarded.objects.exists()


def test_a_file_that_is_there_stays(store, now):
    file = a_file(alice(), blob=put(store))
    age(store.path(file.blob), 10 * GRACE)
    assert sweep(store, now, GRACE) == NOTHING
    assert store.size(file.blob) is not None


def test_an_old_blob_without_a_row_is_removed(store, now):
    stored = put(store)
    assert sweep(store, now, GRACE) == NOTHING
    age(store.path(stored.blob), OLD)
    assert sweep(store, now, GRACE).orphans == 1
    assert store.size(stored.blob) is None


def test_a_blob_whose_row_appears_a_day_later_stays(store, now):
    """An upload or torrent of many files may take that long."""
    waiting = put(store)
    assert sweep(store, now + timedelta(days=1), timedelta(0)) == NOTHING
    file = a_file(alice(), blob=waiting)
    assert sweep(store, now + OLD, timedelta(0)) == NOTHING
    assert store.size(file.blob) == file.size_bytes


def test_blobs_stay_if_the_library_belongs_to_another_database(store, now, caplog):
    """This happens when the database is lost or missing, and an empty one is created."""
    stored = put(store)
    assert store.claim_for("the lost one")
    age(store.path(stored.blob), OLD)
    assert sweep(store, now, GRACE) == NOTHING
    assert store.size(stored.blob) is not None
    assert "library of another database" in caplog.text
    store.mark.unlink()
    assert sweep(store, now, GRACE).orphans == 1


def test_an_orphan_whose_row_appears_late_is_not_dropped(store, now):
    waiting = put(store)
    age(store.path(waiting.blob), OLD)
    assert sweep(store, now, GRACE).orphans == 1
    file = a_file(alice(), blob=waiting)
    assert sweep(store, now + timedelta(days=30), GRACE) == NOTHING
    assert store.size(file.blob) == file.size_bytes


def test_a_discarded_blob_is_not_an_orphan(store, now):
    account = alice()
    file = a_file(account, blob=put(store))
    age(store.path(file.blob), 2 * ORPHAN_AGE)
    library.delete_file(account, file.pk, now)
    assert sweep(store, now, GRACE) == NOTHING
    assert store.size(file.blob) is not None


def test_leftovers_of_a_dead_writer_are_removed_after_an_hour(store, now):
    writer = store.writer()
    writer.write(b"half")
    assert sweep(store, now + timedelta(minutes=59), GRACE) == NOTHING
    assert sweep(store, now + timedelta(minutes=61), GRACE).drafts == 1
    with writer:
        pass


def test_rows_without_their_blobs_are_reported_in_one_line_and_stay(store, now, caplog):
    account = alice()
    files = [a_file(account, f"{n}", blob=put(store)) for n in range(8)]
    for file in files:
        store.delete(file.blob)
    with caplog.at_level(logging.ERROR, "ferry.sweep"):
        assert sweep(store, now, GRACE).missing == 8
    files.sort(key=lambda file: file.blob)
    first = ",".join(str(file.pk) for file in files[:5])
    assert [record.getMessage() for record in caplog.records] == [
        f"blobs missing count=8 files={first}"
    ]
    assert library.file(account, files[0].pk)


def test_sizes_are_requested_in_blob_order(store, now, monkeypatch):
    account, requested = alice(), []
    files = [a_file(account, f"{n}", blob=put(store)) for n in range(8)]
    deleted_items.delete(account, [], [file.pk for file in files[::2]], now)

    def sizes_in_order(blobs):
        requested.extend(blobs)
        return [store.size(blob) for blob in blobs]

    # Only a listing, which needs an object store, depends on the order.
    monkeypatch.setattr(store, "sizes_in_order", sizes_in_order)
    assert sweep(store, now, GRACE) == NOTHING
    assert requested == sorted(file.blob for file in files)


def test_the_missing_blob_of_a_deleted_file_is_reported(store, now, caplog):
    account = alice()
    file = a_file(account, blob=put(store))
    deleted_items.delete(account, [], [file.pk], now)
    assert sweep(store, now, GRACE).missing == 0
    store.delete(file.blob)
    assert sweep(store, now, GRACE).missing == 1
    assert "blobs missing count=1 files=" in caplog.text


def test_a_sweep_that_misses_nothing_knows_the_library_to_be_whole(store, now):
    file = a_file(alice(), blob=put(store))
    assert not store.is_known_intact(now)
    sweep(store, now, GRACE)
    assert store.is_known_intact(now + timedelta(hours=47))
    assert not store.is_known_intact(now + timedelta(hours=49))
    assert store.size(file.blob) == file.size_bytes


@pytest.mark.parametrize("harm", [os.unlink, lambda path: os.truncate(path, 1)])
def test_a_sweep_that_misses_bytes_no_longer_knows_it(store, now, harm):
    file = a_file(alice(), blob=put(store))
    sweep(store, now, GRACE)
    harm(store.path(file.blob))
    assert sweep(store, now + GRACE, GRACE).missing == 1
    assert not store.is_known_intact(now + GRACE)
    store.path(file.blob).write_bytes(bytes(file.size_bytes))
    sweep(store, now + GRACE, GRACE)
    assert store.is_known_intact(now + GRACE)


def test_leftovers_are_swept_without_checking_for_content(store, now, monkeypatch):
    account = alice()
    gone = a_file(account, blob=put(store))
    library.delete_file(account, gone.pk, now)
    # Nothing else shows that no blob is listed or checked: calling these would fail.
    monkeypatch.setattr(store, "blobs", None)
    monkeypatch.setattr(store, "size", None)
    later = now + 2 * GRACE
    assert sweep_leavings(store, later, GRACE) == Swept(discarded=1, drafts=0)


def test_1200_orphans_go_in_one_sweep(store, now):
    for _ in range(1200):
        blob = store.path(os.urandom(16).hex())
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(b"")
        age(blob, OLD)
    assert sweep(store, now, GRACE).orphans == 1200
    assert list(store.blobs()) == []
