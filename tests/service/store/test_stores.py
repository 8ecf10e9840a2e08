"""What every store must do, wherever it keeps its bytes."""

import hashlib
import io
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from service.errors import NotFound
from service.store.objects.reader import FIRST_BLOCK_BYTES
from service.store.objects.writer import PART_BYTES
from service.store.sums import Sums
from service.worker.import_files import FileImport
from tests.service.builders import put

CONTENT = os.urandom(2 * PART_BYTES + 7)
SIZES = [0, 1, FIRST_BLOCK_BYTES, FIRST_BLOCK_BYTES + 1, PART_BYTES - 1, PART_BYTES, len(CONTENT)]
MISSING = "ab" * 16
DAY = timedelta(days=1)


@pytest.fixture
def store(any_store):
    return any_store


@pytest.mark.parametrize("size_bytes", SIZES)
def test_stored_bytes_read_back_with_their_checksums(store, size_bytes):
    content = CONTENT[:size_bytes]
    stored = put(store, content)
    assert stored.size_bytes == store.size(stored.blob) == size_bytes
    assert stored.sha1 == hashlib.sha1(content).hexdigest()
    assert stored.crc32 == zlib.crc32(content)
    with store.open(stored.blob) as file:
        assert read_whole(file) == content
    assert store.on_disk(stored.blob).read_bytes() == content


def read_whole(file):
    return b"".join(iter(lambda: file.read(300_000), b""))


def test_any_part_can_be_read(store):
    stored = put(store, CONTENT)
    choice = Random(7)
    with store.open(stored.blob) as file:
        assert file.seek(0, os.SEEK_END) == len(CONTENT)
        assert file.read(1) == b""
        for _time in range(50):
            start, size = choice.randrange(len(CONTENT)), choice.randrange(1, 400_000)
            assert file.seek(start) == start
            piece = file.read(size)
            assert piece
            assert piece == CONTENT[start : start + len(piece)]
            assert file.tell() == start + len(piece)


def test_a_missing_blob_is_not_found(store):
    assert store.size(MISSING) is None
    assert [*store.sizes([MISSING, put(store).blob])] == [None, 7]
    for use in (store.open, store.on_disk):
        with pytest.raises(NotFound):
            use(MISSING)


@pytest.mark.parametrize("name", ["", "..", "../../secret", "AB" * 16, "ab" * 16 + "\n"])
def test_an_invalid_id_leads_nowhere(store, name):
    for use in (store.open, store.on_disk, store.size, store.delete):
        with pytest.raises(NotFound):
            use(name)


def test_a_blob_is_not_there_until_it_is_committed(store):
    with store.writer() as writer:
        writer.write(CONTENT)
        assert [*store.blobs()] == []
        stored = writer.commit()
    assert [each.blob for each in store.blobs()] == [stored.blob]


@pytest.mark.parametrize("size_bytes", [7, len(CONTENT)])
def test_an_uncommitted_blob_leaves_nothing(store, size_bytes):
    with store.writer() as writer:
        writer.write(CONTENT[:size_bytes])
    assert [*store.blobs()] == []
    assert store.drop_drafts(datetime.now(UTC) + 3 * DAY) == 0


def test_a_stream_that_breaks_leaves_nothing(store):
    class Breaking(io.RawIOBase):
        left = 12

        def read(self, _size=-1):
            self.left -= 1
            if not self.left:
                raise ConnectionResetError
            return CONTENT[: 2**20]

    with pytest.raises(ConnectionResetError):
        store.put(Breaking())
    assert [*store.blobs()] == []
    assert store.drop_drafts(datetime.now(UTC) + 3 * DAY) == 0


def test_the_drafts_of_dead_writers_go(store):
    with store.writer() as writer:
        writer.write(CONTENT)
        assert store.drop_drafts(datetime.now(UTC) - DAY) == 0
        assert store.drop_drafts(datetime.now(UTC) + 3 * DAY) == 1
        assert store.drop_drafts(datetime.now(UTC) + 3 * DAY) == 0


def test_deleting(store):
    stored, other = put(store), put(store)
    store.delete(stored.blob)
    store.delete(stored.blob)
    assert store.size(stored.blob) is None
    assert [each.blob for each in store.blobs()] == [other.blob]


@pytest.fixture
def came(tmp_path):
    """Return the files of a transfer, and their content."""
    files = {tmp_path / str(number): CONTENT[: 10 ** (number + 1)] for number in range(7)}
    for path, content in files.items():
        path.write_bytes(content)
    return files


