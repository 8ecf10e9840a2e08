"""Transfers that people pause, continue, and put first, in a worker with a fake engine."""

import pytest

from service.models import Transfer
from service.transfers import transfers
from service.transfers.download_folders import download_folder, ids_on_disk
from service.transfers.under_way import Decision, decide, decide_all
from service.worker.runs.run import LARGE_BYTES
from tests.service.builders import NOW, alice, mallory
from tests.service.fakes import Later, Shift, end_process_of
from tests.service.worker.test_worker import finish, learn_files, magnets, torrents, urls

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


def pause(*paused):
    return decide_all(paused[0].account, [each.pk for each in paused], Decision.PAUSE, NOW)


def resume(*resumed):
    return decide_all(resumed[0].account, [each.pk for each in resumed], Decision.RESUME, NOW)


def put_first(transfer):
    decide(transfer.account, transfer.pk, Decision.FIRST, NOW)


# What a paused transfer keeps


@pytest.mark.parametrize("lets_go", [True, False])
def test_the_space_of_a_paused_transfer_stays_reserved(shift, lets_go):
    account = alice(space_max_bytes=1000)
    first, second = magnets(account, 2)
    learn_files(shift, first, 600)
    learn_files(shift, second, 600)
    assert [shift.state(each) for each in (first, second)] == ["downloading", "no_room"]
    shift.engine.lets_go = lets_go
    pause(first)
    shift.rounds(12)
    assert [shift.state(each) for each in (first, second)] == ["stopped", "no_room"]


def test_a_transfer_that_waits_for_space_reserves_none_when_it_is_paused():
    shift = Shift(active_transfers=1)
    account = alice(space_max_bytes=1000)
    large, small = magnets(account, 2)
    learn_files(shift, large, 5000)
    learn_files(shift, small, 400)
    # With a peer, it keeps its slot while others wait.
    shift.engine.status(small, peers_connected=1)
    states = []
    for act in (pause, resume):
        act(large)
        shift.rounds(12)
        states.append([shift.state(each) for each in (large, small)])
    assert states == [["stopped", "downloading"], ["queued", "downloading"]]
    assert shift.engine.calls("pause") == []
    assert large.reason == "not_enough_space"
    finish(shift, small)
    shift.rounds()
    shift.engine.metadata(large, files=[("Sintel", 5000)])
    shift.rounds()
    assert shift.state(large) == "no_room"


def test_a_transfer_that_seeks_its_metadata_can_be_paused():
    shift = Shift(active_transfers=1)
    first, second, third = magnets(alice(), 3)
    shift.round()
    assert shift.state(first) == "metadata"
    pause(first)
    shift.rounds(2)
    assert [shift.state(each) for each in (first, second)] == ["stopped", "metadata"]
    resume(first)
    finish(shift, second)
    assert [shift.state(each) for each in (first, third)] == ["metadata", "queued"]


def test_a_transfer_that_is_being_imported_cannot_be_paused():
    shift = Shift(executor=Later())
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer, 7)
    shift.engine.complete(transfer, b"content")
    shift.rounds(2)
    assert shift.state(transfer) == "moving"
    assert pause(transfer) == []
    shift.executor.go_on()
    shift.rounds(2)
    assert shift.state(transfer) == "done"


@pytest.mark.parametrize("ends", ["stop", "kill", "kill while leaving"])
def test_a_paused_transfer_survives_its_worker(shift, ends):
    (transfer,) = magnets(alice(), 1)
    learn_files(shift, transfer, 7)
    download_folder(transfer.pk).file(0).write_bytes(b"con")
    pause(transfer)
    shift.engine.lets_go = ends != "kill while leaving"
    shift.rounds(2)
    if ends == "stop":
        shift.worker.stop(1)
    else:
        end_process_of(shift.lease)
    shift.begin()
    shift.rounds(3)
    assert (shift.state(transfer), transfer.leased_by) == ("stopped", "")
    assert shift.engine.calls("add") == []
    resume(transfer)
    shift.rounds(2)
    assert download_folder(transfer.pk).file(0).read_bytes() == b"con"
    finish(shift, transfer)
    assert shift.state(transfer) == "done"


def test_a_paused_transfer_can_be_deleted(shift):
    account = alice()
    (transfer,) = magnets(account, 1)
    learn_files(shift, transfer, 7)
    pause(transfer)
    shift.rounds(2)
    transfers.delete(account, transfer.pk, NOW)
    shift.round(seconds=61)
    assert list(ids_on_disk()) == []


def test_a_paused_fetch_may_continue_and_a_deleted_one_may_not(shift):
    account = alice()
    paused, deleted = urls(account, 2)
    shift.rounds()
    pause(paused)
    transfers.delete(account, deleted.pk, NOW)
    shift.rounds()
    assert shift.fetching.continued == {str(paused.pk)}


# The order


def test_a_resumed_transfer_waits_for_its_turn():
    shift = Shift(active_transfers=1)
    first, second, third = magnets(alice(), 3)
    shift.rounds()
    pause(first)
    shift.rounds()
    resume(first)
    shift.rounds()
    states = [shift.state(each) for each in (first, second, third)]
    assert states == ["queued", "metadata", "queued"]
    finish(shift, second)
    assert [shift.state(each) for each in (first, third)] == ["metadata", "queued"]


