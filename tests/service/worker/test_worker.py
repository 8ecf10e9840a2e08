"""The worker's decisions, with an engine that does what the test says."""

import errno
import shutil
from datetime import timedelta
from hashlib import sha1
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError

from service.accounts import accounts
from service.details import Details, decode_details
from service.errors import DiskFull, NameTaken, NotNow, StoreAway
from service.fetching.events import MagnetFound, TorrentFound, Waiting
from service.library import library
from service.models import File, Folder, Transfer
from service.torrents.events import Arrived, FileOf, Metadata, Seeded, TorrentGone
from service.transfers import transfers
from service.transfers.download_folders import DownloadFolder, download_folder, ids_on_disk
from service.transfers.torrents import identity
from service.transfers.under_way import Decision, decide
from service.worker.runs.run import LARGE_BYTES
from service.worker.transfer_control import TransferControl
from tests.service.builders import (
    NOW,
    a_file,
    a_folder,
    a_torrent,
    add_torrent,
    alice,
    magnet,
    mallory,
)
from tests.service.fakes import Later, Shift, end_process_of, limits_of
from tests.service.reading import contents_of

MOST = limits_of().active_transfers
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


def names(account, folder_id=0):
    listing = contents_of(account, folder_id)
    return sorted(row.name for row in [*listing.folders, *listing.files])


def fetched(shift, transfer, files):
    """Finish a transfer as a folder with these files, by path, and return the folder."""
    shift.round()
    sizes = [(path, len(content)) for path, content in files.items()]
    shift.engine.metadata(transfer, "Films", sizes, is_folder=True)
    shift.round()
    shift.engine.complete(transfer, *files.values())
    shift.rounds(3)
    transfer.refresh_from_db()
    assert transfer.state == "done"
    return Folder.objects.get(pk=transfer.folder_created_id)


FILMS = {"a.mkv": b"aaa", "b/c.srt": b"bbbb", "b/d.srt": b"ddddd"}


def delete_named(account, *file_names):
    for file in File.objects.filter(name__in=file_names):
        library.delete_file(account, file.pk, NOW)


def contents(shift, folder):
    """Return the contents below the folder, by path."""
    found = {}
    for file in File.objects.filter(folder__lineage__startswith=folder.lineage):
        above = [Folder.objects.get(pk=pk).name for pk in file.folder.ids_from_root]
        with shift.store.open(file.blob) as content:
            found["/".join([*above[folder.depth + 1 :], file.name])] = content.read()
    return found


# From a magnet to files


def test_a_magnet_becomes_a_file(shift):
    account = alice()
    transfer = transfers.add_magnet(account, magnet(name="Sintel.mkv"), 0, NOW)
    shift.round()
    assert shift.engine.calls("add") == [str(transfer.pk)]
    assert shift.state(transfer) == "metadata"
    shift.engine.metadata(transfer, files=[("other name.mkv", 7)])
    shift.round()
    assert shift.state(transfer) == "downloading"
    assert shift.engine.calls("proceed") == [str(transfer.pk)]
    shift.engine.complete(transfer, b"content")
    shift.rounds(2)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.progress_percent) == ("done", 101)
    file = File.objects.get(pk=transfer.file_created_id)
    assert (file.name, file.size_bytes, file.folder.parent) == ("Sintel.mkv", 7, None)
    with shift.store.open(file.blob) as content:
        assert content.read() == b"content"
    assert list(ids_on_disk()) == []
    assert transfers.list_rows(account) == []


def test_a_torrent_of_many_files_becomes_a_folder(shift):
    account = alice()
    content = a_torrent("Films", files={"a.mkv": 3, "b/c.srt": 4})
    transfer = add_torrent(account, content, 0, NOW)
    shift.round()
    assert download_folder(transfer.pk).torrent.read_bytes() == content
    assert shift.state(transfer) == "downloading"
    shift.engine.metadata(transfer, "Films", [("a.mkv", 3), ("b/c.srt", 4)])
    shift.round()
    shift.engine.complete(transfer, b"aaa", b"bbbb")
    shift.rounds(2)
    transfer.refresh_from_db()
    folder = Folder.objects.get(pk=transfer.folder_created_id)
    assert (folder.name, folder.size_bytes) == ("Films", 7)
    assert names(account, folder.pk) == ["a.mkv", "b"]


def test_progress_is_reported_and_marks_the_listing_as_changed(shift):
    account = alice()
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    shift.round()
    shift.engine.metadata(transfer, files=[("a", 1000)])
    shift.round()
    account.refresh_from_db()
    revision = account.transfers_revision
    shift.engine.status(
        transfer, done_bytes=250, wanted_bytes=1000, download_rate=50, peers_connected=3, seeders=9
    )
    shift.round()
    transfer.refresh_from_db()
    assert (transfer.progress_percent, transfer.download_bytes_per_second) == (25, 50)
    assert (transfer.peers_connected, transfer.seeders) == (3, 9)
    account.refresh_from_db()
    assert account.transfers_revision > revision


def test_a_round_without_news_writes_nothing(shift):
    account = alice()
    transfers.add_magnet(account, magnet(), 0, NOW)
    shift.rounds(2)
    account.refresh_from_db()
    revision = account.transfers_revision
    shift.rounds(3)
    account.refresh_from_db()
    assert account.transfers_revision == revision


def test_an_address_becomes_a_file_with_the_name_that_its_server_says(shift):
    account = alice()
    transfer = transfers.add_url(account, "http://example.org/get?id=7", 0, NOW)
    shift.round()
    assert shift.fetching.orders[str(transfer.pk)].url == "http://example.org/get?id=7"
    shift.fetching.head(transfer, "film.mkv", 4)
    shift.round()
    assert shift.state(transfer) == "downloading"
    assert (transfer.title, transfer.size_bytes) == ("film.mkv", 4)
    shift.fetching.complete(transfer, b"film")
    shift.rounds(2)
    assert shift.state(transfer) == "done"
    assert names(account) == ["film.mkv"]


def test_a_failing_url_says_why_and_when_it_is_retried(shift):
    """The transfer stays stalled until a byte arrives."""
    account = alice()
    first = transfers.add_url(account, "http://example.org/film.mkv", 0, NOW)
    shift.round()
    shift.fetching.head(first, "film.mkv", 100)
    shift.rounds(2)
    wait(shift, first, seconds=300)
    shift.round()
    assert (shift.state(first), first.reason) == ("stalled", "retrying")
    again = (shift.now + timedelta(seconds=300)).strftime("%Y-%m-%d %H:%M:%S")
    assert decode_details(first.details) == Details("timeout", retry_at=again)
    shift.fetching.status(first, done_bytes=10, wanted_bytes=100)
    shift.rounds(2)
    assert shift.state(first) == "stalled"
    shift.fetching.status(first, done_bytes=10, wanted_bytes=100, peers_sending=1)
    shift.rounds(2)
    assert (shift.state(first), first.reason, first.details) == ("downloading", "", None)
    shift.fetching.complete(first, b"x" * 100)
    shift.rounds(2)
    assert shift.state(first) == "done"


def test_a_url_without_a_response_gives_up_its_slot_and_completes_later():
    shift = Shift(active_transfers=1)
    account = alice()
    first = transfers.add_url(account, "http://example.org/film.mkv", 0, NOW)
    second = transfers.add_url(account, "http://example.net/song.flac", 0, NOW)
    shift.rounds(2)
    assert shift.state(second) == "queued"
    wait(shift, first, seconds=60)
    shift.rounds(2)
    assert (shift.state(first), shift.state(second)) == ("stalled", "metadata")
    shift.fetching.head(second, "song.flac", 4)
    shift.rounds(2)
    shift.fetching.complete(second, b"song")
    shift.rounds(2)
    shift.fetching.head(first, "film.mkv", 4)
    shift.rounds(3)
    assert shift.state(first) == "downloading"


def wait(shift, transfer, seconds):
    event = Waiting(str(transfer.pk), Details("timeout"), float(seconds))
    shift.fetching.news.append(event)


# Helpers


def learn_files(shift, transfer, size_bytes=100, **facts):
    """Let the worker take up a transfer and learn its files."""
    shift.round()
    shift.engine.metadata(transfer, files=[("Sintel", size_bytes)], **facts)
    shift.round()


def finish(shift, transfer, content=b"content"):
    learn_files(shift, transfer, len(content))
    shift.engine.complete(transfer, content)
    shift.rounds(3)


def magnets(account, count):
    return [
        transfers.add_magnet(account, f"magnet:?xt=urn:btih:{number:040x}", 0, NOW)
        for number in range(1, count + 1)
    ]


