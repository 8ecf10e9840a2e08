"""Copies of all blobs, from a disk to an object store and back."""

import hashlib
import os
import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

import obstore
import pytest

from service import models
from service.errors import DiskFull, StoreAway
from service.library import deleted_items, library
from service.store import copies
from service.store.blobs import Store
from service.store.copies import CopyResult, StoreCopy
from service.store.disk_store import DiskStore
from service.store.objects.listing import key_of
from service.store.objects.writer import PART_BYTES
from tests.service.builders import NOW, a_file, an_account, put

pytestmark = pytest.mark.django_db(transaction=True)

CONTENTS = [b"", b"x", os.urandom(copies.SMALL_BYTES + 1), os.urandom(2 * PART_BYTES + 7)]


@pytest.fixture
def disk(tmp_path):
    return DiskStore(tmp_path / "library")


@pytest.fixture(params=["in", "out"])
def stores(request, disk, objects):
    return (disk, objects) if request.param == "in" else (objects, disk)


@pytest.fixture
def source(stores):
    return stores[0]


@pytest.fixture
def target(stores):
    return stores[1]


@pytest.fixture
def account():
    return an_account()


def fill(account, store, contents=CONTENTS):
    return [
        a_file(account, f"{secrets.token_hex(4)}.bin", blob=put(store, content))
        for content in contents
    ]


def damage(store, file, content):
    """Replace a blob's bytes in place, as no store would."""
    if isinstance(store, DiskStore):
        store.path(file.blob).write_bytes(content)
    else:
        obstore.put(store._objects, key_of(file.blob), content)  # noqa: SLF001  No one else may.


def read(store, file):
    with store.open(file.blob) as content:
        return b"".join(iter(lambda: content.read(2**20), b""))


def counts(progress):
    return {kind: count for kind, count in progress.copied.items() if count}


def has_all(store, files):
    return all(hashlib.sha1(read(store, file)).hexdigest() == file.sha1 for file in files)


def test_all_files_are_copied_once(account, source, target):
    files = fill(account, source)
    progress = StoreCopy(source, target).run()
    assert counts(progress) == {CopyResult.NEW: len(CONTENTS)}
    assert progress.files == progress.total_files == len(CONTENTS)
    assert progress.size_bytes == progress.copied_bytes == sum(map(len, CONTENTS))
    assert has_all(target, files)
    assert counts(StoreCopy(source, target).run()) == {CopyResult.KEPT: len(CONTENTS)}


def test_a_copy_that_is_verified_is_read_again(account, source, target):
    files = fill(account, source)
    assert counts(StoreCopy(source, target, is_verifying=True).run()) == {
        CopyResult.NEW: len(CONTENTS)
    }
    content = bytearray(CONTENTS[-1])
    content[-1] ^= 1
    damage(target, files[-1], bytes(content))
    assert counts(StoreCopy(source, target).run()) == {CopyResult.KEPT: len(CONTENTS)}
    progress = StoreCopy(source, target, is_verifying=True).run()
    assert counts(progress) == {CopyResult.KEPT: len(CONTENTS) - 1, CopyResult.REPLACED: 1}
    assert has_all(target, files)
    assert counts(StoreCopy(source, target, is_verifying=True).run()) == {
        CopyResult.KEPT: len(CONTENTS)
    }


def test_a_damaged_copy_that_no_source_can_replace_stays(account, source, target):
    (file,) = fill(account, source, [b"content"])
    StoreCopy(source, target).run()
    damage(target, file, b"CONTENT")
    source.delete(file.blob)
    progress = StoreCopy(source, target, is_verifying=True).run()
    assert counts(progress) == {CopyResult.DAMAGED: 1}
    assert progress.examples[CopyResult.DAMAGED] == [file.blob]
    assert read(target, file) == b"CONTENT"


def test_a_target_that_damages_what_it_stores_is_noticed(account, disk, tmp_path):
    class Forgetful(DiskStore):
        def keep(self, draft, blob, sums):
            draft.write_bytes(bytes(sums.size_bytes))
            return super().keep(draft, blob, sums)

    fill(account, disk, [b"content"])
    target = Forgetful(tmp_path / "target")
    assert counts(StoreCopy(disk, target).run()) == {CopyResult.NEW: 1}
    assert counts(StoreCopy(disk, target, is_verifying=True).run()) == {CopyResult.DAMAGED: 1}


