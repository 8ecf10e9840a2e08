"""Choices of a torrent's files with real peers, through v1, and under kills of the worker."""

import json
import os
import random
import signal
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace

import httpx
import pytest

from config.embedded import upstream
from service.models import Folder, Transfer
from service.store.blobs import library_store
from service.transfers import choices, transfers
from tests.service.builders import NOW, alice, an_account, mallory
from tests.service.shifts import real_shift
from tests.service.torrents.test_choice import (
    FORTY,
    PIECE_BYTES,
    all_but,
    borders_of,
    bytes_of,
    saving_often,
)
from tests.service.worker.test_swarm import contents
from tests.service.working import until, until_state, working
from tests.swarm import seeder, torrent

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PASSWORD = "a quiet: harbour at noon"
LIMIT = 500_000
# No setting shortens the interval at which the engine saves its progress.
SAVING_OFTEN = """
import sys
from functools import partial
import django
from django.core.management import execute_from_command_line
django.setup()
from host.worker import transferring
transferring.Engine = partial(transferring.Engine, command={command!r})
execute_from_command_line(["manage.py", *sys.argv[1:]])
"""


@pytest.fixture
def account(library_folder):
    return alice(password=PASSWORD)


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
def made(seeds, tmp_path):
    made = torrent("x", FORTY, piece_bytes=PIECE_BYTES)
    seeds.give(made, tmp_path / "given")
    return made


@pytest.fixture
def shift(library_folder, settings):
    settings.SEED_MINUTES = 0
    with real_shift() as shift:
        yield shift


def only(indexes):
    return {path: content for n, (path, content) in enumerate(FORTY.items()) if n in indexes}


def in_library(shift, transfer):
    transfer.refresh_from_db()
    return contents(shift, Folder.objects.get(pk=transfer.folder_created_id))


