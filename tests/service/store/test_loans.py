"""Copies of objects on this machine's disk, which programs borrow."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest

from service.errors import DiskFull
from service.store import folders
from service.store.folders import KEPT_SECONDS
from service.store.objects import loans as loans_module
from service.store.objects.loans import Loans
from tests.service.builders import put
from tests.service.store.conftest import LOANS_BYTES

AT_ONCE, MANY = 8, 400


@pytest.mark.slow
def test_concurrent_loans_do_not_interfere(tmp_path):
    """Each one looks through the folder while the drafts of the others get their names."""
    loans = Loans(tmp_path / "loans", 10**9)

    def borrow(number):
        return loans.lend(f"{number:032x}", lambda: BytesIO(b"%d" % number))

    with ThreadPoolExecutor(AT_ONCE) as threads:
        for number, path in enumerate(threads.map(borrow, range(MANY))):
            assert path.read_bytes() == b"%d" % number


def adopted(loans, folder, *numbers, size=100):
    for number in numbers:
        source = folder / f"source {number}"
        source.write_bytes(bytes(size))
        loans.adopt(f"{number:032x}", source)
    loans.sweep()
    return sorted(int(path.name, 16) for path in (folder / "loans").iterdir())


def test_unpromised_files_beyond_the_budget_are_removed_at_once(tmp_path):
    loans = Loans(tmp_path / "loans", 300)
    assert adopted(loans, tmp_path, 1, 2, 3) == [1, 2, 3]
    loans.lend(f"{1:032x}", None)
    assert adopted(loans, tmp_path, 4, 5) == [1, 4, 5]


def test_files_beyond_the_number_are_removed(tmp_path, monkeypatch):
    # As many files as in reality would take the test too long.
    monkeypatch.setattr(loans_module, "MOST_FILES", 3)
    loans = Loans(tmp_path / "loans", 10**9)
    assert adopted(loans, tmp_path, 1, 2) == [1, 2]
    assert len(adopted(loans, tmp_path, 3, 4, 5)) == 3


def test_an_import_looks_through_the_copies_once(objects, tmp_path, monkeypatch):
    listed = []

    def files_in(folder):
        listed.append(folder)
        return folders.files_in(folder)

    # Nothing else shows how much work a sweep is.
    monkeypatch.setattr(loans_module, "files_in", files_in)
    paths = [tmp_path / str(number) for number in range(10)]
    for path in paths:
        path.write_bytes(b"content")
    stored = objects.link_all(paths)
    assert len(listed) == 1
    assert len(list((tmp_path / "loans").iterdir())) == len(stored)


def test_recent_loans_stay_and_older_ones_are_removed(tmp_path):
    loans = Loans(tmp_path / "loans", 100)

    def lend(number):
        return loans.lend(f"{number:032x}", lambda: BytesIO(bytes(100)))

    first, second = lend(1), lend(2)
    assert first.exists()
    long_ago = time.time() - 2 * KEPT_SECONDS
    os.utime(first, (long_ago, long_ago))
    third = lend(3)
    assert [each.exists() for each in (first, second, third)] == [False, True, True]


def test_a_machine_without_copies_has_space(objects):
    assert objects.free_bytes() > 0


def test_freeing_space_removes_unused_copies(objects):
    """Until then, such a file stays: the next program may need it."""
    blob = put(objects).blob
    path = objects.on_disk(blob)
    os.truncate(path, LOANS_BYTES + 1)
    os.utime(path, (0, 0))
    assert path.exists()
    objects.free_bytes()
    assert not path.exists()
    assert objects.on_disk(blob).exists()


@pytest.fixture
def small_disk(tmp_path, monkeypatch):
    """Let the disk of loans have room for so many bytes."""

    def free_bytes(folder):
        return size_bytes - sum(path.stat().st_size for path in folder.iterdir())

    size_bytes = 500
    # No test can fill the disk.
    monkeypatch.setattr(loans_module, "free_bytes", free_bytes)


@pytest.mark.usefixtures("small_disk")
def test_all_files_take_no_more_than_half_of_what_the_disk_has_for_them(tmp_path):
    loans = Loans(tmp_path / "loans", 10**9)
    assert adopted(loans, tmp_path, 1, 2) == [1, 2]
    assert adopted(loans, tmp_path, 3) == [2, 3]


@pytest.mark.usefixtures("small_disk")
def test_a_copy_that_does_not_fit_is_not_begun(objects, tmp_path):
    fits, too_large = put(objects, bytes(200)).blob, put(objects, bytes(501)).blob
    idle = objects.on_disk(fits)
    os.utime(idle, (0, 0))
    with pytest.raises(DiskFull):
        objects.on_disk(too_large)
    assert list((tmp_path / "loans").iterdir()) == [idle]


@pytest.mark.usefixtures("small_disk")
def test_idle_copies_make_room_for_another(objects):
    idle, other = (put(objects, bytes(size)).blob for size in (200, 400))
    os.utime(objects.on_disk(idle), (0, 0))
    path = objects.on_disk(other)
    assert [each.name for each in path.parent.iterdir()] == [other]
    with pytest.raises(DiskFull):
        objects.on_disk(idle)