# The queue


def test_transfers_beyond_the_slots_wait_in_order():
    shift = Shift(active_transfers=2)
    first, second, third = magnets(alice(), 3)
    shift.rounds()
    assert [shift.state(each) for each in (first, second, third)] == ["metadata"] * 2 + ["queued"]
    finish(shift, second)
    assert [shift.state(each) for each in (first, second, third)] == [
        "metadata",
        "done",
        "metadata",
    ]


def test_a_stalled_transfer_gives_up_its_slot_and_resumes_in_a_free_one():
    shift = Shift(active_transfers=1)
    first, second = magnets(alice(), 2)
    learn_files(shift, first)
    shift.engine.status(first, done_bytes=10, peers_connected=0)
    shift.round()
    shift.round(seconds=121)
    shift.round()
    assert (shift.state(first), first.reason) == ("stalled", "no_peers")
    assert shift.state(second) == "metadata"
    shift.engine.status(first, done_bytes=20, peers_connected=1)
    shift.round()
    assert shift.state(first) == "queued"
    assert shift.engine.calls("pause") == [str(first.pk)]
    finish(shift, second)
    assert shift.state(first) == "downloading"
    assert shift.engine.calls("resume") == [str(first.pk)]
    assert first.reason == ""


def test_a_stalled_transfer_continues_if_its_slot_is_still_free(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    shift.round(seconds=121)
    assert shift.state(transfer) == "stalled"
    shift.engine.status(transfer, done_bytes=1, peers_connected=1)
    shift.round()
    assert shift.state(transfer) == "downloading"


def test_a_magnet_without_peers_stalls_and_gives_up_its_slot():
    shift = Shift(active_transfers=1)
    account = alice()
    (first,) = magnets(account, 1)
    shift.round()
    shift.round(seconds=119)
    assert shift.state(first) == "metadata"
    shift.round(seconds=2)
    assert shift.state(first) == "stalled"
    second = transfers.add_magnet(account, magnet("b"), 0, NOW)
    shift.rounds(2)
    assert shift.state(second) == "metadata"
    shift.engine.metadata(first)
    shift.round()
    assert shift.state(first) == "queued"


def test_a_magnet_without_peers_gives_up_its_slot_within_seconds_if_others_wait():
    shift = Shift(active_transfers=1)
    first, second = magnets(alice(), 2)
    shift.rounds(2)
    assert (shift.state(first), shift.state(second)) == ("metadata", "queued")
    shift.rounds(12)
    assert (shift.state(first), first.reason) == ("stalled", "no_peers")
    assert shift.state(second) == "metadata"
    assert shift.engine.calls("remove") == []


def test_a_transfer_that_gave_up_its_slot_early_waits_until_it_finds_a_peer():
    shift = Shift(active_transfers=1)
    first, second = magnets(alice(), 2)
    learn_files(shift, first)
    for _ in range(20):
        shift.engine.status(first, peers_connected=0)
        shift.round()
    assert (shift.state(first), shift.state(second)) == ("stalled", "metadata")
    finish(shift, second)
    shift.engine.status(first, peers_connected=0)
    shift.round()
    assert shift.state(first) == "stalled"
    shift.engine.status(first, peers_connected=1)
    shift.round()
    assert shift.state(first) == "downloading"


def test_a_transfer_with_peers_keeps_its_slot_while_others_wait():
    shift = Shift(active_transfers=1)
    first, second = magnets(alice(), 2)
    learn_files(shift, first)
    shift.engine.status(first, peers_connected=2, availability=0.7)
    shift.rounds(60)
    assert (shift.state(first), shift.state(second)) == ("downloading", "queued")


def torrents(account, *sizes):
    return [
        add_torrent(account, a_torrent(f"{number}", files={"a": size, "b": 1}), 0, NOW)
        for number, size in enumerate(sizes)
    ]


def run_at(shift, transfers, rate, seconds=11):
    for second in range(seconds):
        for each in transfers:
            shift.engine.status(each, done_bytes=second, download_rate=rate, peers_connected=1)
        shift.round()


def test_slow_transfers_hold_no_slots(shift):
    """Five at 8 KB/s kept small ones waiting for 22 minutes."""
    account = alice()
    slow = magnets(account, MOST)
    for each in slow:
        learn_files(shift, each, size_bytes=10**6)
    (small,) = torrents(account, 1000)
    run_at(shift, slow, rate=8_000, seconds=8)
    assert shift.state(small) == "queued"
    run_at(shift, slow, rate=8_000, seconds=4)
    assert shift.state(small) == "downloading"
    assert {shift.state(each) for each in slow} == {"downloading"}


def test_a_slot_is_not_for_less_than_a_fair_share(shift):
    account = alice()
    fast, slow = magnets(account, 2)
    for each in (fast, slow):
        learn_files(shift, each, size_bytes=10**7)
    for second in range(12):
        shift.engine.status(fast, done_bytes=second, download_rate=10**7, peers_connected=1)
        shift.engine.status(slow, done_bytes=second, download_rate=10**5, peers_connected=1)
        shift.round()
    slots = shift.worker._shift._control.slots[Transfer.TORRENTS]  # noqa: SLF001  It shows which of them count.
    assert slots.free() == MOST - 1
    # It counts again once it gets more.
    run_at(shift, [slow], rate=5 * 10**6, seconds=1)
    assert slots.free() == MOST - 2


@pytest.mark.slow
def test_many_slow_transfers_wait_all_the_same(shift):
    account, most = alice(), MOST
    slow = magnets(account, 5 * most)
    for _second in range(60):
        for each in slow:
            if shift.state(each) == "metadata":
                shift.engine.metadata(each, files=[("Sintel", 10**6)])
        running = [each for each in slow if each.state == "downloading"]
        run_at(shift, running, rate=1_000, seconds=1)
    states = [shift.state(each) for each in slow]
    assert (states.count("downloading"), states.count("queued")) == (4 * most, most)


def test_a_small_transfer_overtakes_large_ones():
    shift = Shift(active_transfers=2)
    account = alice()
    large = torrents(account, *[LARGE_BYTES] * 3)
    shift.rounds()
    assert [shift.state(each) for each in large] == ["downloading", "queued", "queued"]
    (small,) = torrents(account, 1000)
    shift.rounds()
    assert shift.state(small) == "downloading"
    assert [shift.state(each) for each in large] == ["downloading", "queued", "queued"]


def test_a_magnet_that_turns_out_large_waits_for_a_slot_for_large_transfers():
    shift = Shift(active_transfers=2)
    account = alice()
    (large,) = torrents(account, LARGE_BYTES)
    first, second = magnets(account, 2)
    shift.rounds()
    assert [shift.state(each) for each in (first, second)] == ["metadata", "queued"]
    learn_files(shift, first, LARGE_BYTES)
    shift.rounds()
    assert [shift.state(each) for each in (first, second)] == ["queued", "metadata"]
    assert shift.engine.calls("proceed") == []
    shift.engine.metadata(large, files=[("a", 1), ("b", 1)])
    transfers.delete(account, large.pk, NOW)
    shift.rounds(4)
    assert shift.state(first) == "downloading"
    assert shift.engine.calls("proceed") == [str(first.pk)]


def urls(account, count):
    return [
        transfers.add_url(account, f"http://example.org/{number}.mkv", 0, NOW)
        for number in range(count)
    ]


def test_urls_and_torrents_do_not_wait_for_each_other():
    shift = Shift(active_transfers=1)
    account = alice()
    many = [*magnets(account, 2), *urls(account, 2)]
    shift.rounds()
    assert [shift.state(each) for each in many] == ["metadata", "queued"] * 2
    finish(shift, many[0])
    assert [shift.state(each) for each in many[1:]] == ["metadata", "metadata", "queued"]


def test_a_url_that_becomes_a_magnet_leaves_its_slot_to_the_next_url():
    shift = Shift(active_transfers=1)
    account = alice()
    running = magnets(account, 1)[0]
    first, second = urls(account, 2)
    shift.rounds()
    shift.fetching.news.append(MagnetFound(str(first.pk), magnet("b")))
    shift.rounds(2)
    assert shift.state(second) == "metadata"
    assert shift.state(running) == "metadata"


def test_a_url_that_turns_out_large_releases_its_connection_until_its_turn():
    shift = Shift(active_transfers=2)
    account = alice()
    large, address = urls(account, 2)
    shift.rounds()
    shift.fetching.head(large, size_bytes=LARGE_BYTES)
    shift.rounds()
    shift.fetching.head(address, size_bytes=LARGE_BYTES)
    shift.rounds()
    assert shift.state(address) == "queued"
    assert shift.fetching.calls("remove") == [str(address.pk)]
    transfers.delete(account, large.pk, NOW)
    shift.rounds(4)
    shift.fetching.head(address, size_bytes=LARGE_BYTES)
    shift.rounds()
    assert shift.state(address) == "downloading"
    assert shift.fetching.calls("proceed") == [str(large.pk), str(address.pk)]


def test_a_single_slot_also_serves_large_transfers():
    shift = Shift(active_transfers=1)
    (large,) = torrents(alice(), LARGE_BYTES)
    shift.rounds()
    assert shift.state(large) == "downloading"


def test_peers_that_do_not_have_all_of_it_are_not_enough(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    shift.engine.status(transfer, peers_connected=2, availability=0.7)
    shift.round()
    shift.round(seconds=121)
    assert (shift.state(transfer), transfer.reason) == ("stalled", "not_available")


def test_peers_that_send_nothing_for_long_are_not_enough(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    shift.engine.status(transfer, peers_connected=2, availability=2)
    shift.round()
    shift.round(seconds=121)
    assert shift.state(transfer) == "downloading"
    shift.round(seconds=600)
    assert (shift.state(transfer), transfer.reason) == ("stalled", "nothing_comes")


def test_a_transfer_without_progress_is_added_again_once_with_its_data(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    download_folder(transfer.pk).file(0).write_bytes(b"half")
    for _ in range(2):
        shift.engine.status(transfer, peers_connected=2, availability=2, done_bytes=4)
        shift.round()
        assert shift.state(transfer) == "downloading"
        shift.round(seconds=601)
        assert (shift.state(transfer), transfer.reason) == ("stalled", "nothing_comes")
        shift.rounds(2)
        learn_files(shift, transfer)
    assert shift.engine.calls("remove") == [str(transfer.pk)]
    assert shift.engine.calls("add") == [str(transfer.pk)] * 2
    assert shift.engine.calls("proceed") == [str(transfer.pk)] * 2
    assert download_folder(transfer.pk).file(0).read_bytes() == b"half"


def test_a_paused_transfer_leaves_its_slot_and_keeps_its_data():
    shift = Shift(active_transfers=1)
    account = alice()
    first, second = magnets(account, 2)
    learn_files(shift, first)
    decide(account, first.pk, Decision.PAUSE, NOW)
    shift.rounds(2)
    assert [shift.state(each) for each in (first, second)] == ["stopped", "metadata"]
    assert shift.engine.calls("remove") == [str(first.pk)]
    assert first.pk in ids_on_disk()
    decide(account, first.pk, Decision.RESUME, NOW)
    shift.rounds(2)
    assert shift.state(first) == "queued"
    finish(shift, second)
    learn_files(shift, first)
    assert shift.state(first) == "downloading"


def test_a_pause_that_ends_at_once_interrupts_nothing(shift):
    account = alice()
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer)
    decide(account, transfer.pk, Decision.PAUSE, NOW)
    decide(account, transfer.pk, Decision.RESUME, NOW)
    shift.rounds(2)
    assert shift.state(transfer) == "downloading"
    assert shift.engine.calls("remove") == []


def test_a_transfer_that_is_resumed_while_the_engine_lets_go_continues(shift):
    account = alice()
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer)
    shift.engine.lets_go = False
    decide(account, transfer.pk, Decision.PAUSE, NOW)
    shift.round()
    decide(account, transfer.pk, Decision.RESUME, NOW)
    shift.rounds(2)
    assert shift.state(transfer) == "queued"
    shift.engine.news.append(TorrentGone(str(transfer.pk)))
    shift.rounds(12)
    assert shift.engine.calls("add") == [str(transfer.pk)] * 2


def test_what_a_worker_observes_never_undoes_a_pause(shift):
    account = alice()
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer)
    shift.engine.complete(transfer, b"x" * 100)
    decide(account, transfer.pk, Decision.PAUSE, NOW)
    shift.rounds(3)
    assert shift.state(transfer) == "stopped"
    decide(account, transfer.pk, Decision.RESUME, NOW)
    learn_files(shift, transfer)
    assert shift.state(transfer) == "downloading"


def test_a_transfer_that_is_whole_is_not_paused(shift):
    account = alice()
    (transfer,) = magnets(account, 1)
    finish(shift, transfer)
    decide(account, transfer.pk, Decision.PAUSE, NOW)
    assert shift.state(transfer) == "done"


# Space


def test_a_torrent_that_does_not_fit_waits_and_continues_on_its_own(shift):
    account = alice(space_max_bytes=1000)
    large = a_file(account, "large", size_bytes=900)
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer, size_bytes=500)
    assert (shift.state(transfer), transfer.reason) == ("no_room", "not_enough_space")
    assert shift.engine.calls("proceed") == []
    library.delete_file(account, large.pk, NOW)
    shift.rounds()
    assert (shift.state(transfer), transfer.reason) == ("downloading", "")
    assert shift.engine.calls("proceed") == [str(transfer.pk)]


