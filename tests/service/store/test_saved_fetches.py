"""The beginnings of fetches, which another machine finds in the store."""

import os
import secrets
from contextlib import closing
from pathlib import Path

import pytest

from service.fetching.errors import TemporaryFailure
from service.fetching.events import Waiting
from service.fetching.fetch import Fetch
from service.fetching.pace import Pace
from service.fetching.pool import Fetching
from service.models import SavedFetch, Transfer
from service.store.objects.store import ObjectStore
from service.torrents.events import Complete
from service.transfers import transfers
from service.transfers.download_folders import DownloadFolder, download_folder
from service.worker.leases import Lease
from service.worker.saved_fetches import PART_BYTES, SavedFetches
from tests.misbehaving import TICK_SECONDS, Wire, serving
from tests.service.builders import NOW, an_account
from tests.service.fakes import Shift
from tests.service.fetching.servers import LOOPBACK, Side, file, first_of, in_turn
from tests.service.store.conftest import LOANS_BYTES

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

CONTENT = os.urandom(3 * PART_BYTES)
MANY = 2 * PART_BYTES + 1000


class Machine:
    """A machine with its own disk, which fetches what its lease allows."""

    def __init__(self, bucket, disk: Path):
        self.store = ObjectStore(bucket, disk, LOANS_BYTES)
        self.lease = Lease(disk / "workers")
        self.lease.hold(NOW, is_engine_alive=True)
        self.saved = SavedFetches(self.store, self.lease)
        self.disk = disk
        self.side = Side(disk)

    def folder_of(self, transfer):
        return DownloadFolder(self.disk / "transfers" / str(transfer.pk))

    def bytes_of(self, transfer):
        file = self.folder_of(transfer).file(0)
        return file.stat().st_size if file.exists() else 0

    def begin(self, transfer):
        """Take the transfer from the worker that has it, and fetch it."""
        Transfer.objects.filter(pk=transfer.pk).update(leased_by=self.lease.name)
        folder = self.folder_of(transfer).path
        folder.mkdir(parents=True, exist_ok=True)
        self.side = Side(folder, Pace(safe_every_seconds=0, quiet_seconds=10))
        self.side.fetching = Fetching(LOOPBACK, pace=self.side.pace, checkpoints=self.saved)
        self.side.fetching.add(Fetch(str(transfer.pk), transfer.source, folder))

    def content_of(self, transfer):
        assert self.side.end() == Complete(str(transfer.pk))
        return self.folder_of(transfer).file(0).read_bytes()


@pytest.fixture
def machines(seaweedfs, tmp_path):
    bucket = seaweedfs.bucket(secrets.token_hex(8))
    made = [Machine(bucket, tmp_path / name) for name in ("one", "other")]
    yield made
    for each in made:
        each.side.fetching.stop(5)
        with closing(each.store):
            each.lease.release()


def then_dripping(content: bytes, most: int = MANY):
    """Send the beginning of a file, and then so little that the fetch never ends."""
    begin = file(content, cut_after=most)

    def misbehave(wire: Wire) -> None:
        begin(wire)
        for byte in content[first_of(wire) + most :]:
            wire.send(bytes([byte]))
            wire.rest(TICK_SECONDS)

    return misbehave


def a_fetch(server) -> Transfer:
    return transfers.add_url(an_account(), f"http://127.0.0.1:{server.port}/film.bin", 0, NOW)


def saved_bytes(transfer) -> int:
    row = SavedFetch.objects.filter(transfer=transfer).first()
    return row.resume["safe_bytes"] if row else 0


def test_another_machine_continues_after_a_kill(machines):
    one, other = machines
    with serving(in_turn(then_dripping(CONTENT), file(CONTENT))) as server:
        transfer = a_fetch(server)
        one.begin(transfer)
        one.side.until_true(lambda: saved_bytes(transfer) == 2 * PART_BYTES)
        other.begin(transfer)
        assert other.content_of(transfer) == CONTENT
        assert first_of(Wire(None, None, server.heads[1])) == 2 * PART_BYTES


def test_a_machine_that_stops_saves_all_it_has(machines):
    one, other = machines
    with serving(in_turn(then_dripping(CONTENT), file(CONTENT))) as server:
        transfer = a_fetch(server)
        one.begin(transfer)
        one.side.until_true(lambda: saved_bytes(transfer) == 2 * PART_BYTES)
        one.side.fetching.stop(30)
        assert MANY <= saved_bytes(transfer) < MANY + 1000
        other.begin(transfer)
        assert other.content_of(transfer) == CONTENT
        assert first_of(Wire(None, None, server.heads[1])) >= MANY


def test_each_machine_adds_to_what_was_saved(machines):
    """The first one stops, the second is killed, and the first, with less on its disk, ends it."""
    one, other = machines
    steps = then_dripping(CONTENT, 1000), then_dripping(CONTENT, 2 * PART_BYTES), file(CONTENT)
    with serving(in_turn(*steps)) as server:
        transfer = a_fetch(server)
        one.begin(transfer)
        one.side.until_true(lambda: one.bytes_of(transfer) >= 1000)
        one.side.fetching.stop(30)
        begun = saved_bytes(transfer)
        assert 1000 <= begun < PART_BYTES
        other.begin(transfer)
        other.side.until_true(lambda: saved_bytes(transfer) == begun + 2 * PART_BYTES)
        one.begin(transfer)
        assert one.content_of(transfer) == CONTENT


