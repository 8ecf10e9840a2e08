from threading import Event, Semaphore, Thread

import pytest
from django.db import close_old_connections, connection

from host.worker.transferring import Transferring, engine_settings
from service.transfers import transfers
from tests.cases import each_case
from tests.service.builders import NOW, alice, magnet

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_connection(monkeypatch):
    """A round would close the test's database connection. And a process caches for a second which
    service it shows, but a test takes less."""

    def close():
        if not connection.in_atomic_block:
            close_old_connections()

    monkeypatch.setattr("host.worker.transferring.close_old_connections", close)
    monkeypatch.setattr("webui.connection.connection.KNOWN_SECONDS", 0)


class Working:
    def __init__(self):
        self.rounds = 0
        self.is_stopped = False
        self.is_idle = False

    def round(self, now):
        self.rounds += 1

    def stop(self, within_seconds):
        self.is_stopped = True


@pytest.mark.slow
def test_rounds_continue_until_the_worker_is_stopped():
    worker, stopped = Working(), Event()

    def make(_wake_up):
        return worker

    def round_and_stop(now):
        worker.rounds += 1
        if worker.rounds == 3:
            stopped.set()

    worker.round = round_and_stop
    Transferring(make).run_until(stopped)
    assert (worker.rounds, worker.is_stopped) == (3, True)


@pytest.mark.django_db(transaction=True)
def test_a_wake_up_starts_a_round_before_the_next_beat(monkeypatch):
    # No setting: with the real poll interval, the next round might come without a wake-up.
    for name in ("POLL_SECONDS", "NOTIFIED_POLL_SECONDS"):
        monkeypatch.setattr(f"host.worker.transferring.{name}", 60)
    account = alice()
    worker, stopped, rounds = Working(), Event(), Semaphore(0)
    worker.round = lambda _now: rounds.release()
    transferring = Transferring(lambda _wake_up: worker)
    running = Thread(target=transferring.run_until, args=(stopped,))
    running.start()
    try:
        for _ in range(3):
            assert rounds.acquire(timeout=30)
            transfers.delete(account, transfers.add_magnet(account, magnet(), 0, NOW).pk, NOW)
    finally:
        stopped.set()
        transferring.wake()
        running.join()
    assert worker.is_stopped


def test_the_engine_is_off_while_the_site_shows_another_service(settings):
    worker = Working()
    transferring = Transferring(lambda _wake_up: worker)
    transferring.round()
    assert worker.rounds == 1
    settings.SERVICE_URL = "https://me:secret@storage.example"
    transferring.round()
    assert (worker.rounds, worker.is_stopped) == (1, True)
    settings.SERVICE_URL = ""
    transferring.round()
    assert worker.rounds == 2


def test_a_failed_round_is_logged_and_the_next_one_runs(caplog):
    worker = Working()

    def fail(now):
        worker.rounds += 1
        raise RuntimeError("tide")

    worker.round = fail
    transferring = Transferring(lambda _wake_up: worker)
    transferring.round()
    transferring.round()
    assert worker.rounds == 2
    assert "tide" in caplog.text


def test_the_settings_reach_the_engine(settings):
    settings.TORRENT_PROXY = "socks5://me:secret@127.0.0.1:1080"
    assert engine_settings().proxy == "socks5://me:secret@127.0.0.1:1080"
    assert engine_settings().network == "loopback"


@each_case(
    ("network", "is_wanted", "is_on"),
    [
        ("internet", True, True),
        ("internet", False, False),
        ("loopback", True, False),
    ],
)
def test_utp_is_on_unless_the_owner_or_the_network_says_otherwise(
    settings, network, is_wanted, is_on
):
    settings.TORRENT_NETWORK, settings.TORRENT_UTP = network, is_wanted
    assert engine_settings().utp is is_on
