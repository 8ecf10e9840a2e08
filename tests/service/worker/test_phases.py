"""What every event leads to in every stage of a run."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from service.details import Details
from service.fetching.events import MagnetFound, TorrentFound, Waiting
from service.models import Account, Transfer
from service.store.blobs import library_store
from service.torrents.events import Complete, Seeded, TorrentBroken, TorrentGone
from service.transfers import transfers
from service.transfers.download_folders import download_folder
from service.worker.import_files import FileImport
from service.worker.leases import Lease
from service.worker.runs.stages import OrderState, Stage
from service.worker.transfer_control import Tools, TransferControl
from service.worker.worker import Shift
from tests.cases import each_case
from tests.service.builders import NOW, a_torrent, alice, magnet, mallory
from tests.service.fakes import FakeEngine, FakeFetching, Later, limits_of

pytestmark = pytest.mark.django_db


class Scene:
    """One of Alice's runs: its methods bring it into a position, or cause an event."""

    def __init__(self):
        shutil.rmtree(settings.DATA_DIR, ignore_errors=True)
        self.now = NOW
        self.engine, self.fetching, self.disk = FakeEngine(), FakeFetching(), Later()
        store, limits = library_store(), limits_of(seeds=True)
        tools = Tools(self.engine, self.fetching, FileImport(store, self.disk))
        self.lease = Lease(Path(settings.DATA_DIR) / "workers")
        self.control = TransferControl(tools, self.lease, limits)
        self.shift = Shift(self.control, store, lambda _now: limits)
        self.account = alice(space_max_bytes=1000)
        self.mine = None

    def round(self, seconds=1):
        self.now += timedelta(seconds=seconds)
        self.lease.hold(self.now, is_engine_alive=True)
        self.shift.round(self.now)

    @property
    def run(self):
        return self.control.runs.get(self.mine.pk)

    def report(self, event, *facts):
        tool = self.fetching if self.mine.kind == "url" else self.engine
        tool.news.append(event(str(self.mine.pk), *facts))

    # Positions of a torrent

    def new(self):
        self.mine = transfers.add_magnet(self.account, magnet(), 0, NOW)
        place = download_folder(self.mine.pk).path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
        self.round()
        place.unlink()

    def starting_over(self):
        self.importing(content=b"lost")
        self.engine.lets_go = False
        self.disk.go_on()
        self.round()

    def added(self):
        self.mine = transfers.add_magnet(self.account, magnet(), 0, NOW)
        self.round()

    def waiting(self):
        self.added()
        self.engine.metadata(self.mine, files=[("Sintel", 5000)])
        self.round()

    def paused(self):
        self.downloading()
        self.no_room()
        self.round()

    def withdrawn(self):
        self.downloading()
        self.engine.lets_go = False
        self.engine.status(self.mine, peers_connected=2, availability=2)
        self.round()
        self.round(seconds=601)

    def without_engine(self):
        self.waiting()
        self.engine.restart()
        self.round()

    def whole(self):
        self.importing()
        self.no_room()
        self.disk.go_on()
        self.round()

    def downloading(self):
        self.added()
        self.engine.metadata(self.mine, files=[("Sintel", 7)])
        self.round()

    def following(self):
        transfers.add_magnet(mallory(), magnet(), 0, NOW)
        self.added()

    def following_withdrawn(self):
        other = transfers.add_magnet(mallory(), magnet("b"), 0, NOW)
        self.added()
        self.engine.lets_go = False
        self.report(TorrentBroken, "same_torrent", None, str(other.pk))
        self.round()

    def importing(self, content=b"content"):
        self.downloading()
        self.engine.complete(self.mine, content)
        self.round()

    def importing_alone(self):
        self.importing()
        self.engine.restart()
        self.round()

    def seeding(self):
        self.importing()
        self.disk.go_on()
        self.round()

    def leaving(self):
        self.added()
        self.engine.lets_go = False
        self.deleted()
        self.round()

    # Positions of a URL

    def address_added(self):
        self.mine = transfers.add_url(self.account, "http://example.org/film.mkv", 0, NOW)
        self.round()

    def address_waiting(self):
        self.address_added()
        self.fetching.head(self.mine, size_bytes=5000)
        self.round()

    def address_downloading(self):
        self.address_added()
        self.fetching.head(self.mine, size_bytes=7)
        self.round()

    # Events

    def metadata(self):
        self.engine.metadata(self.mine, files=[("Sintel", 7)])

    def status(self):
        self.engine.status(self.mine, done_bytes=3, peers_connected=1)

    def complete(self):
        place = download_folder(self.mine.pk)
        place.make(self.mine)
        place.file(0).write_bytes(b"content")
        self.report(Complete)

    def seeded(self):
        self.report(Seeded)

    def disk_full(self):
        self.report(TorrentBroken, "disk_full", Details("disk_full"))

    def broken(self):
        self.report(TorrentBroken, "fetch_error", Details("unreachable"))

    def same_torrent(self):
        other = transfers.add_magnet(self.account, magnet("c"), 0, NOW)
        self.report(TorrentBroken, "same_torrent", None, str(other.pk))

    def gone(self):
        self.report(TorrentGone)

    def restarted(self):
        self.engine.restart()

    def died_of_it(self):
        self.run.transfer.strikes = 2
        self.engine.restart(self.mine)

    def imported(self):
        self.disk.go_on()

    def head(self):
        self.fetching.head(self.mine, size_bytes=7)

    def head_of_torrent(self):
        self.fetching.head(self.mine, is_torrent=True)

    def torrent(self):
        self.report(TorrentFound, a_torrent())

    def link(self):
        self.report(MagnetFound, magnet("d"))

    def server_failed(self):
        self.report(Waiting, Details("timeout"), 60.0)

    def room(self):
        Account.objects.update(space_max_bytes=10**6)
        self.now += timedelta(seconds=31)

    def no_room(self):
        Account.objects.update(space_max_bytes=1)
        self.now += timedelta(seconds=31)

    def deleted(self):
        Transfer.objects.filter(pk=self.mine.pk).delete()
        self.now += timedelta(seconds=11)

    def stopped(self):
        Transfer.objects.filter(pk=self.mine.pk).update(state="stopped")
        self.now += timedelta(seconds=11)


