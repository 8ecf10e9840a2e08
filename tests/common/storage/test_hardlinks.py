"""Disks without hard links. tests/faults/test_links.py runs the whole program on one."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from common.storage import hardlinks
from config.environment import read_or_make_key
from service.errors import DiskFull
from service.store.disk_store import DiskStore
from service.transfers.download_folders import DownloadFolder


@pytest.fixture(params=[errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV])
def _no_links(request, monkeypatch):
    """Make hard links fail; the tests' disk supports them."""

    def refuse(*_places, **_options):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(os, "link", refuse)


@pytest.fixture
def store(tmp_path):
    return DiskStore(tmp_path / "library")


@pytest.fixture
def came(tmp_path):
    """Return the files of a transfer, and their content."""
    files = {tmp_path / str(number): os.urandom(3_000_000 // (number + 1)) for number in range(3)}
    for path, content in files.items():
        path.write_bytes(content)
    return files


@pytest.mark.usefixtures("_no_links")
def test_arrived_files_are_copied_completely_and_stay_in_place(store, came):
    progress = []
    stored = store.link_all(came, progress.append)
    for each, (path, content) in zip(stored, came.items(), strict=True):
        with store.open(each.blob) as file:
            assert file.read() == content == path.read_bytes()
        assert stat.S_IMODE(store.path(each.blob).stat().st_mode) == 0o600
        path.write_bytes(b"changed")
        assert store.size(each.blob) == len(content)
    assert sum(progress) >= sum(map(len, came.values()))


@pytest.mark.usefixtures("_no_links")
def test_a_copy_that_does_not_fit_leaves_nothing(store, came, monkeypatch, tmp_path):
    # The tests have no disk with so little space.
    monkeypatch.setattr(DiskStore, "free_bytes", lambda _store: 2_000_000)
    with pytest.raises(DiskFull):
        store.link_all(reversed(came))
    assert [each for each in (tmp_path / "library").rglob("*") if each.is_file()] == []


def test_links_are_still_made_where_there_are_some(store, came):
    for each, path in zip(store.link_all(came), came, strict=True):
        assert store.path(each.blob).samefile(path)


@pytest.mark.usefixtures("_no_links")
def test_a_library_belongs_to_one_database(store):
    assert store.claim_for("one")
    assert not store.claim_for("other")
    assert store.claim_for("one")


@pytest.mark.usefixtures("_no_links")
def test_one_download_folder_can_borrow_the_files_of_another(tmp_path):
    one, other = DownloadFolder(tmp_path / "1"), DownloadFolder(tmp_path / "2")
    for place in (one, other):
        place.path.mkdir()
    one.file(0).write_bytes(b"content")
    for _again in range(2):
        other.borrow(one)
        assert other.file(0).read_bytes() == b"content"
    assert not other.file(0).samefile(one.file(0))


@pytest.mark.usefixtures("_no_links")
def test_many_that_start_at_once_agree_on_one_key(tmp_path):
    path = tmp_path / "secret_key"
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _n: read_or_make_key(path), range(64)))
    assert keys == {path.read_text()}
    assert {left.name for left in tmp_path.iterdir()} == {"secret_key", "secret_key.lock"}


@pytest.mark.usefixtures("_no_links")
def test_a_disk_without_hard_links_is_detected(tmp_path):
    assert not hardlinks.are_supported(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_with_hard_links_is_detected(tmp_path):
    assert hardlinks.are_supported(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_share_that_can_sync_no_folder_takes_files(store, monkeypatch):
    """The tests have no such share."""
    real = os.fsync

    def sync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    with store.writer() as writer:
        writer.write(b"content")
        stored = writer.commit()
    assert store.size(stored.blob) == 7