def test_transfers_waiting_for_space_do_not_count_as_used_space(shift):
    account = alice(space_max_bytes=1000)
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer, size_bytes=5000)
    assert shift.state(transfer) == "no_room"
    assert add_torrent(account, a_torrent(), 0, NOW)


def test_space_reserved_for_other_transfers_is_not_available(shift):
    account = alice(space_max_bytes=1000)
    first, second = magnets(account, 2)
    learn_files(shift, first, size_bytes=600)
    learn_files(shift, second, size_bytes=600)
    assert (shift.state(first), shift.state(second)) == ("downloading", "no_room")
    finish(shift, first, b"x" * 600)
    library.delete_file(account, Transfer.objects.get(pk=first.pk).file_created_id, NOW)
    shift.rounds()
    assert shift.state(second) == "downloading"


def test_a_full_account_pauses_running_transfers(shift):
    account = alice(space_max_bytes=1000)
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer, size_bytes=600)
    large = a_file(account, "large", size_bytes=900)
    shift.rounds(2)
    assert shift.state(transfer) == "no_room"
    assert shift.engine.calls("pause") == [str(transfer.pk)]
    library.delete_file(account, large.pk, NOW)
    shift.rounds(2)
    assert shift.state(transfer) == "downloading"
    assert shift.engine.calls("resume") == [str(transfer.pk)]