LETTING_GO = {"deleted": Stage.LEAVING, "stopped": Stage.LEAVING}
ALONE = dict.fromkeys(("died_of_it", "deleted", "stopped"))
GONE = dict.fromkeys(("gone", "restarted", "died_of_it"), Stage.ADDED)
FETCHED = LETTING_GO | {
    "complete": Stage.IMPORTING,
    "disk_full": Stage.WAITING,
    "broken": Stage.LEAVING,
}
TORRENT = FETCHED | {"same_torrent": Stage.FOLLOWING, "died_of_it": None}
ADDRESS = FETCHED | {"torrent": Stage.NEW, "link": Stage.NEW}

# By position: its stage, its order, and the stages that events lead to; None if the run ends. No
# other event changes the stage. The next round may lead to a further stage.
LEADS = {
    "new": (Stage.NEW, OrderState.NONE, ALONE | dict.fromkeys(("room", "no_room"), Stage.ADDED)),
    "starting_over": (Stage.NEW, OrderState.WITHDRAWN, LETTING_GO | GONE),
    "added": (Stage.ADDED, OrderState.GIVEN, TORRENT | {"metadata": Stage.DOWNLOADING}),
    "waiting": (Stage.WAITING, OrderState.GIVEN, TORRENT | {"room": Stage.DOWNLOADING}),
    "paused": (Stage.WAITING, OrderState.STARTED, TORRENT | {"room": Stage.DOWNLOADING}),
    "withdrawn": (Stage.WAITING, OrderState.WITHDRAWN, LETTING_GO | GONE),
    "without_engine": (Stage.WAITING, OrderState.NONE, ALONE | {"room": Stage.ADDED}),
    "whole": (Stage.WAITING, OrderState.STARTED, TORRENT | {"room": Stage.IMPORTING}),
    "downloading": (
        Stage.DOWNLOADING,
        OrderState.STARTED,
        TORRENT | {"restarted": Stage.ADDED, "no_room": Stage.WAITING},
    ),
    "following": (Stage.FOLLOWING, OrderState.NONE, ALONE),
    "following_withdrawn": (Stage.FOLLOWING, OrderState.WITHDRAWN, LETTING_GO),
    "importing": (
        Stage.IMPORTING,
        OrderState.STARTED,
        LETTING_GO
        | {"imported": Stage.SEEDING, "disk_full": Stage.WAITING, "broken": Stage.LEAVING},
    ),
    "importing_alone": (Stage.IMPORTING, OrderState.NONE, LETTING_GO | {"imported": None}),
    "seeding": (
        Stage.SEEDING,
        OrderState.STARTED,
        dict.fromkeys(("seeded", "disk_full", "broken", "same_torrent"), Stage.LEAVING)
        | LETTING_GO
        | dict.fromkeys(("restarted", "died_of_it")),
    ),
    "leaving": (Stage.LEAVING, OrderState.WITHDRAWN, dict.fromkeys(GONE)),
    "address_added": (Stage.ADDED, OrderState.GIVEN, ADDRESS | {"head": Stage.DOWNLOADING}),
    "address_waiting": (Stage.WAITING, OrderState.GIVEN, ADDRESS | {"room": Stage.DOWNLOADING}),
    "address_downloading": (
        Stage.DOWNLOADING,
        OrderState.STARTED,
        ADDRESS | {"no_room": Stage.WAITING},
    ),
}
BOTH = ["status", "complete", "disk_full", "broken", "gone", "restarted"]
BOTH += ["room", "no_room", "deleted", "stopped"]
OF_A_TORRENT = [*BOTH, "metadata", "seeded", "same_torrent", "died_of_it", "imported"]
OF_AN_ADDRESS = [*BOTH, "head", "head_of_torrent", "torrent", "link", "server_failed"]
# The engine detects a duplicate torrent before that torrent can be whole.
NEVER = {("importing", "same_torrent")}


