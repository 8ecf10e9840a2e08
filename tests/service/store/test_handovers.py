"""Transfers that another machine continues, after one has stopped or died."""

import os
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import psycopg
import pytest

from service.worker.saved_fetches import PART_BYTES
from tests.misbehaving import TICK_SECONDS, Wire, serving
from tests.service.api.serving import kill_all, processes_of
from tests.service.fetching.servers import file, first_of
from tests.service.store.clients import client, link_of
from tests.service.working import ask, until, until_progress, until_state
from tests.swarm import seeder, torrent

pytestmark = pytest.mark.slow

BEGUN = 2 * PART_BYTES + 1000
LEASED_BY = "SELECT leased_by FROM service_transfer WHERE id = %s"
SAVED = "SELECT resume->>'safe_bytes' FROM service_savedfetch WHERE transfer_id = %s"


@dataclass
class Halting:
    """A file whose second half trickles, and whose end is sent only once it is released."""

    content: bytes
    may_go_on: Event = field(default_factory=Event)

    def __call__(self, wire: Wire) -> None:
        at = max(BEGUN, first_of(wire))
        file(self.content, cut_after=at - first_of(wire))(wire)
        while not self.may_go_on.wait(TICK_SECONDS):
            wire.send(self.content[at : at + 1])
            at += 1
        wire.send(self.content[at:])


@pytest.fixture
def say(cluster):
    """Return the first value that PostgreSQL answers."""
    with closing(psycopg.connect(cluster.database.url, autocommit=True)) as session:

        def say(statement, *values):
            row = session.execute(statement, values).fetchone()
            return row and row[0]

        yield say


def machine_with(cluster, say, transfer_id):
    """Return the machine whose worker has the transfer, and the other one."""
    worker = until(lambda: say(LEASED_BY, transfer_id))
    pid = Path("/proc", worker.split("-")[-2])
    (one,) = [each for each in cluster.machines if pid in processes_of(each)]
    (other,) = [each for each in cluster.machines if each is not one]
    return one, other


def kill(machine):
    kill_all(machine)
    machine.process.wait(60)


def stop(machine):
    machine.process.terminate()
    machine.process.wait(60)


def replace(cluster, machine, data_dir):
    cluster.machines[cluster.machines.index(machine)] = cluster.start(data_dir)


@pytest.mark.parametrize(("end", "least"), [(kill, 2 * PART_BYTES), (stop, BEGUN)])
def test_another_machine_continues_a_fetch(cluster, say, tmp_path_factory, end, least):
    content = os.urandom(3 * PART_BYTES)
    halting = Halting(content)
    with serving(halting) as server, client(cluster.machines[0]) as api:
        url = f"http://127.0.0.1:{server.port}/{end.__name__}.bin"
        fetch_id = api.post("/rest/transfer/url", data={"url": url}).json()["id"]
        one, other = machine_with(cluster, say, fetch_id)
        until(lambda: int(say(SAVED, fetch_id) or 0) >= 2 * PART_BYTES)
        end(one)
        with client(other) as alive:
            until(lambda: len(server.heads) == 2)
            assert first_of(Wire(None, None, server.heads[1])) >= least
            halting.may_go_on.set()
            done = until_state(alive, fetch_id, "done")
            assert alive.get(link_of(alive, done["file_created"])).content == content
            assert done["reason"] is None
        assert say(SAVED, fetch_id) is None
        replace(cluster, one, tmp_path_factory.mktemp("again"))


def test_a_torrent_whose_machine_dies_starts_over_and_says_so(cluster, say, tmp_path_factory):
    content = os.urandom(6_000_000)
    made = torrent("film.mkv", content)
    with seeder() as seeds, client(cluster.machines[0]) as api:
        seeds.give(made, tmp_path_factory.mktemp("given"))
        seeds.limit_upload(800_000)
        sent = {"magnet": made.magnet(peer=seeds.address)}
        transfer_id = api.post("/rest/transfer/magnet", data=sent).json()["id"]
        until_progress(api, transfer_id, 20)
        one, other = machine_with(cluster, say, transfer_id)
        kill(one)
        with client(other) as alive:
            until(lambda: ask(alive, transfer_id)["reason"] == "started_over")
            seeds.limit_upload(0)
            done = until_state(alive, transfer_id, "done")
            assert alive.get(link_of(alive, done["file_created"])).content == content
        replace(cluster, one, tmp_path_factory.mktemp("again"))


def test_two_accounts_with_one_torrent_share_a_machine(cluster, say, tmp_path_factory):
    content = os.urandom(6_000_000)
    made = torrent("shared.mkv", content)
    with (
        seeder() as seeds,
        client(cluster.machines[0]) as one,
        client(cluster.machines[1], "emil@example.org") as other,
    ):
        seeds.give(made, tmp_path_factory.mktemp("given"))
        seeds.limit_upload(800_000)
        sent = {"magnet": made.magnet(peer=seeds.address)}
        first = one.post("/rest/transfer/magnet", data=sent).json()["id"]
        until_progress(one, first, 5)
        second = other.post("/rest/transfer/magnet", data=sent).json()["id"]
        assert until(lambda: say(LEASED_BY, second)) == say(LEASED_BY, first)
        seeds.limit_upload(0)
        for api, transfer_id in ((one, first), (other, second)):
            done = until_state(api, transfer_id, "done")
            assert api.get(link_of(api, done["file_created"])).content == content
        assert seeds.uploaded_bytes(made) < 1.2 * 6_000_000