def test_a_full_disk_pauses_transfers_until_there_is_space(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    shift.engine.broken(transfer, "disk_full")
    shift.round()
    assert (shift.state(transfer), transfer.reason) == ("no_room", "disk_full")
    shift.round(seconds=31)
    shift.rounds(5)
    assert shift.state(transfer) == "downloading"
    assert shift.engine.calls("resume") == [str(transfer.pk)]


def test_a_disk_failure_is_reported_and_retried(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    shift.engine.broken(transfer, "disk_error", Details("disk_message", message="Oh"))
    shift.round()
    assert (shift.state(transfer), transfer.reason) == ("stalled", "disk_error")
    assert decode_details(transfer.details) == Details("disk_message", message="Oh")
    shift.round(seconds=31)
    shift.rounds(5)
    assert (shift.state(transfer), transfer.reason) == ("downloading", "")
    assert shift.engine.calls("resume") == [str(transfer.pk)]


def test_a_folder_that_cannot_be_created_delays_no_other(shift):
    broken, good = magnets(alice(), 2)
    place = download_folder(broken.pk).path
    place.parent.mkdir(parents=True)
    place.touch()
    shift.rounds(2)
    assert (shift.state(broken), broken.reason) == ("stalled", "disk_error")
    assert shift.engine.calls("add") == [str(good.pk)]
    place.unlink()
    shift.round(seconds=31)
    shift.rounds(5)
    assert shift.engine.calls("add") == [str(good.pk), str(broken.pk)]


@pytest.fixture
def once(monkeypatch):
    """Return a function that makes another fail on its first call, as on a locked database.

    Only a patch does this: a lock held by another process would fail every call of the round, and
    these tests need one failing call among others that succeed.
    """

    def fail_once(owner, name, trouble=None):
        act, troubles = getattr(owner, name), [trouble or OperationalError("database is locked")]

        def stumble(*args):
            if troubles:
                raise troubles.pop()
            return act(*args)

        monkeypatch.setattr(owner, name, stumble)

    return fail_once


def test_a_failure_to_start_one_transfer_does_not_delay_the_others(shift, once):
    first, second = magnets(alice(), 2)
    once(DownloadFolder, "make")
    shift.round()
    assert shift.engine.calls("add") == [str(second.pk)]
    shift.rounds(12)
    assert shift.engine.calls("add") == [str(second.pk), str(first.pk)]


def test_a_running_transfer_that_fails_to_resume_is_retried(shift, once):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    shift.worker.stop(1)
    shift.begin()
    once(DownloadFolder, "make")
    shift.round()
    assert shift.engine.calls("add") == []
    shift.rounds(12)
    learn_files(shift, transfer)
    assert shift.state(transfer) == "downloading"
    assert shift.engine.calls("proceed") == [str(transfer.pk)]


def test_a_magnet_is_added_again_after_an_early_disk_failure(shift):
    (transfer,) = magnets(alice(), 1)
    shift.round()
    shift.engine.broken(transfer, "disk_full")
    shift.round()
    assert (shift.state(transfer), transfer.reason) == ("no_room", "disk_full")
    shift.round(seconds=31)
    shift.rounds(5)
    assert shift.engine.calls("add") == [str(transfer.pk)] * 2
    learn_files(shift, transfer)
    assert shift.state(transfer) == "downloading"


def test_files_not_recorded_on_a_full_disk_are_reported_again(shift, once):
    (transfer,) = magnets(alice(), 1)
    once(DownloadFolder, "keep_plan", DiskFull())
    learn_files(shift, transfer)
    assert (shift.state(transfer), transfer.reason) == ("no_room", "disk_full")
    shift.round(seconds=31)
    shift.rounds(5)
    finish(shift, transfer)
    assert shift.state(transfer) == "done"
    assert shift.engine.calls("add") == [str(transfer.pk)] * 2


def test_a_disk_below_its_reserve_pauses_all(shift):
    first, second = magnets(alice(), 2)
    learn_files(shift, first)
    learn_files(shift, second)
    with pytest.MonkeyPatch.context() as patch:
        # Only root can make a disk of the right size.
        patch.setattr(type(shift.store), "free_bytes", lambda _store: 150)
        shift.rounds(6)
        assert [shift.state(each) for each in (first, second)] == ["downloading", "no_room"]
    shift.round(seconds=31)
    shift.rounds(6)
    assert [shift.state(each) for each in (first, second)] == ["downloading"] * 2


def test_a_worker_takes_nothing_while_its_store_is_away(shift):
    """Another machine may reach the store, or accept this one's clock."""

    def fail(*_arguments):
        raise StoreAway

    (transfer,) = magnets(alice(), 1)
    with pytest.MonkeyPatch.context() as patch:
        # A disk is never away like this.
        patch.setattr(type(shift.store), "claim_for", fail)
        shift.rounds(2)
        assert (shift.state(transfer), transfer.leased_by) == ("queued", "")
    shift.rounds(1)
    assert shift.state(transfer) != "queued"
    assert transfer.leased_by


def test_a_worker_takes_nothing_while_the_folder_of_its_files_is_missing(shift):
    """The disk may be unmounted. New files would be hidden once it is back."""
    account = alice()
    fetched(shift, *magnets(account, 1), {"film.mkv": b"a film"})
    _same, transfer = magnets(account, 2)
    folder = Path(settings.DATA_DIR, "library")
    folder.rename(folder.with_name("elsewhere"))
    shift.rounds(2)
    assert (shift.state(transfer), transfer.leased_by) == ("queued", "")
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_name("elsewhere").rename(folder)
    shift.rounds(1)
    assert shift.state(transfer) != "queued"
    assert transfer.leased_by


def test_a_disk_failure_during_an_import_is_reported_and_retried(shift, monkeypatch):
    def fail(*_args):
        raise OSError(errno.EIO, "Input/output error")

    broken, good = magnets(alice(), 2)
    learn_files(shift, broken, size_bytes=7)
    learn_files(shift, good, size_bytes=7)
    with monkeypatch.context() as patched:
        # Only root can make a disk that fails.
        patched.setattr(type(shift.store), "link_all", fail)
        shift.engine.complete(broken, b"content")
        shift.engine.complete(good, b"content")
        shift.rounds(3)
    assert [shift.state(each) for each in (broken, good)] == ["stalled"] * 2
    assert broken.reason == good.reason == "disk_error"
    shift.round(seconds=31)
    shift.rounds(5)
    assert [shift.state(each) for each in (broken, good)] == ["done"] * 2


def test_a_failure_after_one_import_does_not_stop_the_next(shift, once):
    first, second = magnets(alice(), 2)
    learn_files(shift, first, size_bytes=7)
    learn_files(shift, second, size_bytes=7)
    once(TransferControl, "leave")
    shift.engine.complete(first, b"content")
    shift.engine.complete(second, b"content")
    shift.rounds(2)
    assert shift.engine.calls("remove") == [str(first.pk), str(second.pk)]


def test_an_import_into_a_full_account_waits_with_its_data(shift):
    account = alice(space_max_bytes=1000)
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer, size_bytes=7)
    large = a_file(account, "large", size_bytes=1000)
    shift.engine.complete(transfer, b"content")
    shift.rounds(3)
    assert (shift.state(transfer), transfer.reason) == ("no_room", "not_enough_space")
    assert {found.blob for found in shift.store.blobs()} == set()
    library.delete_file(account, large.pk, NOW)
    shift.rounds(3)
    assert shift.state(transfer) == "done"


def test_wishes_start_when_space_appears(shift):
    account = alice(space_max_bytes=150)
    large = a_file(account, "large", size_bytes=100)
    for name in ("First", "Second"):
        with pytest.raises(NotNow):
            add_torrent(account, a_torrent(name), 0, NOW)
    shift.rounds()
    assert transfers.list_rows(account) == []
    library.delete_file(account, large.pk, NOW)
    shift.rounds()
    (taken,) = Transfer.objects.filter(account=account)
    assert (taken.title, taken.state, taken.kind) == ("First", "downloading", "torrent")
    assert [wish.title for wish in transfers.wishes(account)] == ["Second"]


def test_a_wish_starts_when_the_queue_has_space(shift, settings):
    settings.QUEUE_LIMIT = 1
    account = alice()
    (first,) = magnets(account, 1)
    with pytest.raises(NotNow):
        transfers.add_magnet(account, magnet("f", "Later"), 0, NOW)
    finish(shift, first)
    shift.rounds()
    assert [each.title for each in transfers.list_rows(account)] == ["Later"]


# The same torrent


def test_a_hybrids_two_magnets_become_one_transfer(shift):
    account = alice()
    first = transfers.add_magnet(account, magnet("a"), 0, NOW)
    second = transfers.add_magnet(account, f"magnet:?xt=urn:btmh:1220{'b' * 64}", 0, NOW)
    shift.round()
    shift.engine.metadata(first, hash_v2="b" * 64)
    shift.rounds(2)
    assert shift.state(first) == "downloading"
    assert (shift.state(second), second.reason) == ("failed", "same_torrent")
    assert shift.engine.calls("remove") == [str(second.pk)]
    for uri in (magnet("a"), f"magnet:?xt=urn:btmh:1220{'b' * 64}"):
        assert transfers.add_magnet(account, uri, 0, NOW) == first


def test_the_later_duplicate_gives_way_even_if_its_metadata_arrives_first(shift):
    account = alice()
    first = transfers.add_magnet(account, magnet("a"), 0, NOW)
    second = transfers.add_magnet(account, f"magnet:?xt=urn:btmh:1220{'b' * 64}", 0, NOW)
    shift.round()
    shift.engine.metadata(second, hash_v1="a" * 40)
    shift.rounds(2)
    assert (shift.state(first), shift.state(second)) == ("metadata", "failed")
    assert decode_details(second.details) == Details("same_torrent")


def test_two_accounts_can_add_one_torrent_and_it_is_fetched_once(shift):
    mine = transfers.add_magnet(alice(), magnet(name="Mine"), 0, NOW)
    theirs = transfers.add_magnet(mallory(), magnet(name="Theirs"), 0, NOW)
    finish(shift, mine)
    assert shift.engine.calls("add") == [str(mine.pk)]
    assert [shift.state(each) for each in (mine, theirs)] == ["done", "done"]
    files = File.objects.order_by("pk")
    assert [(file.name, file.account_id) for file in files] == [
        ("Mine", mine.account_id),
        ("Theirs", theirs.account_id),
    ]
    assert files[0].blob != files[1].blob


@pytest.mark.slow
@pytest.mark.parametrize("trouble", [OperationalError("database is locked"), DiskFull()])
def test_a_transfer_that_cannot_borrow_files_tries_again(shift, once, trouble):
    mine = transfers.add_magnet(alice(), magnet(), 0, NOW)
    theirs = transfers.add_magnet(mallory(), magnet(), 0, NOW)
    learn_files(shift, mine, 7)
    once(DownloadFolder, "borrow", trouble)
    shift.executor = held_back = Later()
    shift.engine.complete(mine, b"content")
    shift.rounds(2)
    assert shift.state(mine) == "moving"
    shift.rounds(32)
    held_back.go_on()
    shift.rounds(3)
    held_back.go_on()
    shift.rounds(3)
    assert [shift.state(each) for each in (mine, theirs)] == ["done", "done"]
    assert shift.engine.calls("add") == [str(mine.pk)]


def test_partial_files_are_replaced_by_the_other_transfers_complete_ones(shift):
    mine = transfers.add_magnet(alice(), magnet(), 0, NOW)
    theirs = transfers.add_magnet(mallory(), magnet(), 0, NOW)
    download_folder(theirs.pk).make(theirs)
    download_folder(theirs.pk).file(0).write_bytes(bytes(7))
    finish(shift, mine)
    assert shift.state(theirs) == "done"
    with shift.store.open(File.objects.get(pk=theirs.file_created_id).blob) as content:
        assert content.read() == b"content"


def test_nothing_is_fetched_into_a_file_that_another_has_in_the_library(shift):
    """A worker that dies between borrowing and importing leaves one file with two names."""
    mine = transfers.add_magnet(alice(), magnet(), 0, NOW)
    theirs = transfers.add_magnet(mallory(), magnet(), 0, NOW)
    learn_files(shift, mine)
    place = download_folder(theirs.pk)
    place.make(theirs)
    download_folder(mine.pk).file(0).write_bytes(b"content")
    place.borrow(download_folder(mine.pk))
    assert place.file(0).samefile(download_folder(mine.pk).file(0))
    transfers.delete(mine.account, mine.pk, NOW)
    shift.rounds(4)
    assert shift.engine.calls("add")[-1] == str(theirs.pk)
    assert not place.file(0).exists()


def test_a_transfer_waiting_for_another_fetches_the_torrent_if_the_other_is_deleted(shift):
    mine = transfers.add_magnet(alice(), magnet(), 0, NOW)
    theirs = transfers.add_magnet(mallory(), magnet(), 0, NOW)
    learn_files(shift, mine)
    assert shift.state(theirs) == "queued"
    transfers.delete(mine.account, mine.pk, NOW)
    shift.rounds(4)
    assert shift.engine.calls("add") == [str(mine.pk), str(theirs.pk)]
    # Its files are known from the other.
    assert shift.state(theirs) == "downloading"


def test_a_torrent_that_the_engine_finds_to_be_a_duplicate_waits_for_the_first(shift):
    mine = transfers.add_magnet(alice(), magnet("a"), 0, NOW)
    theirs = transfers.add_magnet(mallory(), f"magnet:?xt=urn:btmh:1220{'b' * 64}", 0, NOW)
    learn_files(shift, mine, size_bytes=7, hash_v2="b" * 64)
    shift.engine.broken(theirs, "same_torrent", other=str(mine.pk))
    shift.rounds(3)
    assert shift.state(theirs) == "queued"
    shift.engine.complete(mine, b"content")
    shift.rounds(4)
    assert [shift.state(each) for each in (mine, theirs)] == ["done", "done"]


# Deleting


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_deleting_stops_it_and_frees_its_bytes(shift, rounds):
    account = alice()
    kept = a_file(account, "kept")
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer)
    shift.rounds(rounds)
    download_folder(transfer.pk).file(0).write_bytes(b"some")
    transfers.delete(account, transfer.pk, NOW)
    shift.rounds(3)
    assert shift.engine.calls("remove") == [str(transfer.pk)]
    assert list(ids_on_disk()) == []
    assert File.objects.get() == kept