def test_other_content_at_the_address_is_fetched_from_its_beginning(machines):
    one, other = machines
    changed = CONTENT[::-1]
    with serving(in_turn(then_dripping(CONTENT), file(changed, '"b"'))) as server:
        transfer = a_fetch(server)
        one.begin(transfer)
        one.side.until_true(lambda: saved_bytes(transfer) == 2 * PART_BYTES)
        other.begin(transfer)
        assert other.content_of(transfer) == changed


def test_a_worker_that_lost_the_transfer_adds_nothing(machines):
    one, other = machines
    with serving(then_dripping(CONTENT)) as server:
        transfer = a_fetch(server)
        one.begin(transfer)
        Transfer.objects.filter(pk=transfer.pk).update(leased_by=other.lease.name)
        one.side.until_true(lambda: one.bytes_of(transfer) >= MANY)
        one.side.fetching.stop(30)
        assert not saved_bytes(transfer)


def test_if_a_part_is_missing_the_fetch_starts_over(machines):
    one, other = machines
    with serving(in_turn(then_dripping(CONTENT), file(CONTENT))) as server:
        transfer = a_fetch(server)
        one.begin(transfer)
        one.side.until_true(lambda: saved_bytes(transfer) == 2 * PART_BYTES)
        one.side.fetching.stop(30)
        one.store.unpublish(one.folder_of(transfer).path)
        other.begin(transfer)
        assert other.content_of(transfer) == CONTENT
        assert first_of(Wire(None, None, server.heads[1])) == 0


def test_an_unreachable_store_neither_stops_a_fetch_nor_loses_its_beginning(machines, seaweedfs):
    one, other = machines
    with serving(in_turn(then_dripping(CONTENT), file(CONTENT))) as server:
        transfer = a_fetch(server)
        with seaweedfs.frozen():
            one.begin(transfer)
            one.side.until_true(lambda: one.bytes_of(transfer) >= MANY)
        one.side.until_true(lambda: saved_bytes(transfer) == 2 * PART_BYTES)
        one.side.fetching.stop(30)
        with seaweedfs.frozen():
            other.begin(transfer)
            other.side.until(lambda event: isinstance(event, Waiting))
            with pytest.raises(TemporaryFailure) as failure:
                other.saved.restore(str(transfer.pk), other.folder_of(transfer).path, 0, int)
            assert failure.value.most_tries > 10**6
        assert other.content_of(transfer) == CONTENT


def test_a_saved_fetch_is_deleted_when_the_fetch_ends(machines):
    one = machines[0]
    with serving(then_dripping(CONTENT)) as server:
        transfer = a_fetch(server)
        one.begin(transfer)
        one.side.until_true(lambda: saved_bytes(transfer) == 2 * PART_BYTES)
        parts = [name for name, _size in SavedFetch.objects.get(transfer=transfer).parts]
        one.side.fetching.stop(30)
    one.saved.forget(one.folder_of(transfer), transfer.pk)
    assert not SavedFetch.objects.exists()
    for name in parts:
        assert not one.store.fetch_published(one.folder_of(transfer).path / name)


@pytest.fixture
def data_dir(settings, tmp_path):
    """The folder of `objects`."""
    settings.DATA_DIR = tmp_path


@pytest.mark.usefixtures("data_dir")
def test_a_saved_fetch_is_deleted_with_its_transfer(objects):
    shift = Shift()
    shift.saved = SavedFetches(objects, shift.lease)
    transfer = transfers.add_url(an_account(), "http://127.0.0.1/film.bin", 0, NOW)
    shift.round()
    part = a_saved_part(objects, transfer)
    transfers.delete(transfer.account, transfer.pk, NOW)
    shift.rounds(3)
    assert not SavedFetch.objects.exists()
    assert not objects.fetch_published(part)


@pytest.mark.usefixtures("data_dir")
def test_a_saved_fetch_is_deleted_with_its_transfer_while_no_worker_runs(objects):
    transfer = transfers.add_url(an_account(), "http://127.0.0.1/film.bin", 0, NOW)
    download_folder(transfer.pk).path.mkdir(parents=True)
    part = a_saved_part(objects, transfer)
    transfers.delete(transfer.account, transfer.pk, NOW)
    shift = Shift()
    shift.saved = SavedFetches(objects, shift.lease)
    shift.round()
    assert not objects.fetch_published(part)


def a_saved_part(objects, transfer) -> Path:
    part = download_folder(transfer.pk).path / "part-7"
    part.write_bytes(b"beginning")
    objects.publish(part)
    part.unlink()
    SavedFetch.objects.create(transfer=transfer, resume={}, parts=[(part.name, 9)])
    return part
