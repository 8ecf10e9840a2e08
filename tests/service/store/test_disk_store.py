import errno
import hashlib
import io
import os
import shutil
import zlib
from pathlib import Path

import pytest

from service.errors import DiskFull, NotFound
from service.store import disk_store
from service.store.disk_store import DiskStore
from service.store.sums import LARGE_CHUNK_BYTES
from tests.service.builders import put

CONTENT = os.urandom(3 * 2**20 + 7)


def files_below(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def test_stored_bytes_read_back_the_same(store):
    stored = put(store, CONTENT)
    with store.open(stored.blob) as file:
        assert file.read() == CONTENT
    assert store.size(stored.blob) == len(CONTENT)


def test_sums_are_made_while_writing(store):
    stored = put(store, CONTENT)
    assert stored.size_bytes == len(CONTENT)
    assert stored.sha1 == hashlib.sha1(CONTENT).hexdigest()
    assert stored.crc32 == zlib.crc32(CONTENT)


def test_nothing_at_all_can_be_put(store):
    assert put(store, b"").size_bytes == 0


def test_a_blob_that_is_not_committed_leaves_nothing(store, tmp_path):
    with store.writer() as writer:
        writer.write(CONTENT)
        assert files_below(tmp_path)
    assert not files_below(tmp_path)


@pytest.mark.parametrize("way", ["put", "link_all"])
def test_the_first_blob_makes_the_folders_above_it_durable_too(tmp_path, monkeypatch, way):
    """If the disk loses a folder, everything in it is lost, too.

    No test can see what is on the disk, so this one records the syncs.
    """
    root, source, synced = tmp_path / "library", tmp_path / "source", set()
    source.write_bytes(CONTENT)
    fsync = os.fsync

    def note(descriptor):
        synced.add(Path(f"/proc/self/fd/{descriptor}").resolve())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    store = DiskStore(root)
    stored = put(store) if way == "put" else store.link_all([source])[0]
    place = store.path(stored.blob)
    expected = {tmp_path, root, root / "blobs", place.parent.parent, place.parent}
    assert expected <= synced


@pytest.mark.parametrize("way", ["put", "link_all"])
def test_a_blobs_content_is_on_the_disk(store, tmp_path, monkeypatch, way):
    """Otherwise, a power cut could leave an empty file. No test can see what is on the disk."""
    source, synced = tmp_path / "source", set()
    source.write_bytes(CONTENT)
    fsync = os.fsync

    def note(descriptor):
        fsync(descriptor)
        status = os.fstat(descriptor)
        synced.add((status.st_ino, status.st_size))

    monkeypatch.setattr(os, "fsync", note)
    stored = put(store, CONTENT) if way == "put" else store.link_all([source])[0]
    assert (store.path(stored.blob).stat().st_ino, len(CONTENT)) in synced


def test_many_blobs_are_on_the_disk_after_one_sync(store, tmp_path, monkeypatch):
    sources = [tmp_path / f"{number}" for number in range(disk_store.MOST_SYNCED_ALONE + 1)]
    for source in sources:
        source.write_bytes(source.name.encode())
    calls = []

    def note(folder):
        calls.append((folder, len(list(store.blobs()))))

    # No test can see what is on the disk, and syncing all of it would take seconds.
    monkeypatch.setattr(disk_store, "sync_file_system", note)
    store.link_all(sources)
    assert calls == [(tmp_path / "library", len(sources))]


def test_a_disk_that_fails_while_it_syncs_a_large_file_is_reported(store, tmp_path, monkeypatch):
    """The system reports this once, to whoever asks first: later syncs succeed."""
    source, fsync = tmp_path / "source", os.fsync
    with source.open("wb") as file:
        file.truncate(LARGE_CHUNK_BYTES + 1)
    failures = [OSError(errno.EIO, "Input/output error")]

    def fail_once(descriptor):
        if failures:
            raise failures.pop()
        fsync(descriptor)

    # Without root, a test can't make a disk that fails.
    monkeypatch.setattr(os, "fsync", fail_once)
    with pytest.raises(OSError, match="Input/output error"):
        store.link_all([source])
    assert list(store.blobs()) == []


def test_a_stream_that_breaks_leaves_nothing(store, tmp_path):
    class Breaking(io.RawIOBase):
        def read(self, _size=-1):
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        store.put(Breaking())
    assert not files_below(tmp_path)


def test_only_ferrys_user_may_read_blobs(store, tmp_path):
    stored = put(store)
    assert store.path(stored.blob).stat().st_mode & 0o777 == 0o600
    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}


def test_deleting_lets_a_reader_finish(store):
    stored = put(store)
    with store.open(stored.blob) as file:
        assert store.delete(stored.blob) is True
        assert file.read() == b"content"
    assert store.delete(stored.blob) is False
    assert store.size(stored.blob) is None
    with pytest.raises(NotFound):
        store.open(stored.blob)


def test_a_file_nearby_is_taken_over_without_copying(store, tmp_path):
    path = tmp_path / "downloaded"
    path.write_bytes(CONTENT)
    os.utime(path, (0, 0))
    (stored,) = store.link_all([path])
    assert stored.sha1 == hashlib.sha1(CONTENT).hexdigest()
    assert store.path(stored.blob).samefile(path)
    assert next(store.blobs()).written_at.year > 1970
    path.unlink()
    assert store.size(stored.blob) == len(CONTENT)


@pytest.mark.parametrize("moment", ["write", "fsync", "rename"])
def test_a_full_disk_is_reported_and_leaves_nothing(store, tmp_path, monkeypatch, moment):
    put(store)

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    # Each step must fail separately, and no real disk does that on demand.
    if moment == "write":
        monkeypatch.setattr(
            disk_store, "private", lambda _path, _flags: os.open("/dev/full", os.O_WRONLY)
        )
    elif moment == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(DiskFull):
        put(store, CONTENT)
    assert [path.read_bytes() for path in files_below(tmp_path)] == [b"content"]


def test_the_disk_says_what_is_free(store):
    assert store.free_bytes() > 0


class NearlyFull(DiskStore):
    """A store on a disk with space for one more small file."""

    free = 100

    def free_bytes(self):
        return self.free


def test_content_leaves_the_reserve_of_the_disk_alone(tmp_path):
    store = NearlyFull(tmp_path)
    stored = put(store, b"x" * 100)
    with pytest.raises(DiskFull):
        put(store, b"x" * 101)
    store.free = 0
    with pytest.raises(DiskFull):
        store.writer()
    assert files_below(tmp_path) == [store.path(stored.blob)]
    assert store.delete(stored.blob)


def test_the_reserve_counts_as_taken(store, monkeypatch):
    disk = shutil.disk_usage("/")
    for free, left in [(2**30, 2**30 - 2**26), (2**26, 0), (5, 0)]:
        # Only root can make a disk with exactly this much free space.
        monkeypatch.setattr(shutil, "disk_usage", lambda _path, now=free: disk._replace(free=now))
        assert store.free_bytes() == left