def test_the_folder_stays_until_the_engine_has_released_it(shift):
    account = alice()
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer)
    shift.engine.lets_go = False
    transfers.delete(account, transfer.pk, NOW)
    shift.rounds(3)
    assert list(ids_on_disk()) == [transfer.pk]
    shift.engine.news.append(TorrentGone(str(transfer.pk)))
    shift.rounds(2)
    assert list(ids_on_disk()) == []


def test_folders_of_deleted_transfers_are_swept(shift):
    download_folder(4711).path.mkdir(parents=True)
    (transfer,) = magnets(alice(), 1)
    shift.round()
    assert list(ids_on_disk()) == [transfer.pk]


def test_folders_of_another_database_stay(shift):
    assert shift.store.claim_for("the lost one")
    download_folder(4711).path.mkdir(parents=True)
    shift.round()
    assert list(ids_on_disk()) == [4711]


def test_deleting_an_account_stops_its_transfers(shift):
    account = alice()
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer)
    accounts.remove(account, NOW)
    shift.rounds(3)
    assert shift.engine.calls("remove") == [str(transfer.pk)]
    assert list(ids_on_disk()) == []


def test_a_failed_one_frees_its_bytes_and_stays_listed_until_it_is_deleted(shift):
    account = alice()
    (transfer,) = magnets(account, 1)
    shift.round()
    shift.engine.broken(transfer, "invalid_torrent", Details("torrent_empty"))
    shift.rounds(3)
    assert (shift.state(transfer), transfer.reason) == ("failed", "invalid_torrent")
    assert decode_details(transfer.details) == Details("torrent_empty")
    assert list(ids_on_disk()) == []
    assert [each.id for each in transfers.list_rows(account)] == [transfer.pk]


# Seeding


def test_a_finished_torrent_is_given_to_others_until_it_is_enough():
    shift = Shift(seeds=True)
    account = alice()
    (transfer,) = magnets(account, 1)
    finish(shift, transfer)
    assert shift.state(transfer) == "done"
    assert transfers.list_rows(account) == []
    assert shift.engine.calls("seed") == [str(transfer.pk)]
    assert download_folder(transfer.pk).file(0).stat().st_nlink == 2
    shift.engine.status(transfer, phase="seeding", uploaded_bytes=7)
    shift.round()
    transfer.refresh_from_db()
    assert transfer.uploaded_bytes == 7
    shift.engine.news.append(Seeded(str(transfer.pk)))
    shift.rounds(3)
    transfer.refresh_from_db()
    assert (transfer.is_seeding, transfer.leased_by) == (False, "")
    assert list(ids_on_disk()) == []
    assert File.objects.get().pk == transfer.file_created_id


def test_an_import_during_an_engine_restart_is_shared_with_other_transfers():
    landing = Later()
    shift = Shift(landing, seeds=True)
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer, size_bytes=7)
    download_folder(transfer.pk).keep_torrent(b"the torrent")
    shift.engine.complete(transfer, b"content")
    shift.round()
    shift.engine.restart()
    shift.round()
    landing.go_on()
    shift.round()
    assert shift.state(transfer) == "done"
    assert shift.engine.orders[str(transfer.pk)].seeding


def test_seeding_holds_no_place():
    shift = Shift(seeds=True, active_transfers=1)
    first, second = magnets(alice(), 2)
    finish(shift, first)
    assert shift.state(second) == "metadata"


def test_deleting_a_finished_transfer_ends_its_seeding_and_keeps_its_files():
    shift = Shift(seeds=True)
    account = alice()
    (transfer,) = magnets(account, 1)
    finish(shift, transfer)
    transfers.delete(account, transfer.pk, NOW)
    shift.rounds(3)
    assert shift.engine.calls("remove") == [str(transfer.pk)]
    assert list(ids_on_disk()) == []
    assert names(account) == ["Sintel"]


def test_deleting_the_files_ends_the_seeding():
    shift = Shift(seeds=True)
    account = alice()
    (transfer,) = magnets(account, 1)
    finish(shift, transfer)
    library.delete_file(account, File.objects.get().pk, NOW)
    shift.round(seconds=61)
    shift.rounds(2)
    assert list(ids_on_disk()) == []


def test_seeding_continues_after_a_restart():
    shift = Shift(seeds=True)
    (transfer,) = magnets(alice(), 1)
    finish(shift, transfer)
    download_folder(transfer.pk).keep_torrent(b"the torrent")
    Transfer.objects.update(uploaded_bytes=5)
    shift.worker.stop(1)
    shift.begin()
    shift.round()
    order = shift.engine.orders[str(transfer.pk)]
    assert (order.seeding, order.uploaded_bytes) == (True, 5)