def test_objects_lost_or_changed_at_the_source_are_named_and_not_copied(account, source, target):
    intact, changed, shortened, gone = fill(account, source, [b"intact", b"one", b"two", b"three"])
    damage(source, changed, b"One")
    damage(source, shortened, b"tw")
    source.delete(gone.blob)
    progress = StoreCopy(source, target).run()
    assert counts(progress) == {CopyResult.NEW: 1, CopyResult.CHANGED: 2, CopyResult.MISSING: 1}
    assert progress.examples[CopyResult.MISSING] == [gone.blob]
    assert {*progress.examples[CopyResult.CHANGED]} == {changed.blob, shortened.blob}
    assert [each.blob for each in target.blobs()] == [intact.blob]
    assert target.drop_drafts(NOW + timedelta(days=3650)) == 0


def test_a_file_that_the_disk_cannot_read_does_not_end_the_copy(account, disk, objects):
    class Failing(DiskStore):
        def open(self, blob):
            if blob == bad.blob:
                raise OSError(5, "Input/output error")
            return super().open(blob)

    bad, good = fill(account, disk, [b"bad", b"good"])
    progress = StoreCopy(Failing(disk.path(bad.blob).parents[3]), objects).run()
    assert counts(progress) == {CopyResult.NEW: 1, CopyResult.CHANGED: 1}
    assert read(objects, good) == b"good"


def test_every_row_with_a_blob_is_copied(account, source, target):
    """Downloads that are running may read deleted files for a while, and people restore some."""
    file, restorable = fill(account, source, [b"content", b"may return"])
    library.delete_file(account, file.pk, NOW)
    deleted_items.delete(account, [], [restorable.pk], NOW)
    gone = put(source)
    models.Discarded.objects.create(blob=gone.blob, at=NOW)
    source.delete(gone.blob)
    assert counts(StoreCopy(source, target).run()) == {CopyResult.NEW: 1}
    assert read(target, file) == b"content"
    assert read(target, restorable) == b"may return"
    with_blobs = {
        model
        for model in models.File._meta.app_config.get_models()  # noqa: SLF001  Django documents it.
        if any(field.name == "blob" for field in model._meta.get_fields())  # noqa: SLF001  As above.
    }
    assert with_blobs == {models.File, models.DeletedFile, models.Discarded}


@dataclass
class Arriving:
    """A progress report that adds files while it runs, as many times as it is set to."""

    account: models.Account
    source: Store
    times: int

    def __call__(self, _progress):
        if self.times:
            self.times -= 1
            fill(self.account, self.source, [b"late"])


def test_files_that_arrive_during_the_copy_are_copied_too(account, source, target):
    fill(account, source, [b"early"])
    copy = StoreCopy(source, target, Arriving(account, source, 3))
    assert copy.run().copied[CopyResult.NEW] == 4
    assert has_all(target, models.File.objects.all())


def test_files_restored_during_the_copy_are_copied_too(account, disk):
    file, deleted = fill(account, disk, [b"one", b"two"])
    deleted_items.delete(account, [], [deleted.pk], NOW)
    batches = copies.rows()
    first = next(batches)
    deleted_items.restore(account, models.DeletedItem.objects.all(), NOW)
    blobs = [each.blob for batch in (first, *batches) for each in batch]
    assert blobs == sorted([file.blob, deleted.blob])


def test_each_row_is_in_one_of_the_batches(account, disk, monkeypatch):
    # Thousands of rows would take a minute to make.
    monkeypatch.setattr(copies, "ROWS_AT_ONCE", 2)
    files = fill(account, disk, [bytes([number]) for number in range(9)])
    deleted_items.delete(account, [], [file.pk for file in files[2:5]], NOW)
    library.delete_file(account, files[5].pk, NOW)
    blobs = [each.blob for batch in copies.rows() for each in batch]
    assert blobs == sorted(file.blob for file in files)


