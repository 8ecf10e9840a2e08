"""`manage.py work` with real peers, seen through v1: killed, frozen, stopped, and run twice."""

import os
import socket
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.db import transaction

from config.embedded import upstream
from service.library.upkeep.sweep import sweep
from service.models import File, Transfer, Worker
from service.store.blobs import library_store
from service.transfers.download_folders import ids_on_disk
from tests.running import free_port
from tests.service.builders import alice
from tests.service.reading import contents_of
from tests.service.working import (
    IMPATIENT,
    PATIENCE_SECONDS,
    ask,
    until,
    until_progress,
    until_state,
    working,
)
from tests.swarm import seeder, torrent
from tests.tools import needs, program

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PASSWORD = "a quiet: harbour at noon"
CONTENT = os.urandom(6 * 2**20)
SLOWLY = 1_500_000
# So slowly that no transfer ends before the test is done with it.
HARDLY = 100
# A worker that has no download to wait for stops within four seconds; only a hang takes this long.
MOST_STOP_SECONDS = 30


@pytest.fixture
def account(library_folder):
    return alice(password=PASSWORD, space_max_bytes=10**10)


@pytest.fixture
def api(account):
    auth = httpx.BasicAuth(account.email, PASSWORD)
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL, auth=auth) as client:
        yield client


@pytest.fixture
def seeds():
    with seeder() as seeds:
        yield seeds


@pytest.fixture
def film(seeds, tmp_path):
    made = torrent("film.mkv", CONTENT)
    seeds.give(made, tmp_path / "given")
    return made


def add(api, made, seeds):
    answer = api.post("/rest/transfer/magnet", data={"magnet": made.magnet(peer=seeds.address)})
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def is_whole(store, account):
    """Check that the library has the content exactly once, byte for byte."""
    (row,) = contents_of(account, 0).files
    with store.open(File.objects.get(pk=row.id).blob) as content:
        assert content.read() == CONTENT
    much_later = datetime.now(UTC) + timedelta(days=3)
    sweep(store, much_later, timedelta(hours=1))
    assert {found.blob for found in store.blobs()} == {File.objects.get().blob}


@pytest.mark.promise("a swarm: one file")
def test_a_magnet_becomes_a_file_and_the_listing_shows_it_coming(
    library_folder, account, api, seeds, film
):
    seeds.limit_upload(SLOWLY)
    with working() as work:
        transfer_id = add(api, film, seeds)
        record = until_progress(api, transfer_id, 10)
        seeds.limit_upload(HARDLY)
        assert record["state"] == "downloading"
        assert (record["name"], record["size"]) == ("film.mkv", len(CONTENT))
        assert api.get("/rest/folder").json()["torrents"][0]["id"] == transfer_id
        seeds.limit_upload(0)
        record = until_state(api, transfer_id, "done")
        assert (record["progress"], record["file_created"]) == (101, File.objects.get().pk)
        assert api.get("/rest/folder").json()["torrents"] == []
        until(lambda: list(ids_on_disk()) == [])
        assert work.stop() < MOST_STOP_SECONDS
    is_whole(library_folder, account)


@pytest.mark.parametrize("percent", [0, 40, 90])
def test_unpacking_resumes_after_a_kill(account, api, seeds, film, percent):
    seeds.limit_upload(SLOWLY)
    with working() as work:
        transfer_id = add(api, film, seeds)
        until_progress(api, transfer_id, percent)
        until(lambda: ask(api, transfer_id)["state"] != "queued")
        engine = work.children()
        work.kill()
    assert engine
    until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in engine))  # noqa: PTH110
    seeds.limit_upload(0)
    with working():
        until_state(api, transfer_id, "done")
    is_whole(library_store(), account)
    assert seeds.uploaded_bytes(film) < 1.5 * len(CONTENT)


def test_after_an_orderly_stop_nothing_is_fetched_twice(library_folder, account, api, seeds, film):
    seeds.limit_upload(SLOWLY)
    with working() as work:
        transfer_id = add(api, film, seeds)
        until_progress(api, transfer_id, 40)
        seeds.limit_upload(HARDLY)
        assert work.stop() < MOST_STOP_SECONDS
    seeds.limit_upload(0)
    with working():
        until_state(api, transfer_id, "done")
    is_whole(library_folder, account)
    assert seeds.uploaded_bytes(film) < 1.2 * len(CONTENT)