def test_a_torrent_seeding_since_before_a_restart_is_shared_with_new_transfers():
    shift = Shift(seeds=True)
    mine = transfers.add_magnet(alice(), magnet(), 0, NOW)
    finish(shift, mine)
    download_folder(mine.pk).keep_torrent(b"the torrent")
    shift.worker.stop(1)
    shift.begin()
    shift.round()
    shift.engine.metadata(mine, files=[("Sintel", 7)])
    theirs = transfers.add_magnet(mallory(), magnet(), 0, NOW)
    shift.rounds(4)
    assert shift.state(theirs) == "done"
    assert shift.engine.calls("add") == [str(mine.pk)]


def test_a_seeding_torrent_whose_files_are_gone_stops_seeding():
    shift = Shift(seeds=True)
    (transfer,) = magnets(alice(), 1)
    finish(shift, transfer)
    shift.worker.stop(1)
    download_folder(transfer.pk).remove()
    shift.begin()
    shift.rounds(2)
    assert shift.engine.calls("add") == []
    transfer.refresh_from_db()
    assert transfer.is_seeding is False


# Leases


def test_a_worker_that_stopped_leaves_its_transfers_to_the_next(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    shift.worker.stop(1)
    assert shift.engine.is_stopped
    other = Shift()
    other.round()
    assert other.engine.calls("add") == [str(transfer.pk)]


def test_a_dead_workers_transfers_are_taken_over_when_its_lease_ends(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    other = Shift()
    other.round(seconds=20)
    assert other.engine.calls("add") == []
    other.round(seconds=3)
    assert other.engine.calls("add") == [str(transfer.pk)]


def test_a_worker_whose_process_ended_is_not_waited_for(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    end_process_of(shift.lease)
    other = Shift()
    other.round()
    assert other.engine.calls("add") == [str(transfer.pk)]


def test_a_worker_takes_over_as_many_transfers_as_it_has_slots():
    shift = Shift(active_transfers=3)
    first, second, third, queued = magnets(alice(), 4)
    shift.round()
    end_process_of(shift.lease)
    other = Shift(active_transfers=2)
    other.round()
    assert other.engine.calls("add") == [str(first.pk), str(second.pk)]
    finish(other, first)
    assert other.engine.calls("add")[2:] == [str(third.pk)]
    assert other.state(queued) == "queued"


def test_a_worker_that_slept_too_long_releases_everything_before_it_acts(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    asleep, slept = shift.engine, len(shift.engine.log)
    other = Shift()
    other.round(seconds=30)
    shift.engine.complete(transfer, b"x" * 100)
    shift.round(seconds=30)
    assert asleep.is_stopped
    assert asleep.log[slept:] == []
    assert shift.state(transfer) == "downloading"
    shift.rounds(2)
    assert shift.engine is not asleep
    assert shift.engine.calls("add") == []


def test_files_hashed_on_arrival_are_not_hashed_again(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer, size_bytes=7)
    arrive(shift, transfer, b"con", b"cont")
    shift.engine.complete(transfer, b"con???t")
    shift.rounds(3)
    assert sha1_of_only_file() == sha1(b"cont??t").hexdigest()


def test_nothing_that_was_hashed_before_a_check_is_used_after_it(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer, size_bytes=7)
    arrive(shift, transfer, b"???", b"", b"c")
    shift.engine.complete(transfer, b"content")
    shift.rounds(3)
    assert sha1_of_only_file() == sha1(b"content").hexdigest()


def test_a_file_that_cannot_be_read_yet_is_hashed_at_the_end(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer, size_bytes=7)
    shift.engine.news.append(Arrived(str(transfer.pk), 0, 3))
    shift.round()
    shift.engine.complete(transfer, b"content")
    shift.rounds(3)
    assert sha1_of_only_file() == sha1(b"content").hexdigest()


def arrive(shift, transfer, *beginnings):
    """Report each beginning of the transfer's only file as final, one after the other."""
    for content in beginnings:
        download_folder(transfer.pk).file(0).write_bytes(content)
        shift.engine.news.append(Arrived(str(transfer.pk), 0, len(content)))
        shift.round()


def sha1_of_only_file():
    return File.objects.get().sha1


def test_a_landing_of_a_worker_that_lost_its_lease_leaves_nothing(shift, monkeypatch):
    account = alice()
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer, size_bytes=7)
    link_all = type(shift.store).link_all

    def slowly(store, *more):
        Transfer.objects.update(leased_by="another")
        return link_all(store, *more)

    # The lease must end during the import, at a moment when the import calls the store.
    monkeypatch.setattr(type(shift.store), "link_all", slowly)
    shift.engine.complete(transfer, b"content")
    shift.rounds(2)
    assert names(account) == []
    assert list(shift.store.blobs()) == []
    assert shift.state(transfer) == "moving"


def test_many_workers_share_the_queue():
    queue = magnets(alice(), 6)
    one, two = Shift(active_transfers=2), Shift(active_transfers=2)
    for shift in (one, two):
        shift.rounds(2)
    added = one.engine.calls("add") + two.engine.calls("add")
    assert sorted(added) == sorted(str(each.pk) for each in queue[:4])


# Restarts


@pytest.mark.slow
@pytest.mark.parametrize("state", ["metadata", "downloading", "stalled", "moving", "no_room"])
def test_running_work_continues(state):
    account = alice()
    (transfer,) = magnets(account, 1)
    Transfer.objects.update(state=state, size_bytes=7)
    shift = Shift()
    finish(shift, transfer)
    assert shift.state(transfer) == "done"


def test_a_folder_left_by_another_transfer_is_emptied_first(shift):
    """A restored database counts up from an older number, and so reuses ids."""
    (transfer,) = magnets(alice(), 1)
    place = download_folder(transfer.pk)
    place.path.mkdir(parents=True)
    (place.path / "resume").write_bytes(b"of another")
    shift.round()
    assert not (place.path / "resume").exists()


def test_the_engine_that_died_gets_everything_again(shift):
    first, second = magnets(alice(), 2)
    learn_files(shift, first)
    shift.engine.restart()
    shift.round()
    assert sorted(shift.engine.orders) == sorted([str(first.pk), str(second.pk)])
    shift.engine.metadata(first)
    shift.round()
    assert shift.state(first) == "downloading"
    assert shift.engine.calls("proceed") == [str(first.pk)] * 2


def test_the_engine_that_died_pauses_nothing_that_it_does_not_know(shift, once):
    """The engine would keep the pause for a torrent that never arrives."""
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer)
    shift.engine.restart()
    once(DownloadFolder, "make", DiskFull())
    shift.round()
    assert (shift.state(transfer), transfer.reason) == ("no_room", "disk_full")
    assert shift.engine.calls("pause") == []


def test_a_torrent_that_crashes_the_engine_three_times_is_set_aside(shift):
    culprit, other = magnets(alice(), 2)
    shift.round()
    for strike in (1, 2, 3):
        shift.engine.restart(culprit)
        shift.round()
        culprit.refresh_from_db()
        assert culprit.strikes == strike
    assert (shift.state(culprit), culprit.reason) == ("failed", "engine_crashed")
    assert list(shift.engine.orders) == [str(other.pk)]


def test_files_that_vanish_from_the_disk_are_fetched_again(shift):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer, size_bytes=7)
    shift.engine.complete(transfer)
    shift.rounds(3)
    assert shift.engine.calls("add") == [str(transfer.pk)] * 2
    shift.engine.metadata(transfer, files=[("Sintel", 7)])
    shift.round()
    shift.engine.complete(transfer, b"content")
    shift.rounds(2)
    assert shift.state(transfer) == "done"


def test_a_transfer_whose_files_keep_vanishing_fails(shift):
    (transfer,) = magnets(alice(), 1)
    for _ in range(3):
        learn_files(shift, transfer, size_bytes=7)
        shift.engine.complete(transfer)
        shift.rounds(3)
    assert (shift.state(transfer), transfer.reason) == ("failed", "disk_error")


def test_a_transfer_that_raises_stops_no_other_and_is_retried(shift, once, caplog):
    once(identity, "identify")
    first, second = magnets(alice(), 2)
    shift.round()
    shift.engine.metadata(first)
    shift.engine.metadata(second)
    shift.round()
    assert (shift.state(first), shift.state(second)) == ("metadata", "downloading")
    assert f"unexpected Metadata transfer={first.pk}" in caplog.text
    shift.rounds(12)
    learn_files(shift, first)
    assert shift.state(first) == "downloading"


def test_a_transfer_that_fails_during_an_engine_restart_is_added_later(shift, once):
    both = magnets(alice(), 2)
    shift.round()
    once(DownloadFolder, "make")
    shift.engine.restart()
    shift.round()
    assert list(shift.engine.orders) == [str(both[1].pk)]
    shift.rounds(12)
    assert set(shift.engine.orders) == {str(each.pk) for each in both}


# Titles and names


def test_a_magnet_without_a_name_takes_that_of_its_metadata_everywhere_at_once(shift):
    account = alice()
    a_file(account, "Sintel")
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    learn_files(shift, transfer)
    assert shift.state(transfer) == "downloading"
    assert transfer.title == "Sintel (2)"
    assert a_folder(account, "a" * 40)
    with pytest.raises(NameTaken):
        a_folder(account, "Sintel (2)")
    learn_files(shift, transfer)
    assert Transfer.objects.get().title == "Sintel (2)"


def test_a_magnets_own_name_stays(shift):
    transfer = transfers.add_magnet(alice(), magnet(name="Mine"), 0, NOW)
    learn_files(shift, transfer)
    transfer.refresh_from_db()
    assert transfer.title == "Mine"


def test_the_folder_that_was_the_destination_vanished(shift):
    account = alice()
    films = a_folder(account)
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), films.pk, NOW)
    learn_files(shift, transfer, size_bytes=7)
    library.delete_folder(account, films.pk, NOW)
    shift.engine.complete(transfer, b"content")
    shift.rounds(3)
    transfer.refresh_from_db()
    assert names(account) == ["Sintel"]
    assert (transfer.state, transfer.notice) == ("done", "folder_gone")