def test_a_transfer_that_is_put_first_gets_the_slot_of_the_last():
    shift = Shift(active_transfers=2)
    first, second, third = magnets(alice(), 3)
    learn_files(shift, first)
    learn_files(shift, second)
    put_first(third)
    shift.rounds(2)
    states = [shift.state(each) for each in (first, second, third)]
    assert states == ["downloading", "queued", "metadata"]
    assert shift.engine.calls("pause") == [str(second.pk)]
    finish(shift, third)
    assert shift.state(second) == "downloading"
    assert shift.engine.calls("resume") == [str(second.pk)]


def test_a_transfer_without_metadata_gives_way_and_seeks_it_again_later():
    shift = Shift(active_transfers=1)
    first, second = magnets(alice(), 2)
    shift.rounds()
    put_first(second)
    shift.rounds(2)
    assert [shift.state(each) for each in (first, second)] == ["queued", "metadata"]
    finish(shift, second)
    finish(shift, first)
    assert shift.state(first) == "done"


@pytest.mark.parametrize("can_resume", [True, False])
def test_only_a_fetch_that_can_resume_gives_way(can_resume):
    shift = Shift(active_transfers=1)
    first, second = urls(alice(), 2)
    shift.rounds()
    shift.fetching.head(first, can_resume=can_resume)
    shift.rounds()
    assert shift.state(first) == "downloading"
    put_first(second)
    shift.rounds()
    assert (shift.state(first) == "queued") is can_resume
    assert (shift.state(second) == "metadata") is can_resume
    assert shift.fetching.continued == {str(first.pk)} - {can_resume or str(first.pk)}


def test_a_transfer_that_is_put_first_takes_no_slot_of_another_account():
    shift = Shift(active_transfers=1)
    (others,) = torrents(mallory(), 1)
    first, second = torrents(alice(), 1, 2)
    shift.rounds()
    put_first(second)
    shift.rounds()
    states = [shift.state(each) for each in (others, first, second)]
    assert states == ["downloading", "queued", "queued"]
    transfers.delete(others.account, others.pk, NOW)
    shift.rounds()
    assert [shift.state(each) for each in (first, second)] == ["queued", "downloading"]


def test_a_large_transfer_that_is_put_first_needs_no_slot_for_large_ones():
    shift = Shift(active_transfers=2)
    first, second = torrents(alice(), LARGE_BYTES, LARGE_BYTES)
    shift.rounds()
    assert [shift.state(each) for each in (first, second)] == ["downloading", "queued"]
    put_first(second)
    shift.rounds()
    assert [shift.state(each) for each in (first, second)] == ["downloading", "downloading"]


def test_a_magnet_that_is_put_first_keeps_its_slot_when_it_turns_out_large():
    shift = Shift(active_transfers=2)
    account = alice()
    torrents(account, LARGE_BYTES)
    (magnet,) = magnets(account, 1)
    shift.rounds()
    put_first(magnet)
    learn_files(shift, magnet, LARGE_BYTES)
    assert shift.state(magnet) == "downloading"


def test_two_that_are_put_first_do_not_replace_each_other_in_turn():
    shift = Shift(active_transfers=1)
    first, second = torrents(alice(), 1, 2)
    shift.rounds()
    put_first(first)
    put_first(second)
    shift.rounds(10)
    assert [shift.state(each) for each in (first, second)] == ["queued", "downloading"]
    assert len(shift.engine.calls("add")) == 2


def test_a_running_transfer_that_is_put_first_just_goes_on():
    shift = Shift(active_transfers=1)
    first, second = magnets(alice(), 2)
    learn_files(shift, first)
    put_first(second)
    put_first(first)
    shift.rounds(3)
    assert [shift.state(each) for each in (first, second)] == ["downloading", "queued"]
    assert shift.engine.calls("pause") == []


def test_space_that_appears_goes_to_the_first_by_rank():
    shift = Shift()
    account = alice(space_max_bytes=100)
    first, second = magnets(account, 2)
    learn_files(shift, first, 200)
    learn_files(shift, second, 200)
    assert [shift.state(each) for each in (first, second)] == ["no_room", "no_room"]
    put_first(second)
    account.space_max_bytes = 300
    account.save()
    shift.rounds(8)
    assert [shift.state(each) for each in (first, second)] == ["no_room", "downloading"]


def test_two_workers_start_a_transfer_that_is_put_first_only_once():
    one, other = Shift(active_transfers=1), Shift(active_transfers=1)
    first, second, third = torrents(alice(), 1, 2, 3)
    one.rounds(2)
    other.rounds(2)
    assert Transfer.objects.filter(state="downloading").count() == 2
    put_first(third)
    for _round in range(3):
        one.round()
        other.round()
    states = sorted(one.state(each) for each in (first, second))
    assert (states, one.state(third)) == (["downloading", "queued"], "downloading")