def events_of(position):
    return OF_AN_ADDRESS if position.startswith("address") else OF_A_TORRENT


POSSIBLE = {(position, event) for position in LEADS for event in events_of(position)} - NEVER


@pytest.mark.slow
@each_case("position, event", sorted(POSSIBLE))
def test_every_event_leads_where_it_should(library_folder, position, event, caplog):
    caplog.clear()
    stage, order, leads = LEADS[position]
    assert set(leads) <= set(events_of(position))
    scene = Scene()
    getattr(scene, position)()
    assert (scene.run.stage, scene.run.order) == (stage, order)
    getattr(scene, event)()
    scene.round()
    assert (scene.run and scene.run.stage) == leads.get(event, stage)
    assert "unexpected" not in caplog.text


def test_a_transition_that_is_not_drawn_is_logged_and_ends_its_run_alone(library_folder, caplog):
    scene = Scene()
    scene.importing()
    other = transfers.add_magnet(scene.account, magnet("e"), 0, scene.now)
    scene.same_torrent()
    scene.round()
    assert "unexpected TorrentBroken" in caplog.text
    assert "FOLLOW is not drawn from IMPORTING with its order STARTED" in caplog.text
    assert scene.run.stage is Stage.LEAVING
    assert scene.control.runs.get(other.pk).stage is Stage.ADDED
    scene.imported()
    scene.round()
    scene.mine.refresh_from_db()
    assert (scene.mine.state, scene.mine.leased_by) == ("done", "")
    caplog.clear()