def test_a_second_worker_takes_over_from_a_dead_one(library_folder, account, api, seeds, film):
    seeds.limit_upload(SLOWLY // 10)
    with working() as first:
        transfer_id = add(api, film, seeds)
        until_progress(api, transfer_id, 5)
        with working() as second:
            first.kill()
            assert second.output.saw("another worker has died; freed transfers=1", PATIENCE_SECONDS)
            seeds.limit_upload(0)
            until_state(api, transfer_id, "done")
    is_whole(library_folder, account)


def test_a_worker_that_sleeps_beyond_its_lease_does_no_harm_when_it_wakes(
    library_folder, account, api, seeds, film
):
    seeds.limit_upload(SLOWLY // 10)
    with working() as first:
        transfer_id = add(api, film, seeds)
        until_progress(api, transfer_id, 5)
        with working() as second:
            over = datetime.now(UTC) - timedelta(seconds=1)
            # A worker that is frozen in a write would lock the database for everyone.
            with transaction.atomic():
                first.sleep()
                assert Worker.objects.filter(name__contains=f"-{first.process.pid}-").update(
                    alive_until=over
                )
            assert second.output.saw("another worker has died; freed transfers=1", PATIENCE_SECONDS)
            seeds.limit_upload(0)
            until_state(api, transfer_id, "done")
            first.wake()
            assert first.output.saw("other workers declared this one dead", PATIENCE_SECONDS)
            is_whole(library_folder, account)
            second.stop()
        again = torrent("again.mkv", CONTENT[: 2**20])
        seeds.give(again, Path(settings.DATA_DIR) / "given")
        until_state(api, add(api, again, seeds), "done")


def test_a_transfer_that_is_paused_before_a_kill_is_fetched_once(
    library_folder, account, api, seeds, film
):
    seeds.limit_upload(SLOWLY)
    with working() as work:
        transfer_id = add(api, film, seeds)
        until_progress(api, transfer_id, 10)
        work.stop()
    with working() as work:
        until_progress(api, transfer_id, 50)
        assert api.post(f"/rest/transfer/{transfer_id}/pause").status_code == 200
        until(Transfer.objects.filter(leased_by="").exists)
        work.kill()
    seeds.limit_upload(0)
    with working():
        assert ask(api, transfer_id)["state"] == "stopped"
        api.post(f"/rest/transfer/{transfer_id}/resume")
        until_state(api, transfer_id, "done")
    is_whole(library_folder, account)
    assert seeds.uploaded_bytes(film) < 1.1 * len(CONTENT)


@pytest.mark.promise("a deleted transfer frees its bytes")
def test_deleting_a_running_transfer_frees_its_bytes(library_folder, account, api, seeds, film):
    seeds.limit_upload(SLOWLY // 3)
    with working():
        transfer_id = add(api, film, seeds)
        until_progress(api, transfer_id, 10)
        assert list(ids_on_disk()) == [transfer_id]
        assert api.delete(f"/rest/transfer/{transfer_id}").status_code == 200
        until(lambda: list(ids_on_disk()) == [])
        until(lambda: not seeds.peers(film))
    assert contents_of(account, 0).files == []


def test_a_torrent_and_its_seeder_that_returns(library_folder, account, api, tmp_path):
    made = torrent("film.mkv", CONTENT)
    with seeder() as seeds:
        seeds.give(made, tmp_path / "given")
        seeds.limit_upload(SLOWLY)
        address, port = seeds.address, free_port()
        with working(TORRENT_PORT=str(port)):
            transfer_id = add(api, made, seeds)
            until_progress(api, transfer_id, 10)
            seeds.drop(made)
            until(lambda: api.get(f"/rest/transfer/{transfer_id}").json()["connected_to"] == 0)
            seeds.limit_upload(0)
            seeds.give(made, tmp_path / "given again")
            assert seeds.address == address
            seeds.meet(made, f"127.0.0.1:{port}")
            add(api, made, seeds)
            until_state(api, transfer_id, "done")
    is_whole(library_folder, account)


def test_a_port_that_another_program_has_stops_nothing(library_folder, account, api, seeds, film):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with working(TORRENT_PORT=str(port)) as work:
            until_state(api, add(api, film, seeds), "done")
            assert work.output.saw(f"port {port} is taken", PATIENCE_SECONDS), work.output.text
    is_whole(library_folder, account)


def test_fifty_torrents_at_once(library_folder, account, api, seeds, tmp_path):
    many = [torrent(f"film {number}.mkv", os.urandom(50_000)) for number in range(50)]
    for made in many:
        seeds.give(made, tmp_path / "given")
    with working():
        for made in many:
            add(api, made, seeds)
        until(lambda: len(contents_of(account, 0).files) == 50)
        until(lambda: list(ids_on_disk()) == [])
    assert {row.name for row in contents_of(account, 0).files} == {each.name for each in many}
    assert api.get("/rest/folder").json()["torrents"] == []


def test_a_full_disk_pauses_a_transfer_until_there_is_space(small_disk, account, api, seeds, film):
    seeds.limit_upload(SLOWLY // 3)
    with working(small_disk, ("-c", IMPATIENT), SEED_MINUTES="0") as work:
        transfer_id = add(api, film, seeds)
        until_progress(api, transfer_id, 5)
        filler = Path(f"/proc/{work.process.pid}/root{settings.DATA_DIR}/filler")
        with suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(bytes(2**20))
                file.flush()
        record = until_state(api, transfer_id, "no_room")
        assert (record["reason"], record["progress"] < 100) == ("disk_full", True)
        filler.unlink()
        seeds.limit_upload(0)
        record = until_state(api, transfer_id, "done")
        assert record["size"] == len(CONTENT)
        blob = work_blob(work, File.objects.get(pk=record["file_created"]))
        assert blob.read_bytes() == CONTENT


def work_blob(work, file):
    """Return the path of a file's blob on the worker's disk."""
    path = library_store().path(file.blob)
    return Path(f"/proc/{work.process.pid}/root{path}")


@pytest.fixture
def small_disk(library_folder):
    """Return a command that runs a program with a private disk of 100 MB for its data."""
    unshare, mount = program("unshare"), program("mount")
    script = f'{mount} -t tmpfs -o size=100m ferry "$0" && exec "$@"'
    prefix = (unshare, "--mount", "sh", "-c", script, str(settings.DATA_DIR))
    needs([*prefix, "true"], "the right to mount a disk")
    return prefix
