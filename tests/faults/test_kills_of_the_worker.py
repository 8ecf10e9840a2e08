"""kill -9 of the worker, of its engine, and of two workers in turn, while torrents are fetched.

Tested elsewhere: kills at every step of the worker (tests/service/worker/test_kills.py); one kill,
an orderly stop, and a sleep beyond the lease (tests/service/worker/test_work.py); and how crashes
of the engine are handled (tests/service/torrents/test_crashes.py).
"""

import os
import signal
from contextlib import ExitStack

import pytest

from service.models import Transfer
from service.transfers.download_folders import ids_on_disk
from tests.service.working import until, working
from tests.serving import serving
from tests.swarm import torrent

pytestmark = pytest.mark.slow

SIZE = 6 * 2**20
SLOWLY = 1_500_000
TORRENTS = 3
MANY = 2000


@pytest.fixture
def asks(scene):
    with serving() as server:
        yield scene.asking(server.url)


def a_film(chance, seeds, tmp_path, number=0):
    made = torrent(f"film {number}.mkv", chance.randbytes(SIZE))
    seeds.give(made, tmp_path / "given")
    return made


def find_transfer(transfer_id):
    return Transfer.objects.get(pk=transfer_id)


def test_a_transfer_whose_worker_is_killed_repeatedly_arrives_once(
    scene, asks, seeds, chance, tmp_path
):
    made = a_film(chance, seeds, tmp_path)
    seeds.limit_upload(SLOWLY // 2)
    transfer_id = asks.add(made, seeds)
    for percent in (0.1, 20, 40, 60):
        with working() as work:
            until(lambda aim=percent: find_transfer(transfer_id).progress_percent >= aim)
            work.kill()
            scene.happened("worker killed")
            assert find_transfer(transfer_id).state != "done"
    seeds.limit_upload(0)
    with working():
        until(lambda: find_transfer(transfer_id).state == "done")
        until(lambda: list(ids_on_disk()) == [])
    scene.all_even()
    assert seeds.uploaded_bytes(made) < 2.5 * SIZE


@pytest.mark.promise("a killed engine loses nothing")
def test_transfers_continue_after_their_engine_is_killed(scene, asks, seeds, chance, tmp_path):
    """There are only two kills: a torrent that is present at a third might be the culprit."""
    films = [a_film(chance, seeds, tmp_path, number) for number in range(2)]
    seeds.limit_upload(SLOWLY)
    with working() as work:
        ids = [asks.add(made, seeds) for made in films]
        for percent in (10, 40):
            until(
                lambda aim=percent: max(find_transfer(each).progress_percent for each in ids) >= aim
            )
            os.kill(until(work.engine), signal.SIGKILL)
            scene.happened("engine killed")
        seeds.limit_upload(0)
        until(lambda: all(find_transfer(each).state == "done" for each in ids))
        until(lambda: list(ids_on_disk()) == [])
    scene.all_even()


def test_when_either_of_two_workers_is_killed_the_other_takes_over(
    scene, asks, seeds, chance, tmp_path
):
    films = [a_film(chance, seeds, tmp_path, number) for number in range(TORRENTS)]
    seeds.limit_upload(SLOWLY)
    with ExitStack() as stack:
        both = [stack.enter_context(working(ACTIVE_TRANSFERS="2")) for _ in range(2)]
        ids = [asks.add(made, seeds) for made in films]
        for share in (10, 25, 40):
            until(
                lambda aim=share: (
                    sum(find_transfer(each).progress_percent for each in ids) >= aim * len(ids)
                )
            )
            both.pop(chance.randrange(2)).kill()
            scene.happened("one of two workers killed")
            both.append(stack.enter_context(working(ACTIVE_TRANSFERS="2")))
        seeds.limit_upload(0)
        until(lambda: all(find_transfer(each).state == "done" for each in ids))
        until(lambda: list(ids_on_disk()) == [])
    scene.all_even()


@pytest.mark.promise("a killed worker loses and doubles nothing")
def test_a_transfer_whose_worker_is_killed_while_it_moves_is_there_once(
    scene, asks, seeds, chance, tmp_path
):
    files = {(f"{number}.txt",): chance.randbytes(100) for number in range(MANY)}
    made = torrent("Films", files)
    seeds.give(made, tmp_path / "given")
    transfer_id = asks.add(made, seeds)
    for _ in range(3):
        with working() as work:
            until(lambda: any(scene.store.blobs()))
            work.kill()
            scene.happened("worker killed while moving")
            assert find_transfer(transfer_id).state != "done"
        # No row names these blobs: the sweep would delete them after an hour.
        for blob in scene.store.blobs():
            scene.store.delete(blob.blob)
    with working():
        until(lambda: find_transfer(transfer_id).state == "done")
        until(lambda: list(ids_on_disk()) == [])
    scene.all_even()
