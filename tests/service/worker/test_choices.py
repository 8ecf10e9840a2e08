"""Choices of a torrent's files, with an engine that does what the test says."""

import pytest

from service.errors import CannotChoose, NoRoom
from service.library import library
from service.models import File, Folder, Transfer
from service.store.disk_store import DiskStore
from service.transfers import choices, transfers
from service.transfers.download_folders import download_folder, ids_on_disk
from service.transfers.under_way import Decision, decide
from tests.service.builders import NOW, a_file, a_torrent, add_torrent, alice, magnet, mallory
from tests.service.fakes import Later, Shift, end_process_of
from tests.service.worker.test_worker import contents, delete_named

pytestmark = pytest.mark.django_db

FILES = {"a.mkv": b"aaa", "b/c.srt": b"bbbb", "b/d.srt": b"ddddd", "e.nfo": b"e"}
SIZES = [(path, len(content)) for path, content in FILES.items()]


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


def add(account, **options):
    return transfers.add_magnet(account, magnet(name="Films"), 0, NOW, **options)


def choose(transfer, *wanted):
    return choices.choose(transfer.account, transfer.pk, wanted, NOW)


def learn(shift, transfer):
    shift.round()
    shift.engine.metadata(transfer, "Films", SIZES, is_folder=True)
    shift.round()


def complete(shift, transfer):
    """Have the engine deliver what its order wants, and no other file."""
    order = shift.engine.orders[str(transfer.pk)]
    for index, content in enumerate(FILES.values()):
        if index not in order.unwanted:
            download_folder(transfer.pk).file(index).write_bytes(content)
    shift.engine.complete(transfer)
    shift.rounds(3)


def folder_of(transfer):
    transfer.refresh_from_db()
    assert transfer.state == "done"
    return Folder.objects.get(pk=transfer.folder_created_id)


def only(*indexes):
    return {path: FILES[path] for path in (SIZES[index][0] for index in indexes)}


def listed(transfer):
    transfer.refresh_from_db()
    return [(percent, is_wanted) for *_, percent, is_wanted in choices.list_files(transfer)]


def test_only_wanted_files_are_fetched_and_imported(shift):
    account = alice()
    transfer = add(account)
    learn(shift, transfer)
    assert choose(transfer, 2, 0) == transfer
    shift.round()
    order = shift.engine.orders[str(transfer.pk)]
    assert (order.unwanted, order.choice) == ((1, 3), 1)
    transfer.refresh_from_db()
    assert transfer.size_bytes == 8
    complete(shift, transfer)
    assert contents(shift, folder_of(transfer)) == only(0, 2)
    assert transfer.size_bytes == 8
    account.refresh_from_db()
    assert account.space_used_bytes == 8
    assert choices.unwanted_of(transfer) == [1, 3]
    shift.rounds(2)
    assert list(ids_on_disk()) == []


def test_one_wanted_file_of_several_still_becomes_a_folder(shift):
    transfer = add(alice())
    learn(shift, transfer)
    choose(transfer, 1)
    shift.round()
    complete(shift, transfer)
    folder = folder_of(transfer)
    assert folder.name == "Films"
    assert contents(shift, folder) == only(1)


def test_what_arrived_for_an_earlier_choice_is_not_taken_for_a_later_one(shift):
    transfer = add(alice())
    learn(shift, transfer)
    choose(transfer, 0)
    shift.round()
    order = shift.engine.orders[str(transfer.pk)]
    choose(transfer, 0, 1)
    shift.round()
    # The engine had completed the earlier choice before it heard of the later one.
    shift.engine.orders[str(transfer.pk)] = order
    complete(shift, transfer)
    assert shift.state(transfer) == "downloading"


def test_a_choice_during_the_import_starts_the_download_again(shift):
    shift.executor = Later()
    transfer = add(alice())
    learn(shift, transfer)
    complete(shift, transfer)
    assert shift.state(transfer) == "moving"
    choose(transfer, 3)
    shift.executor.go_on()
    shift.rounds(2)
    assert not File.objects.exists()
    order = shift.engine.orders[str(transfer.pk)]
    assert (order.unwanted, order.choice) == ((0, 1, 2), 1)
    complete(shift, transfer)
    shift.executor.go_on()
    shift.rounds(2)
    assert contents(shift, folder_of(transfer)) == only(3)