def test_files_are_taken_in_their_order_and_stay(store, came):
    reported = []
    stored = store.link_all(came, reported.append)
    for each, (path, content) in zip(stored, came.items(), strict=True):
        assert each.sha1 == hashlib.sha1(content).hexdigest()
        assert each.crc32 == zlib.crc32(content)
        with store.open(each.blob) as file:
            assert read_whole(file) == content == path.read_bytes()
        path.unlink()
        assert store.on_disk(each.blob).read_bytes() == content
    assert sum(reported) == sum(map(len, came.values()))


def test_files_are_hashed_while_they_arrive_if_that_saves_work_later(store, tmp_path):
    path = tmp_path / "film"
    path.write_bytes(b"content")
    sums, reported = Sums(), []
    with ThreadPoolExecutor(1) as executor:
        FileImport(store, executor).hash_ahead(path, sums, 3)
    store.link_all([path], reported.append, {path: sums})
    assert sums.size_bytes == (3 if store.may_hash_ahead else 0)
    assert reported == ([3, 4] if store.may_hash_ahead else [7])


class Stopped(Exception):  # noqa: N818  Errors are nouns here.
    pass


@pytest.mark.parametrize("piece", [1, 4, 9])
def test_an_import_that_is_stopped_leaves_nothing(store, came, piece):
    reported = []

    def stop(size_bytes):
        reported.append(size_bytes)
        if len(reported) == piece:
            raise Stopped

    with pytest.raises(Stopped):
        store.link_all(came, stop)
    assert [*store.blobs()] == []
    assert store.drop_drafts(datetime.now(UTC) + 3 * DAY) == 0


def test_an_import_of_a_missing_file_leaves_nothing(store, came, tmp_path):
    with pytest.raises(FileNotFoundError):
        store.link_all([*came, tmp_path / "gone"])
    assert [*store.blobs()] == []


def test_blobs_are_dated_when_they_are_stored(store, tmp_path):
    path = tmp_path / "old"
    path.write_bytes(b"content")
    os.utime(path, (0, 0))
    before = datetime.now(UTC) - timedelta(seconds=5)
    put(store)
    store.link_all([path])
    assert all(each.written_at > before for each in store.blobs())


def test_orphans_are_set_aside_and_come_back(store):
    stored, other = put(store), put(store, b"other")
    today = datetime.now(UTC).date()
    assert store.set_aside(stored.blob, today)
    assert not store.set_aside(MISSING, today)
    assert [each.blob for each in store.blobs()] == [other.blob]
    (orphan,) = store.orphans()
    assert (orphan.blob, orphan.size_bytes, orphan.since) == (stored.blob, 7, today)
    store.bring_back(orphan)
    assert [*store.orphans()] == []
    assert {each.blob for each in store.blobs()} == {stored.blob, other.blob}
    with store.open(stored.blob) as file:
        assert file.read(10) == b"content"
    assert store.set_aside(stored.blob, today)
    assert [each.blob for each in store.orphans()] == [stored.blob]


def test_orphans_are_dropped_when_they_are_old(store):
    stored, other = put(store), put(store, b"other")
    today = datetime.now(UTC).date()
    store.set_aside(stored.blob, today)
    assert store.drop_orphans(today - DAY) == 0
    assert [each.blob for each in store.orphans()] == [stored.blob]
    assert store.drop_orphans(today) == 1
    assert [*store.orphans()] == []
    assert store.size(stored.blob) is None
    assert store.size(other.blob) == 5


def test_a_library_belongs_to_one_database_until_it_is_handed_over(store):
    assert store.claim_for("one")
    assert not store.claim_for("other")
    store.hand_over("other")
    assert store.claim_for("other")
    assert not store.claim_for("one")


def test_the_generation_is_noted(store):
    assert store.generation() == 0
    store.reach_generation(7)
    store.reach_generation(7)


def test_losses_are_noted_until_all_is_there(store):
    now = datetime.now(UTC)
    assert not store.is_known_intact(now)
    assert store.losses() is None
    store.record_intact(now)
    assert store.is_known_intact(now)
    assert not store.is_known_intact(now + 2 * DAY)
    store.record_loss()
    assert not store.is_known_intact(now)
    assert store.losses() == []
    store.record_loss([3, 5])
    store.record_loss()
    assert store.losses() == [3, 5]
    store.record_intact(now)
    assert store.losses() is None