def test_files_land_in_the_requested_folder(shift):
    account = alice()
    films = a_folder(account)
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), films.pk, NOW)
    finish(shift, transfer)
    assert names(account, films.pk) == ["Sintel"]


def test_equal_names_are_numbered_and_padding_is_dropped(shift):
    account = alice()
    transfer = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    shift.round()
    paths = ["a", "a", "é", "e\u0301", "b", "b/c", "../../x", "con\x00trol"]
    shift.engine.metadata(transfer, files=[(path, 1) for path in paths])
    shift.round()
    shift.engine.complete(transfer, *[b"%d" % number for number in range(len(paths))])
    shift.rounds(3)
    transfer.refresh_from_db()
    folder = Folder.objects.get(pk=transfer.folder_created_id)
    assert names(account, folder.pk) == sorted(
        ["_", "a", "a (2)", "b", "b (2)", "con trol", "é", "é (2)"]
    )
    assert File.objects.count() == len(paths)


def test_padding_and_links_are_no_files(shift):
    account = alice()
    transfer = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    shift.round()
    files = (
        FileOf(0, ("a",), 7, is_padding=False, is_symlink=False),
        FileOf(1, (".pad", "9"), 9, is_padding=True, is_symlink=False),
        FileOf(2, ("link",), 0, is_padding=False, is_symlink=True),
        FileOf(3, ("empty",), 0, is_padding=False, is_symlink=False),
    )
    shift.engine.news.append(
        Metadata(str(transfer.pk), "Films", "a" * 40, "", False, True, 7, files)
    )
    shift.round()
    download_folder(transfer.pk).file(3).touch()
    shift.engine.complete(transfer, b"content")
    shift.rounds(3)
    transfer.refresh_from_db()
    assert names(account, transfer.folder_created_id) == ["a", "empty"]


# Addresses


@pytest.mark.parametrize(
    ("path", "title"),
    # A client looks for the folder by the title that it got.
    [("a.torrent", "a"), ("download?id=7", "Films")],
)
def test_an_address_of_a_torrent_becomes_that_torrent(shift, path, title):
    account = alice()
    transfer = transfers.add_url(account, f"http://example.org/{path}", 0, NOW)
    shift.round()
    shift.fetching.head(transfer, is_torrent=True)
    shift.round()
    assert shift.fetching.calls("proceed") == [str(transfer.pk)]
    shift.fetching.news.append(TorrentFound(str(transfer.pk), a_torrent("Films", files={"a": 100})))
    shift.rounds(2)
    transfer.refresh_from_db()
    assert (transfer.kind, transfer.title, transfer.size_bytes) == ("torrent", title, 100)
    assert shift.engine.calls("add") == [str(transfer.pk)]
    assert download_folder(transfer.pk).torrent.exists()
    assert add_torrent(account, a_torrent("Films", files={"a": 100}), 0, NOW) == transfer


def test_an_address_that_leads_to_a_magnet_becomes_that_magnet(shift):
    transfer = transfers.add_url(alice(), "http://example.org/get", 0, NOW)
    shift.round()
    shift.fetching.news.append(MagnetFound(str(transfer.pk), magnet(name="Sintel")))
    shift.rounds(2)
    transfer.refresh_from_db()
    assert (transfer.kind, transfer.title, transfer.state) == ("magnet", "Sintel", "metadata")
    assert shift.engine.orders[str(transfer.pk)].magnet == magnet(name="Sintel")


def test_an_address_that_leads_to_a_magnet_without_a_name_is_named_by_its_torrent(shift):
    transfer = transfers.add_url(alice(), "http://example.org/get", 0, NOW)
    shift.round()
    shift.fetching.news.append(MagnetFound(str(transfer.pk), magnet()))
    shift.rounds(2)
    transfer.refresh_from_db()
    assert transfer.title == transfer.wire_hash
    shift.engine.metadata(transfer, "Sintel")
    shift.round()
    transfer.refresh_from_db()
    assert transfer.title == "Sintel"


def test_a_url_that_leads_to_a_malformed_magnet_fails(shift):
    transfer = transfers.add_url(alice(), "http://example.org/get", 0, NOW)
    shift.round()
    shift.fetching.news.append(MagnetFound(str(transfer.pk), "magnet:?xt=urn:btih:nonsense"))
    shift.rounds(2)
    assert (shift.state(transfer), transfer.reason) == ("failed", "parsing_error")


def test_a_url_of_a_malformed_torrent_fails(shift):
    transfer = transfers.add_url(alice(), "http://example.org/a.torrent", 0, NOW)
    shift.round()
    shift.fetching.news.append(TorrentFound(str(transfer.pk), b"d8:announce"))
    shift.rounds(2)
    assert (shift.state(transfer), transfer.reason) == ("failed", "not_a_torrent")


def test_a_url_of_an_existing_torrent_gives_way(shift):
    account = alice()
    first = add_torrent(account, a_torrent(), 0, NOW)
    second = transfers.add_url(account, "http://example.org/a.torrent", 0, NOW)
    shift.round()
    shift.fetching.news.append(TorrentFound(str(second.pk), a_torrent()))
    shift.rounds(2)
    assert (shift.state(first), shift.state(second)) == ("downloading", "failed")
    assert second.reason == "same_torrent"


# Added again


def test_files_that_were_deleted_inside_its_folder_are_fetched_again(shift):
    account = alice()
    first = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    folder = fetched(shift, first, FILMS)
    library.rename_folder(account, folder.pk, "My films", NOW)
    delete_named(account, "c.srt")
    again = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    assert again.pk != first.pk
    assert (again.title, again.notice, again.size_bytes) == ("My films", "missing_files", 4)
    assert fetched(shift, again, FILMS).pk == folder.pk
    assert contents(shift, folder) == FILMS
    assert shift.engine.added[str(again.pk)].unwanted == (0, 2)
    assert (again.title, again.size_bytes) == ("My films", 12)
    account.refresh_from_db()
    folder.refresh_from_db()
    assert account.space_used_bytes == folder.size_bytes == 12
    assert transfers.add_magnet(account, magnet(), 0, NOW) == again


def test_refetched_files_take_free_names_and_only_their_own_space(shift):
    account = alice(space_max_bytes=20)
    first = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    folder = fetched(shift, first, FILMS)
    library.delete_folder(account, folder.folders.get().pk, NOW)
    a_file(account, "b", folder=folder, size_bytes=8)
    again = transfers.add_magnet(account, magnet(), 0, NOW)
    fetched(shift, again, FILMS)
    found = File.objects.filter(folder__lineage__startswith=folder.lineage)
    paths = {f"{library.path_of(file.folder)}/{file.name}" for file in found}
    assert paths == {"Films/a.mkv", "Films/b", "Films/b (2)/c.srt", "Films/b (2)/d.srt"}