def test_a_choice_in_the_last_moment_of_the_import_is_noticed(shift, monkeypatch):
    transfer = add(alice())
    learn(shift, transfer)
    link_all = DiskStore.link_all

    def choose_and_link(*arguments):
        if not Transfer.objects.get().choice:
            choose(transfer, 3)
        return link_all(*arguments)

    # The choice must fall between the two moments in which the import looks for it.
    monkeypatch.setattr(DiskStore, "link_all", choose_and_link)
    complete(shift, transfer)
    assert not File.objects.exists()
    complete(shift, transfer)
    assert contents(shift, folder_of(transfer)) == only(3)


def test_another_worker_continues_with_the_choice(shift):
    transfer = add(alice())
    learn(shift, transfer)
    choose(transfer, 1, 2)
    end_process_of(shift.lease)
    shift.begin()
    shift.rounds(2)
    order = shift.engine.orders[str(transfer.pk)]
    assert (order.unwanted, order.choice) == ((0, 3), 1)


def test_a_restarted_engine_gets_the_choice(shift):
    transfer = add(alice())
    learn(shift, transfer)
    choose(transfer, 1, 2)
    shift.engine.restart()
    shift.rounds(2)
    order = shift.engine.orders[str(transfer.pk)]
    assert (order.unwanted, order.choice) == ((0, 3), 1)


def test_the_quota_counts_only_wanted_bytes(shift):
    account = alice(space_max_bytes=9)
    transfer = add(account)
    learn(shift, transfer)
    assert shift.state(transfer) == "no_room"
    choose(transfer, 0, 2)
    shift.rounds(2)
    assert shift.state(transfer) == "downloading"
    # The pieces at the borders have bytes of other files, too.
    shift.engine.status(transfer, done_bytes=12, wanted_bytes=13)
    shift.rounds(6)
    assert shift.state(transfer) == "downloading"
    choose(transfer, 0, 1, 2)
    shift.rounds(2)
    assert shift.state(transfer) == "no_room"


# Before it starts


def test_a_transfer_that_is_to_choose_stops_once_its_files_are_known(shift):
    account = alice(space_max_bytes=9)
    transfer = add(account, chooses=True)
    shift.round()
    assert shift.state(transfer) == "metadata"
    learn(shift, transfer)
    assert (shift.state(transfer), transfer.reason) == ("stopped", "choose_files")
    assert listed(transfer) == [(0, True)] * 4
    shift.rounds(3)
    assert shift.engine.calls("proceed") == []
    # It has reserved nothing.
    a_torrent_of_nine = a_torrent("Nine", files={"nine": 9})
    transfers.delete(account, add_torrent(account, a_torrent_of_nine, 0, NOW).pk, NOW)
    choose(transfer, 3)
    assert (shift.state(transfer), transfer.reason) == ("queued", "")
    learn(shift, transfer)
    complete(shift, transfer)
    assert contents(shift, folder_of(transfer)) == only(3)


def test_resuming_it_instead_wants_every_file(shift):
    transfer = add(alice(), chooses=True)
    learn(shift, transfer)
    decide(transfer.account, transfer.pk, Decision.RESUME, NOW)
    shift.rounds(2)
    learn(shift, transfer)
    complete(shift, transfer)
    assert contents(shift, folder_of(transfer)) == FILES


def test_a_pause_before_its_files_are_known_does_not_start_it_later(shift):
    transfer = add(alice(), chooses=True)
    shift.round()
    decide(transfer.account, transfer.pk, Decision.PAUSE, NOW)
    shift.rounds(2)
    decide(transfer.account, transfer.pk, Decision.RESUME, NOW)
    learn(shift, transfer)
    assert (shift.state(transfer), transfer.reason) == ("stopped", "choose_files")


def test_a_torrent_of_one_file_starts_without_a_choice(shift):
    transfer = add(alice(), chooses=True)
    shift.round()
    shift.engine.metadata(transfer, files=[("film.mkv", 7)])
    shift.rounds(2)
    assert shift.state(transfer) == "downloading"
    assert not transfer.chooses


def test_what_is_to_choose_waits_for_no_slot():
    shift = Shift(active_transfers=1)
    account = alice()
    add(account, chooses=True)
    first = transfers.add_magnet(account, magnet("b"), 0, NOW)
    shift.rounds(2)
    assert shift.state(first) == "metadata"
    transfer = add_torrent(
        first.account, a_torrent("Films", files=dict(SIZES)), 0, NOW, chooses=True
    )
    other = transfers.add_magnet(first.account, magnet("c"), 0, NOW)
    shift.rounds(2)
    learn(shift, transfer)
    assert shift.state(transfer) == "stopped"
    assert shift.state(other) == "queued"
    choose(transfer, 0)
    shift.rounds(2)
    assert shift.state(transfer) == "queued"