def test_a_copy_ends_though_files_keep_arriving(account, disk, tmp_path):
    fill(account, disk, [b"early"])
    StoreCopy(disk, DiskStore(tmp_path / "t"), Arriving(account, disk, 10**6)).run()


def test_a_file_deleted_in_the_meantime_does_not_count_as_missing(account, source, target):
    (file,) = fill(account, source, [b"content"])

    def delete(_progress):
        models.File.objects.all().delete()
        source.delete(file.blob)

    assert counts(StoreCopy(source, target, delete).run()) == {}


def test_one_listing_covers_many_blobs(account, disk, objects, monkeypatch):
    files = fill(account, disk, [b"%d" % number for number in range(30)])
    StoreCopy(disk, objects).run()
    # Only the number of requests shows it; they leave no other trace here.
    monkeypatch.setattr(obstore, "head", None)
    monkeypatch.setattr(obstore, "get", None)
    assert counts(StoreCopy(disk, objects).run()) == {CopyResult.KEPT: 30}
    blobs = sorted(file.blob for file in files)
    sizes = disk.sizes_in_order(blobs)
    assert objects.sizes_in_order(blobs) == sizes
    objects.delete(blobs[7])
    assert objects.sizes_in_order(blobs[3:9]) == [*sizes[3:7], None, sizes[8]]
    assert objects.sizes_in_order([]) == disk.sizes_in_order([]) == []


class Leaving(DiskStore):
    """A store that is away for some requests."""

    failures = 0

    def open(self, blob):
        if self.failures:
            self.failures -= 1
            raise StoreAway
        return super().open(blob)


@pytest.fixture
def leaving(account, tmp_path, monkeypatch):
    store = Leaving(tmp_path / "leaving")
    fill(account, store, [b"%d" % number for number in range(50)])
    # No setting shortens the wait for a store.
    monkeypatch.setattr(copies, "PATIENCE_SECONDS", 1.5)
    return store


def test_a_copy_continues_when_the_store_is_back(leaving, disk):
    leaving.failures = 5
    assert counts(StoreCopy(leaving, disk).run()) == {CopyResult.NEW: 50}


def test_a_copy_ends_if_the_store_stays_unreachable_and_the_next_run_continues(leaving, disk):
    copied = StoreCopy(leaving, disk)
    copied.run()
    for stored in [*disk.blobs()][:9]:
        disk.delete(stored.blob)
    leaving.failures = 10**9
    with pytest.raises(StoreAway):
        StoreCopy(leaving, disk).run()
    leaving.failures = 0
    assert counts(StoreCopy(leaving, disk).run()) == {CopyResult.NEW: 9, CopyResult.KEPT: 41}


@pytest.mark.slow
def test_a_store_that_freezes_only_delays_the_copy(account, disk, objects, seaweedfs):
    files = fill(account, disk, [b"%d" % number for number in range(40)])
    with ExitStack() as frozen:

        def report(progress):
            if progress.is_waiting:
                frozen.close()
            elif not was_frozen:
                was_frozen.append(frozen.enter_context(seaweedfs.frozen()))

        was_frozen = []
        assert counts(StoreCopy(disk, objects, report).run()) == {CopyResult.NEW: 40}
    assert was_frozen
    assert has_all(objects, files)


def test_a_full_disk_ends_the_copy(account, objects, tmp_path):
    class Full(DiskStore):
        def free_bytes(self):
            return 0

    fill(account, objects, [b"content"])
    target = Full(tmp_path / "full")
    with pytest.raises(DiskFull):
        StoreCopy(objects, target).run()
    assert [*target.blobs()] == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_blobs(account, disk, tmp_path):
    """Of all that wait, no more are begun than a few times what runs at once."""
    fill(account, disk, [b"x"] * 200)
    most = 0

    class Counting(StoreCopy):
        def _collect(self, running):
            nonlocal most
            most = max(most, len(running))
            super()._collect(running)

    assert counts(Counting(disk, DiskStore(tmp_path / "t")).run()) == {CopyResult.NEW: 200}
    assert 0 < most <= copies.AHEAD