def choose(api, transfer_id, wanted):
    fields = {"wanted": ",".join(map(str, wanted))}
    answer = api.post(f"/rest/transfer/{transfer_id}/files", data=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def engine_of(work):
    return next((pid for pid, line in work.children().items() if "saving_often.py" in line), None)


def files_of(api, transfer_id):
    return api.get(f"/rest/transfer/{transfer_id}/files").json()["files"]


@pytest.mark.promise("files are chosen before a torrent starts")
def test_files_are_chosen_before_and_after_it_is_done(api, shift, seeds, made):
    form = {"magnet": made.magnet(peer=seeds.address), "choose": "1"}
    transfer = Transfer.objects.get(pk=api.post("/rest/transfer/magnet", data=form).json()["id"])
    shift.until_state(transfer, "stopped")
    assert (transfer.reason, seeds.uploaded_bytes(made)) == ("choose_files", 0)
    shown = files_of(api, transfer.pk)
    assert [(each["index"], each["path"], each["size"]) for each in shown] == [
        (n, path[0], len(content)) for n, (path, content) in enumerate(FORTY.items())
    ]
    assert choose(api, transfer.pk, (5, 20)) == transfer.pk
    shift.until_state(transfer, "done")
    assert in_library(shift, transfer) == only((5, 20))
    assert seeds.uploaded_bytes(made) <= bytes_of((5, 20)) + borders_of((5, 20))
    record = api.get(f"/rest/transfer/{transfer.pk}").json()
    assert json.loads(record["unwanted"]) == sorted(all_but(5, 20))
    there = {each["index"] for each in files_of(api, transfer.pk) if each["progress"] == 100}
    assert there == {5, 20}

    sent_bytes = seeds.uploaded_bytes(made)
    more = Transfer.objects.get(pk=choose(api, transfer.pk, (5, 6, 30)))
    shift.until_state(more, "done")
    assert more.folder_created_id == transfer.folder_created_id
    assert in_library(shift, more) == only((5, 6, 20, 30))
    assert seeds.uploaded_bytes(made) - sent_bytes <= bytes_of((6, 30)) + borders_of((6, 30))


def test_a_magnet_link_chooses_files(account, shift, seeds, made):
    uri = f"{made.magnet(peer=seeds.address)}&so=3,8-9"
    transfer = transfers.add_magnet(account, uri, 0, NOW)
    shift.until_state(transfer, "done")
    assert in_library(shift, transfer) == only((3, 8, 9))
    assert seeds.uploaded_bytes(made) <= bytes_of((3, 8, 9)) + borders_of((3, 8, 9))


@pytest.mark.promise("two accounts choose different files of a torrent")
def test_two_accounts_get_what_each_has_chosen(account, shift, seeds, made):
    wanted_by = {account: {1, 2, 3}, mallory(): {2, 30}, an_account(): {1, 3}}
    seeds.limit_upload(LIMIT)
    three = [
        transfers.add_magnet(each, made.magnet(peer=seeds.address), 0, NOW) for each in wanted_by
    ]
    shift.until(lambda: all(choices.read(each.pk).is_known for each in three))
    for transfer in three:
        choices.choose(transfer.account, transfer.pk, wanted_by[transfer.account], NOW)
    for transfer in three:
        shift.until_state(transfer, "done")
        assert in_library(shift, transfer) == only(wanted_by[transfer.account])
    most_bytes = (
        bytes_of((1, 2, 3)) + borders_of((1, 2, 3)) + bytes_of((2, 30)) + borders_of((2, 30))
    )
    # Until each has chosen, the first fetches everything.
    assert seeds.uploaded_bytes(made) <= most_bytes + LIMIT


def test_after_an_orderly_stop_a_choice_costs_nothing_twice(
    library_folder, settings, account, seeds, made
):
    """Each file that is wanted at first shares its pieces with two that are wanted later."""
    settings.SEED_MINUTES = 0
    seeds.limit_upload(LIMIT)
    uri = f"{made.magnet(peer=seeds.address)}&so={','.join(map(str, range(0, 40, 2)))}"
    with real_shift() as shift:
        transfer = transfers.add_magnet(account, uri, 0, NOW)
        shift.until(lambda: seeds.uploaded_bytes(made) > bytes_of(range(40)) / 3)
    choices.choose(account, transfer.pk, range(40), NOW)
    seeds.limit_upload(0)
    with real_shift() as shift:
        shift.until_state(transfer, "done")
        assert in_library(shift, transfer) == FORTY
    # What was on its way when it stopped is sent again.
    assert seeds.uploaded_bytes(made) <= bytes_of(range(40)) + LIMIT / 2


@pytest.mark.promise("a choice changes under kills of the worker", cases=["0"])
@pytest.mark.parametrize("seed", range(4))
def test_choices_under_kills_end_with_exactly_the_wanted_files(api, seeds, made, tmp_path, seed):
    """Ten random choices among 38 of 40 files, half of them followed by a kill, then these 38.

    Two kills are of the engine alone: with three, the torrent would have failed. A kill costs as
    much as in `tests/service/torrents/test_choice.py`, and the other files a piece at their border.
    """
    seeds.limit_upload(LIMIT)
    program = ("-c", SAVING_OFTEN.format(command=saving_often(tmp_path)))
    dice, kills = random.Random(seed), 0
    form = {"magnet": made.magnet(peer=seeds.address), "choose": "1"}
    transfer_id = api.post("/rest/transfer/magnet", data=form).json()["id"]
    with ExitStack() as workers:
        work = workers.enter_context(working(program=program))
        until_state(api, transfer_id, "stopped")
        for _ in range(10):
            assert choose(api, transfer_id, dice.sample(range(38), 20)) == transfer_id
            more_bytes = seeds.uploaded_bytes(made) + dice.randrange(LIMIT // 4)
            until(lambda most=more_bytes: seeds.uploaded_bytes(made) >= most)
            if dice.random() < 0.5:
                kills += 1
                if kills in (2, 4):
                    os.kill(until(partial(engine_of, work)), signal.SIGKILL)
                else:
                    work.kill()
                    work = workers.enter_context(working(program=program))
        assert choose(api, transfer_id, range(38)) == transfer_id
        until_state(api, transfer_id, "done")
    transfer = Transfer.objects.get(pk=transfer_id)
    assert in_library(SimpleNamespace(store=library_store()), transfer) == only(range(38))
    sent_twice = seeds.uploaded_bytes(made) - bytes_of(range(38)) - PIECE_BYTES
    assert sent_twice <= kills * (LIMIT / 2 + 4 * PIECE_BYTES)