def test_a_torrent_larger_than_the_quota_can_be_added_to_choose_from(shift):
    account = alice(space_max_bytes=9)
    transfer = add_torrent(account, a_torrent("Films", files=dict(SIZES)), 0, NOW, chooses=True)
    learn(shift, transfer)
    shift.rounds(2)
    choose(transfer, 0)
    learn(shift, transfer)
    complete(shift, transfer)
    assert contents(shift, folder_of(transfer)) == only(0)


def test_a_wish_to_choose_stays_one(shift, settings):
    settings.QUEUE_LIMIT = 1
    first = transfers.add_magnet(alice(), magnet("b"), 0, NOW)
    with pytest.raises(transfers.NotNow):
        add(first.account, chooses=True)
    transfers.delete(first.account, first.pk, NOW)
    shift.round()
    assert Transfer.objects.get().chooses


def test_a_magnet_link_chooses_files(shift):
    transfer = transfers.add_magnet(alice(), f"{magnet(name='Films')}&so=0,2-3", 0, NOW)
    learn(shift, transfer)
    assert choices.unwanted_of(transfer) == [1]
    assert shift.engine.orders[str(transfer.pk)].unwanted == (1,)
    complete(shift, transfer)
    assert contents(shift, folder_of(transfer)) == only(0, 2, 3)


def test_a_magnet_link_that_chooses_nothing_there_is_means_everything(shift):
    transfer = transfers.add_magnet(alice(), f"{magnet(name='Films')}&so=7", 0, NOW)
    learn(shift, transfer)
    assert choices.unwanted_of(transfer) == []


def test_a_persons_choice_survives_a_restart_before_that_of_the_link(shift):
    transfer = transfers.add_magnet(alice(), f"{magnet(name='Films')}&so=0", 0, NOW)
    learn(shift, transfer)
    choose(transfer, 1)
    shift.engine.restart()
    learn(shift, transfer)
    assert choices.unwanted_of(transfer) == [0, 2, 3]


# After it is done


def done(shift, account, *wanted):
    transfer = add(account)
    learn(shift, transfer)
    choose(transfer, *wanted)
    shift.round()
    complete(shift, transfer)
    return transfer, folder_of(transfer)


def test_more_files_of_a_finished_torrent_come_into_the_same_folder(shift):
    account = alice()
    transfer, folder = done(shift, account, 0, 1)
    assert listed(transfer) == [(100, True), (100, True), (0, False), (0, False)]
    more = choose(transfer, 1, 2)
    assert (more.size_bytes, more.notice) == (5, "missing_files")
    learn(shift, more)
    assert shift.engine.orders[str(more.pk)].unwanted == (0, 1, 3)
    assert listed(more)[:2] == [(100, True), (100, True)]
    complete(shift, more)
    assert folder_of(more) == folder
    assert contents(shift, folder) == only(0, 1, 2)
    assert choices.unwanted_of(more) == [3]
    assert choose(more, 0) == more


def test_deleted_files_are_not_unwanted_ones(shift):
    account = alice()
    transfer, folder = done(shift, account, 0, 1)
    assert add(account) == transfer
    delete_named(account, "c.srt")
    assert listed(transfer) == [(100, True), (0, True), (0, False), (0, False)]
    again = add(account)
    assert again.size_bytes == 4
    learn(shift, again)
    assert shift.engine.orders[str(again.pk)].unwanted == (0, 2, 3)
    complete(shift, again)
    assert contents(shift, folder) == only(0, 1)
    assert folder_of(again) == folder


def test_a_canceled_fetch_of_more_files_leaves_the_choice_before(shift):
    account = alice()
    content = a_torrent("Films", files=dict(SIZES))
    transfer = add_torrent(account, content, 0, NOW)
    learn(shift, transfer)
    choose(transfer, 0)
    shift.round()
    complete(shift, transfer)
    folder = folder_of(transfer)
    transfers.delete(account, choose(transfer, 0, 2).pk, NOW)
    shift.rounds(3)
    restored = Transfer.objects.get()
    assert listed(restored) == [(100, True), (0, False), (0, False), (0, False)]
    more = choose(restored, 3)
    learn(shift, more)
    assert download_folder(more.pk).torrent.read_bytes() == content
    complete(shift, more)
    assert contents(shift, folder) == only(0, 3)


