from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest
from django.core.management import call_command
from django.db import connection as db_connection

from host.storage import release, shared_database
from host.worker import rounds, transferring
from host.worker.rounds import Round
from webui.connection import connection

pytestmark = pytest.mark.django_db


def test_one_failing_round_does_not_stop_the_others(caplog):
    done = []

    def fail(now):
        raise RuntimeError("tide")

    caplog.set_level("ERROR", logger="ferry.worker")
    rounds.run_all(
        [
            Round("fails", timedelta(hours=1), fail),
            Round("works", timedelta(hours=1), done.append),
        ]
    )
    assert len(done) == 1
    assert "'fails'" in caplog.text


def test_the_worker_stops_on_request():
    stopped, ran = Event(), []

    def run(now):
        ran.append(now)
        stopped.set()

    rounds.run_until(stopped, [Round("last", timedelta(hours=1), run)])
    assert len(ran) == 1


def test_long_rounds_run_aside_until_the_block_ends():
    stopped, runs = Event(), Event()
    with rounds.aside(stopped, [Round("long", timedelta(hours=1), lambda _now: runs.set())]):
        assert runs.wait(60)
    assert stopped.is_set()


class Impatient(Event):
    """An event that records how long the worker would sleep, and wakes it soon."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def wait(self, timeout=None):
        self.waits.append(timeout)
        return super().wait(min(timeout, 0.01))


def test_a_frequent_round_does_not_wait_for_a_rare_one():
    stopped, ran = Impatient(), []

    def run_often(now):
        ran.append("often")
        if ran.count("often") == 3:
            stopped.set()

    often = Round("often", timedelta(milliseconds=1), run_often)
    rare = Round("rare", timedelta(hours=1), lambda _now: ran.append("rare"))
    rounds.run_until(stopped, [rare, often])
    assert ran == ["rare", "often", "often", "often"]
    assert max(stopped.waits) <= often.every.total_seconds()


def test_work_once_runs_every_round(monkeypatch):
    ran = []
    # Each round closes database connections, and would close the test's.
    for module in (rounds, transferring):
        monkeypatch.setattr(module, "close_old_connections", lambda: None)
    # So does the check whether a newer Ferry has changed the database.
    monkeypatch.setattr(release, "check_database", lambda: None)
    each = Round("a", timedelta(hours=1), ran.append)
    # Other tests check what the real rounds do; this one counts that each round runs.
    monkeypatch.setattr(rounds, "ROUNDS", [each, each])
    call_command("work", "--once")
    assert len(ran) == 2


def test_only_one_of_several_workers_runs_a_round_of_the_service(monkeypatch):
    # Each round closes database connections, and would close the test's.
    monkeypatch.setattr(rounds, "close_old_connections", lambda: None)
    ran = []
    each = Round("sweep", timedelta(hours=1), ran.append, is_service=True)
    with shared_database.unless_elsewhere("sweep") as may_run:
        assert may_run
        rounds.run_one(each)
    is_shared = db_connection.vendor == "postgresql"
    assert len(ran) == (0 if is_shared else 1)
    rounds.run_one(each)
    assert len(ran) == (1 if is_shared else 2)
    # A pooled session would keep it for as long as the process lives.
    assert not is_shared or locks() == 0


def test_every_worker_sweeps_its_own_disk(monkeypatch):
    # Each round closes database connections, and would close the test's.
    monkeypatch.setattr(rounds, "close_old_connections", lambda: None)
    ran = []
    (sweep,) = [each for each in rounds.ROUNDS if each.name == "media sweep"]
    with shared_database.unless_elsewhere(sweep.name):
        rounds.run_one(replace(sweep, run=ran.append))
    assert len(ran) == 1


# The server also lists the locks of other tests, in their databases.
LOCKS = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
WHERE locktype = 'advisory' AND datname = current_database()
"""


def locks() -> int:
    with db_connection.cursor() as cursor:
        cursor.execute(LOCKS)
        return cursor.fetchone()[0]


@pytest.fixture
def elsewhere(monkeypatch):
    """Each round would close the test's own connection to the database."""
    monkeypatch.setattr(rounds, "close_old_connections", lambda: None)
    connection.store("https://storage.example", "me@example.org", "herring")
    yield
    connection.disconnect()


def test_service_rounds_pause_while_another_service_is_connected(elsewhere):
    ran = []
    each = [
        Round("site", timedelta(hours=1), lambda _now: ran.append("site")),
        Round("service", timedelta(hours=1), lambda _now: ran.append("service"), is_service=True),
    ]
    rounds.run_all(each)
    assert ran == ["site"]
    connection.disconnect()
    rounds.run_all(each)
    assert ran == ["site", "site", "service"]


def test_with_a_service_of_the_environment_they_rest_as_well(settings):
    settings.SERVICE_URL = "https://me:secret@storage.example"
    ran = []
    rounds.run_all([Round("service", timedelta(hours=1), ran.append, is_service=True)])
    assert ran == []


def test_only_the_site_prunes_while_the_service_rests():
    going_on = [each.name for each in rounds.ROUNDS if not each.is_service]
    site = ["held deletions", "crawl for search", "site pruning"]
    machine = ["local name", "certificate", "measuring", "database check"]
    assert going_on == [*site, *machine]
