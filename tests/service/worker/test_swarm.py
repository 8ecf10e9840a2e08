"""The worker with real peers on loopback."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from service.api.records import transfer_record
from service.details import Details, decode_details, read_log
from service.library import library
from service.models import File, Folder, Traffic, Transfer, TransferDetails
from service.transfers import transfers
from service.transfers.download_folders import download_folder, ids_on_disk
from service.transfers.torrents import swarms
from service.transfers.under_way import Decision, decide
from tests.misbehaving import answers, chunk, head, serving
from tests.service.builders import NOW, add_torrent, alice, mallory
from tests.service.fetching import servers
from tests.service.fetching.servers import CONTENT, first_of_head, in_turn, next_part, url_of
from tests.service.shifts import real_shift
from tests.service.torrents.holding import listening_port
from tests.service.torrents.test_downloads import liar
from tests.swarm import KINDS, Tracker, WebSeed, seeder, serving_http, torrent

pytestmark = pytest.mark.django_db
FILES = {("a.mkv",): b"a" * 100_000, ("b", "c.srt"): b"c" * 7, ("b", "empty"): b""}


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


@pytest.fixture
def shift(_own_folder):
    with real_shift() as shift:
        yield shift


@pytest.fixture
def seeds():
    with seeder() as seeds:
        yield seeds


@pytest.fixture
def no_seeding(settings):
    settings.SEED_MINUTES = 0


def contents(shift, folder):
    """Return the contents below a folder of the library, by path."""
    found = {}
    for file in File.objects.filter(folder__lineage__startswith=folder.lineage):
        above = [Folder.objects.get(pk=pk).name for pk in file.folder.ids_from_root]
        with shift.store.open(file.blob) as content:
            found[(*above[folder.depth + 1 :], file.name)] = content.read()
    return found


def received_bytes():
    return sum(Traffic.objects.values_list("received_bytes", flat=True))


@pytest.mark.promise("people see a transfer's swarm while they look")
@pytest.mark.slow
def test_a_look_shows_the_swarm_and_traffic_adds_up(no_seeding, shift, seeds, tmp_path):
    made = torrent("film.mkv", b"film" * 250_000)
    seeds.give(made, tmp_path / "given")
    seeds.limit_upload(200_000)
    transfer = transfers.add_magnet(alice(), made.magnet(peer=seeds.address), 0, NOW)
    shift.until_state(transfer, "downloading")

    def has_peer():
        swarm = swarms.look(transfer, datetime.now(UTC)).swarm
        return swarm and swarm["peers"] and any(swarm["pieces"]["arrived"])

    shift.until(has_peer)
    seeds.limit_upload(0)
    shift.until_state(transfer, "done")
    assert len(made.files[("film.mkv",)]) <= received_bytes() < 1_500_000
    kinds = ["metadata", "downloading", "moving", "done"]
    # The worker logs the end in the round after the import.
    shift.until(
        lambda: [each.kind for each in read_log(TransferDetails.objects.get().log)] == kinds
    )


@pytest.mark.promise("a swarm: many files", cases=["v1"])
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_magnet_of_many_files_becomes_their_folder(no_seeding, shift, seeds, tmp_path, kind):
    made = torrent("Films", FILES, kind=kind)
    seeds.give(made, tmp_path / "given")
    transfer = transfers.add_magnet(alice(), made.magnet(peer=seeds.address), 0, NOW)
    shift.until_state(transfer, "done")
    folder = Folder.objects.get(pk=transfer.folder_created_id)
    assert folder.name == transfer.title == "Films"
    assert contents(shift, folder) == FILES
    shift.until(lambda: list(ids_on_disk()) == [])


SLOW_BYTES_PER_SECOND = 8_000


@pytest.mark.slow
@pytest.mark.usefixtures("no_seeding")
def test_small_transfers_do_not_wait_for_slow_ones(settings, shift, seeds, tmp_path):
    account, count = alice(), settings.ACTIVE_TRANSFERS
    with seeder() as slow_seeds:
        slow_seeds.limit_upload(count * SLOW_BYTES_PER_SECOND)
        slow = [torrent(f"slow-{n}", bytes([n]) * 5_000_000) for n in range(count)]
        for made in slow:
            slow_seeds.give(made, tmp_path / "slow")
            transfers.add_magnet(account, made.magnet(peer=slow_seeds.address), 0, NOW)
        small = [torrent(f"small-{n}", bytes([n]) * 100_000) for n in range(6)]
        for made in small:
            seeds.give(made, tmp_path / "small")
            transfers.add_magnet(account, made.magnet(peer=seeds.address), 0, NOW)
        done = Transfer.objects.filter(state="done")
        shift.until(lambda: done.count() == len(small), seconds=60)
        assert Transfer.running().count() == count


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_magnet_of_one_file_becomes_that_file(no_seeding, shift, seeds, tmp_path, kind):
    made = torrent("film.mkv", b"film" * 50_000, kind=kind)
    seeds.give(made, tmp_path / "given")
    account = alice()
    transfer = transfers.add_magnet(account, made.magnet(peer=seeds.address), 0, NOW)
    shift.until_state(transfer, "done")
    assert contents(shift, library.root_of(account)) == {("film.mkv",): b"film" * 50_000}
    assert received_bytes() == 200_000


@pytest.mark.promise("a torrent is added again", cases=["deleted0-v1"])
@pytest.mark.slow
@pytest.mark.usefixtures("no_seeding")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("deleted", [("a.mkv", "empty"), ("empty",)])
def test_adding_a_torrent_again_fetches_only_deleted_files(shift, seeds, tmp_path, kind, deleted):
    files = {**FILES, ("large.mkv",): b"l" * 2_000_000}
    made = torrent("Films", files, kind=kind)
    seeds.give(made, tmp_path / "given")
    account, uri = alice(), made.magnet(peer=seeds.address)
    transfer = transfers.add_magnet(account, uri, 0, NOW)
    shift.until_state(transfer, "done")
    folder, sent_bytes = (
        Folder.objects.get(pk=transfer.folder_created_id),
        seeds.uploaded_bytes(made),
    )
    for name in deleted:
        library.delete_file(account, File.objects.get(name=name).pk, NOW)
    again = shift.until_state(transfers.add_magnet(account, uri, 0, NOW), "done")
    assert again.folder_created_id == folder.pk
    assert contents(shift, folder) == files
    assert seeds.uploaded_bytes(made) - sent_bytes < 500_000


def test_a_torrent_file_with_a_tracker_is_fetched(no_seeding, shift, seeds, tmp_path):
    with serving_http(Tracker()) as tracker:
        tracker.peers.append(seeds.address)
        made = torrent("Films", FILES, announce=tracker.announce)
        seeds.give(made, tmp_path / "given")
        transfer = add_torrent(alice(), made.content, 0, NOW)
        shift.until_state(transfer, "done")
    assert contents(shift, Folder.objects.get(pk=transfer.folder_created_id)) == FILES


def test_a_web_seed_is_enough(no_seeding, shift, tmp_path):
    with serving_http(WebSeed(folder=tmp_path)) as web:
        made = torrent("film.mkv", b"film" * 50_000, **{"url-list": f"{web.url}/film.mkv"})
        made.write(tmp_path)
        transfer = add_torrent(alice(), made.content, 0, NOW)
        shift.until_state(transfer, "done")
    assert File.objects.get().size_bytes == 200_000


@pytest.mark.promise("a swarm with a liar")
@pytest.mark.slow
def test_a_peer_that_sends_wrong_bytes_does_no_harm(no_seeding, shift, tmp_path):
    # Use one piece: of several, libtorrent sometimes never requests the second wrong one again.
    made = torrent("film.mkv", b"film" * 500_000, piece_bytes=2**21)
    lies = replace(made, files={("film.mkv",): b"lies" * 500_000})
    account = alice()
    with liar(made, lies, tmp_path) as lying, seeder() as seeds:
        transfer = transfers.add_magnet(account, made.magnet(peer=lying.address), 0, NOW)
        # If both peers sent parts of the piece, libtorrent can't say who lied, and may ask neither.
        shift.until(lambda: lying.uploaded_bytes(made) >= 2_000_000)
        seeds.give(made, tmp_path / "given")
        seeds.meet(made, f"127.0.0.1:{listening_port(shift.engine.pid)}")
        shift.until_state(transfer, "done")
    assert contents(shift, library.root_of(account)) == {("film.mkv",): b"film" * 500_000}


@pytest.mark.slow
def test_a_hybrid_is_one_transfer_by_either_of_its_hashes(no_seeding, shift, seeds, tmp_path):
    made = torrent("Films", FILES, kind="hybrid")
    seeds.give(made, tmp_path / "given")
    account = alice()
    first = transfers.add_magnet(account, made.magnet(only="v1", peer=seeds.address), 0, NOW)
    shift.until_state(first, "done")
    assert transfers.add_magnet(account, made.magnet(only="v2"), 0, NOW) == first
    assert (first.info_hash_v1, first.info_hash_v2) == (made.hash_v1, made.hash_v2)


def test_a_url_delivers_its_file(no_seeding, shift, tmp_path):
    (tmp_path / "film.mkv").write_bytes(b"film" * 50_000)
    account = alice()
    with serving_http(WebSeed(folder=tmp_path)) as web:
        transfer = transfers.add_url(account, f"{web.url}/film.mkv", 0, NOW)
        shift.until_state(transfer, "done")
    assert contents(shift, library.root_of(account)) == {("film.mkv",): b"film" * 50_000}


@pytest.mark.slow
def test_a_url_that_is_paused_again_and_again_is_fetched_once(no_seeding, shift):
    account = alice()
    with serving(next_part(100_000)) as server:
        transfer = transfers.add_url(account, url_of(server), 0, NOW)
        for turn in range(1, 6):
            percent = 100 * turn * 100_000 // len(CONTENT)
            shift.until(Transfer.objects.filter(progress_percent__gte=percent).exists)
            decide(account, transfer.pk, Decision.PAUSE, NOW)
            shift.until(Transfer.objects.filter(leased_by="").exists)
            decide(account, transfer.pk, Decision.RESUME, NOW)
        shift.until_state(transfer, "done")
        assert [first_of_head(each) for each in server.heads] == [*range(0, 500_001, 100_000)]
    assert contents(shift, library.root_of(account)) == {("film.mp4",): CONTENT}


def test_a_url_of_a_torrent_delivers_the_torrents_files(no_seeding, shift, seeds, tmp_path):
    with serving_http(Tracker()) as tracker, serving_http(WebSeed(folder=tmp_path)) as web:
        tracker.peers.append(seeds.address)
        made = torrent("Films", FILES, announce=tracker.announce)
        (tmp_path / "a.torrent").write_bytes(made.content)
        seeds.give(made, tmp_path / "given")
        transfer = transfers.add_url(alice(), f"{web.url}/a.torrent", 0, NOW)
        shift.until_state(transfer, "done")
    assert (transfer.kind, transfer.title) == ("torrent", "a")
    assert contents(shift, Folder.objects.get(pk=transfer.folder_created_id)) == FILES


def test_an_address_that_has_nothing_fails_with_its_status(shift, tmp_path):
    with serving_http(WebSeed(folder=tmp_path)) as web:
        transfer = transfers.add_url(alice(), f"{web.url}/film.mkv", 0, NOW)
        shift.until(lambda: transfers.get(transfer.account, transfer.pk).state == "failed")
    transfer.refresh_from_db()
    assert transfer.reason == "fetch_error"
    assert decode_details(transfer.details) == Details("http_status", status=404)


def cut(etag):
    return servers.file(cut_after=20_000, etag=etag)


FAULTS = {
    "drops the connection": [cut('W/"a"')] * 3,
    "sends too little": [answers(head(Transfer_Encoding="chunked"), chunk(b"x" * 99))] * 3,
    "changes the content": [cut('"a"'), cut('"b"'), cut('"c"'), cut('"d"')],
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_url_says_so_until_it_succeeds(shift, fault):
    account = alice()
    with serving(in_turn(*FAULTS[fault], servers.file())) as server:
        transfer = transfers.add_url(account, url_of(server, "/film.mkv"), 0, NOW)
        shift.until_state(transfer, "stalled")
        record = transfer_record(transfers.list_rows(account)[0], "")
        assert record.reason == "retrying"
        (said,) = json.loads(record.warnings)
        again = r"Ferry tried \d times\. Ferry will try again at .{19} UTC\."
        assert re.fullmatch(rf"The .+\. {again}", said)
        assert record.details.sentence == said
        shift.until_state(transfer, "done")
    with shift.store.open(File.objects.get().blob) as content:
        assert content.read() == CONTENT


def test_a_disk_that_can_not_be_written_to_stalls_it_with_its_message(shift, seeds, tmp_path):
    made = torrent("film.mkv", b"film" * 50_000)
    seeds.give(made, tmp_path / "given")
    transfer = transfers.add_magnet(alice(), made.magnet(peer=seeds.address), 0, NOW)
    download_folder(transfer.pk).make(transfer)
    download_folder(transfer.pk).file(0).mkdir()
    shift.until_state(transfer, "stalled")
    assert transfer.reason == "disk_error"
    assert decode_details(transfer.details).kind == "disk_message"


@pytest.mark.slow
def test_two_accounts_get_one_torrent(no_seeding, shift, seeds, tmp_path):
    made = torrent("Films", FILES)
    seeds.give(made, tmp_path / "given")
    both = [
        transfers.add_magnet(account, made.magnet(peer=seeds.address), 0, NOW)
        for account in (alice(), mallory())
    ]
    for transfer in both:
        shift.until_state(transfer, "done")
        folder = Folder.objects.get(pk=transfer.folder_created_id)
        assert (folder.account_id, contents(shift, folder)) == (transfer.account_id, FILES)


@pytest.mark.slow
def test_a_finished_torrent_is_seeded_also_after_a_restart(seeds, tmp_path):
    made = torrent("film.mkv", b"film" * 50_000)
    seeds.give(made, tmp_path / "given")
    with real_shift() as shift:
        transfer = transfers.add_magnet(alice(), made.magnet(peer=seeds.address), 0, NOW)
        shift.until_state(transfer, "done")
        assert transfer.is_seeding
    with real_shift() as again:
        again.until(
            lambda: again.lease.name and Transfer.objects.get().leased_by == again.lease.name
        )
        assert Transfer.objects.get().is_seeding
        transfers.delete(transfer.account, transfer.pk, NOW)
        again.until(lambda: list(ids_on_disk()) == [])
    assert File.objects.get().pk == transfer.file_created_id