def test_a_file_renamed_inside_its_folder_is_not_missing(shift):
    account = alice()
    first = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    fetched(shift, first, FILMS)
    library.rename_file(account, File.objects.get(name="c.srt").pk, "other.srt", NOW)
    assert transfers.add_magnet(account, magnet(), 0, NOW) == first


def test_an_emptied_folder_is_refilled_unless_another_was_chosen(shift):
    account = alice()
    first = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    folder = fetched(shift, first, FILMS)
    delete_named(account, "a.mkv", "c.srt", "d.srt")
    again = transfers.add_magnet(account, magnet(), 0, NOW)
    assert fetched(shift, again, FILMS).pk == folder.pk
    delete_named(account, "a.mkv", "c.srt", "d.srt")
    there = a_folder(account, "There")
    moved = transfers.add_magnet(account, magnet(name="Films"), there.pk, NOW)
    assert fetched(shift, moved, FILMS).parent == there


def test_a_refill_fetches_everything_if_the_rest_is_deleted_meanwhile(shift):
    account = alice()
    first = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    folder = fetched(shift, first, FILMS)
    delete_named(account, "c.srt")
    again = transfers.add_magnet(account, magnet(), 0, NOW)
    shift.round()
    library.delete_folder(account, folder.pk, NOW)
    sizes = [(path, len(content)) for path, content in FILMS.items()]
    shift.engine.metadata(again, "Films", sizes)
    shift.round()
    shift.engine.complete(again, b"", b"bbbb", b"")
    shift.rounds(3)
    assert shift.engine.added[str(again.pk)].unwanted == ()
    assert contents(shift, fetched(shift, again, FILMS)) == FILMS


def test_incomplete_torrents_are_never_shared_as_complete(shift):
    account = alice()
    first = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    folder = fetched(shift, first, FILMS)
    delete_named(account, "c.srt")
    again = transfers.add_magnet(account, magnet(), 0, NOW)
    theirs = transfers.add_magnet(mallory(), magnet(name="Films"), 0, NOW)
    fetched(shift, again, FILMS)
    assert contents(shift, folder) == FILMS
    whole = fetched(shift, theirs, FILMS)
    assert contents(shift, whole) == FILMS
    assert shift.engine.added[str(theirs.pk)].unwanted == ()


def test_missing_files_that_fail_or_do_not_fit_come_when_they_can(shift):
    account = alice(space_max_bytes=20)
    content = a_torrent("Films", files={path: len(each) for path, each in FILMS.items()})
    folder = fetched(shift, add_torrent(account, content, 0, NOW), FILMS)
    delete_named(account, "a.mkv", "d.srt")
    mine = a_file(account, "mine", size_bytes=13)
    with pytest.raises(NotNow) as refused:
        add_torrent(account, content, 0, NOW)
    assert refused.value.wish.size_bytes == 8
    library.delete_file(account, mine.pk, NOW)
    shift.rounds(2)
    failed = Transfer.objects.exclude(state="done").get()
    shift.engine.broken(failed, "invalid_torrent", Details("torrent_empty"))
    shift.rounds(2)
    assert (shift.state(failed), failed.notice) == ("failed", "missing_files")
    again = add_torrent(account, content, 0, NOW)
    assert fetched(shift, again, FILMS).pk == folder.pk
    assert contents(shift, folder) == FILMS


@pytest.mark.parametrize("state", ["running", "failed"])
def test_removing_a_refill_keeps_the_record_of_its_folder(shift, state):
    account = alice()
    first = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    folder = fetched(shift, first, FILMS)
    delete_named(account, "c.srt")
    canceled = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    shift.round()
    if state == "failed":
        shift.engine.broken(canceled, "invalid_torrent", Details("torrent_empty"))
        shift.rounds(2)
    transfers.delete(account, canceled.pk, NOW)
    shift.rounds(2)
    assert transfers.list_rows(account) == []
    again = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    assert (again.title, again.notice, again.size_bytes) == ("Films", "missing_files", 4)
    assert fetched(shift, again, FILMS).pk == folder.pk
    assert contents(shift, folder) == FILMS


def test_missing_files_alone_are_not_seeded():
    shift = Shift(seeds=True)
    account = alice()
    folder = fetched(shift, transfers.add_magnet(account, magnet(name="Films"), 0, NOW), FILMS)
    assert shift.engine.calls("seed")
    shift.engine.news.append(Seeded(shift.engine.calls("seed")[0]))
    shift.rounds(2)
    delete_named(account, "c.srt")
    again = transfers.add_magnet(account, magnet(), 0, NOW)
    assert fetched(shift, again, FILMS).pk == folder.pk
    assert not again.is_seeding
    assert len(shift.engine.calls("seed")) == 1


def test_missing_files_are_copied_from_the_folder_that_still_seeds_them():
    shift = Shift(seeds=True)
    account = alice()
    first = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    folder = fetched(shift, first, FILMS)
    delete_named(account, "c.srt")
    again = transfers.add_magnet(account, magnet(), 0, NOW)
    shift.rounds(3)
    assert shift.state(again) == "done"
    assert contents(shift, folder) == FILMS
    assert shift.engine.calls("add") == [str(first.pk)]


def test_a_url_of_a_torrent_fetches_its_missing_files(shift):
    account = alice()
    content = a_torrent("Films", files={path: len(each) for path, each in FILMS.items()})
    folder = fetched(shift, add_torrent(account, content, 0, NOW), FILMS)
    delete_named(account, "a.mkv")
    again = transfers.add_url(account, "http://example.org/a.torrent", 0, NOW)
    shift.round()
    shift.fetching.news.append(TorrentFound(str(again.pk), content))
    shift.rounds(2)
    assert fetched(shift, again, FILMS).pk == folder.pk
    assert contents(shift, folder) == FILMS


def test_a_web_page_is_saved_with_a_warning(shift):
    account = alice()
    transfer = transfers.add_url(account, "http://example.org/film", 0, NOW)
    shift.round()
    shift.fetching.head(transfer, "film", 4, is_page=True)
    shift.round()
    shift.fetching.complete(transfer, b"page")
    shift.rounds(3)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.notice) == ("done", "web_page")


def test_an_unannounced_size_is_read_from_the_file(shift):
    account = alice()
    transfer = transfers.add_url(account, "http://example.org/film.mkv", 0, NOW)
    shift.round()
    shift.fetching.head(transfer, "film.mkv", 0)
    shift.round()
    shift.fetching.complete(transfer, b"content")
    shift.rounds(3)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.size_bytes) == ("done", 7)
    account.refresh_from_db()
    assert account.space_used_bytes == 7


def test_a_disk_too_full_for_the_last_word_on_a_size_is_waited_for(shift, monkeypatch):
    def full(*_args):
        raise DiskFull

    transfer = transfers.add_url(alice(), "http://example.org/film.mkv", 0, NOW)
    shift.round()
    shift.fetching.head(transfer, "film.mkv", 0)
    shift.round()
    shift.fetching.complete(transfer, b"content")
    with monkeypatch.context() as patched:
        # Only root can make a full disk.
        patched.setattr(DownloadFolder, "keep_plan", full)
        shift.round()
    assert (shift.state(transfer), transfer.reason) == ("no_room", "disk_full")
    shift.round(seconds=31)
    shift.rounds(3)
    assert shift.fetching.calls("add") == [str(transfer.pk)] * 2


@pytest.mark.parametrize("word", ["fetch_error", "address_refused", "too_large"])
def test_a_fetch_that_fails_says_why(shift, word):
    transfer = transfers.add_url(alice(), "http://example.org/film.mkv", 0, NOW)
    shift.round()
    shift.fetching.broken(transfer, word, Details("http_status", status=404))
    shift.rounds(2)
    assert (shift.state(transfer), transfer.reason) == ("failed", word)
    assert decode_details(transfer.details) == Details("http_status", status=404)


def test_a_fetch_that_waits_for_space_starts_again(shift):
    account = alice(space_max_bytes=1000)
    transfer = transfers.add_url(account, "http://example.org/film.mkv", 0, NOW)
    shift.round()
    shift.fetching.head(transfer, "film.mkv", 500)
    shift.round()
    large = a_file(account, "large", size_bytes=900)
    shift.rounds(3)
    assert shift.state(transfer) == "no_room"
    assert shift.fetching.calls("remove") == [str(transfer.pk)]
    library.delete_file(account, large.pk, NOW)
    shift.rounds(3)
    assert shift.fetching.calls("add") == [str(transfer.pk)] * 2
    shift.fetching.head(transfer, "film.mkv", 500)
    shift.round()
    assert shift.state(transfer) == "downloading"