def test_if_the_folder_is_gone_only_the_wanted_files_come_again(shift):
    account = alice()
    transfer, folder = done(shift, account, 0, 1)
    library.delete_folder(account, folder.pk, NOW)
    more = choose(transfer, 2)
    learn(shift, more)
    complete(shift, more)
    assert contents(shift, folder_of(more)) == only(2)


def test_a_refill_that_wants_nothing_more_ends(shift):
    account = alice()
    transfer, folder = done(shift, account, 0, 1)
    more = choose(transfer, 2)
    learn(shift, more)
    choose(more, 0)
    shift.round()
    complete(shift, more)
    assert folder_of(more) == folder
    assert contents(shift, folder) == only(0, 1)


def test_a_torrent_that_still_seeds_gives_its_own_files_again():
    shift = Shift(seeds=True)
    account = alice()
    transfer = add(account)
    learn(shift, transfer)
    complete(shift, transfer)
    folder = folder_of(transfer)
    assert transfer.is_seeding
    delete_named(account, "a.mkv")
    more = choose(transfer, 0)
    shift.rounds(4)
    assert folder_of(more) == folder
    assert contents(shift, folder) == FILES


def test_more_files_than_fit_are_refused(shift):
    account = alice(space_max_bytes=9)
    transfer = add(account, chooses=True)
    learn(shift, transfer)
    shift.rounds(2)
    choose(transfer, 0)
    learn(shift, transfer)
    complete(shift, transfer)
    mine = a_file(account, "mine", size_bytes=5)
    with pytest.raises(NoRoom):
        choose(transfer, 1)
    assert listed(transfer) == [(100, True), (0, False), (0, False), (0, False)]
    library.delete_file(account, mine.pk, NOW)
    assert choose(transfer, 1) != transfer


# Two accounts


def both(shift, mine, theirs):
    transfers_of = [add(alice()), add(mallory())]
    learn(shift, transfers_of[0])
    for transfer, wanted in zip(transfers_of, (mine, theirs), strict=True):
        choose(transfer, *wanted)
    shift.round()
    # It had begun to arrive when it was no longer wanted.
    download_folder(transfers_of[0].pk).file(3).write_bytes(b"?")
    complete(shift, transfers_of[0])
    return transfers_of


def test_a_follower_gets_its_own_wanted_files_from_the_first(shift):
    mine, theirs = both(shift, (0, 1, 2), (1, 2))
    shift.rounds(3)
    assert contents(shift, folder_of(mine)) == only(0, 1, 2)
    assert contents(shift, folder_of(theirs)) == only(1, 2)
    assert shift.engine.calls("add") == [str(mine.pk)]


def test_a_follower_that_wants_other_files_fetches_them_afterward(shift):
    mine, theirs = both(shift, (0, 1), (1, 3))
    assert contents(shift, folder_of(mine)) == only(0, 1)
    assert not Folder.objects.filter(account=theirs.account, parent__isnull=False).exists()
    learn(shift, theirs)
    complete(shift, theirs)
    assert contents(shift, folder_of(theirs)) == only(1, 3)


def test_a_follower_that_wants_to_choose_sees_the_files_at_once(shift):
    mine = add(alice())
    learn(shift, mine)
    theirs = add(mallory(), chooses=True)
    shift.rounds(3)
    assert (shift.state(theirs), shift.state(mine)) == ("stopped", "downloading")
    choose(theirs, 3)
    shift.rounds(2)
    complete(shift, mine)
    shift.rounds(3)
    assert contents(shift, folder_of(theirs)) == only(3)


# Refusals


def test_a_choice_is_refused_while_it_makes_no_sense(shift):
    transfer = add(alice())

    def word(*wanted):
        with pytest.raises(CannotChoose) as refused:
            choose(transfer, *wanted)
        return refused.value.reason

    assert word(0) == "files_unknown"
    learn(shift, transfer)
    assert (word(), word(0, 4)) == ("nothing_wanted", "unknown_file")
    Transfer.objects.update(state="failed")
    assert word(0) == "transfer_failed"


def test_the_engines_percentages_are_shown(shift):
    transfer = add(alice())
    learn(shift, transfer)
    shift.engine.file_progress(transfer, 100, 50, 0, 0)
    shift.rounds(2)
    assert listed(transfer) == [(100, True), (50, True), (0, True), (0, True)]
