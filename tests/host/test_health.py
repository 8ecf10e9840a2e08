import json
import os
import shutil
import signal
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.functions import Now
from django.db.utils import DatabaseError, OperationalError
from django.utils import timezone

from common.health import Finding
from host import health
from host.worker import measuring
from service.library.upkeep.sweep import sweep
from service.models import Worker
from service.worker import leases
from tests.host.monitoring.test_endpoint import TOKEN, monitored
from tests.host.test_run import children
from tests.running import running
from tests.service.builders import a_file, alice, put
from tests.service.conftest import library_folder
from tests.service.fakes import end_process_of
from tests.service.working import until
from webui.signin.session_store import SessionStore

__all__ = ["library_folder"]


@pytest.fixture(autouse=True)
def _token(settings):
    settings.METRICS_TOKEN = TOKEN


def test_alive_says_so_without_a_database(client):
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.content == b"alive\n"


@pytest.mark.django_db
def test_ready_names_each_part_to_owners(alice, library_folder):
    """This uses a separate library, since files that other tests swept away would be missing."""
    answer = alice.client.get("/readyz")
    assert answer.status_code == 200
    assert json.loads(answer.content) == {
        "ready": True,
        "parts": {
            "database": "ready",
            "pages": "ready",
            "disk": "ready",
            "library": "ready",
            "content": "ready",
            "service": "ready",
            "worker": "No worker runs: transfers wait.",
            "sandbox": "ready",
            "versions": "ready",
        },
    }


@pytest.mark.django_db
def test_a_live_worker_is_reported_with_its_engine(client):
    row = Worker.objects.create(name="a", alive_until=timezone.now() + timedelta(seconds=20))
    assert health.worker().sentence == "The engine isn't responding: torrents wait."
    Worker.objects.update(is_engine_alive=True)
    assert health.worker() is None
    Worker.objects.filter(pk=row.pk).update(alive_until=Now())
    assert health.worker().sentence == "No worker runs: transfers wait."


@pytest.mark.django_db
def test_a_killed_worker_is_reported_before_its_lease_expires(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    lease = leases.Lease(tmp_path / leases.FOLDER)
    lease.hold(timezone.now(), is_engine_alive=True, is_idle=True)
    assert health.worker() is None
    end_process_of(lease)
    assert health.worker().sentence == "No worker runs: transfers wait."


@pytest.mark.django_db
def test_health_ignores_the_worker_while_the_site_shows_another_service(settings):
    assert health.worker()
    settings.SERVICE_URL = "https://me:secret@storage.example"
    assert health.worker() is None


@pytest.mark.django_db
def test_a_part_that_is_not_ready_makes_the_whole_not_ready(client, monkeypatch):
    # A made-up part can fail without harming other tests.
    monkeypatch.setitem(health.CHECKS, "tide", lambda: Finding("tide", "The tide is out."))
    assert parts(client, 503)["tide"] == "The tide is out."


@pytest.mark.django_db
def test_all_others_only_learn_whether_ferry_is_ready(
    client, bob, monkeypatch, library_folder, settings
):
    tokens = [{}, *({"Authorization": each} for each in (f"Bearer {TOKEN}x", f"Basic {TOKEN}"))]
    asking = [(client, headers) for headers in tokens] + [(bob.client, {})]
    for browser, headers in asking:
        answer = browser.get("/readyz", headers=headers)
        assert (answer.status_code, answer.json()) == (200, {"ready": True})
    # As above.
    monkeypatch.setitem(health.CHECKS, "tide", lambda: Finding("tide", "The tide is out."))
    for browser, headers in asking:
        answer = browser.get("/readyz", headers=headers)
        assert (answer.status_code, answer.json()) == (503, {"ready": False})
    assert parts(client, 503)["tide"] == "The tide is out."
    settings.METRICS_TOKEN = ""
    assert "parts" not in client.get("/readyz", headers={"Authorization": "Bearer "}).json()


@pytest.mark.django_db
def test_an_owner_who_signed_in_over_https_sees_each_part(alice, settings, library_folder):
    name = settings.SESSION_COOKIE_NAME
    alice.client.cookies[f"{name}_s"] = alice.client.cookies.pop(name).value
    assert "parts" in alice.client.get("/readyz", secure=True).json()
    assert "parts" not in alice.client.get("/readyz").json()


@pytest.mark.django_db
def test_without_the_database_no_one_is_an_owner(alice, monkeypatch, library_folder):
    def away(*_args):
        raise OperationalError("no such table: django_session")

    # Removing the table would end the transaction of this test.
    monkeypatch.setattr(SessionStore, "load", away)
    answer = alice.client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True})


def test_a_database_that_does_not_respond_is_reported(monkeypatch):
    def broken() -> None:
        raise OperationalError("locked")

    # Breaking the tests' database would break the tests beside this one.
    monkeypatch.setattr(health.User.objects, "exists", broken)
    assert health.database().sentence == "The database isn't responding."


def parts(client, status=200):
    """Return what a monitoring program learns, which sends the token."""
    answer = client.get("/readyz", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)["parts"]


@pytest.mark.django_db
def test_a_check_that_breaks_leaves_the_others(client, monkeypatch, caplog):
    def broken() -> None:
        raise RuntimeError("tide")

    # Breaking the real disk would harm other tests.
    monkeypatch.setitem(health.CHECKS, "disk", broken)
    found = parts(client, 503)
    assert found["disk"] == "The disk can't be looked up."
    assert found["database"] == "ready"
    assert "tide" in caplog.text


@pytest.mark.django_db
def test_an_empty_list_of_static_files_is_reported(client, settings, tmp_path):
    """A power cut may leave such a list."""
    assert parts(client)["pages"] == "ready"
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "staticfiles.json").touch()
    assert parts(client, 503)["pages"] == "The pages' static files are damaged."


@pytest.mark.django_db
def test_a_database_that_a_newer_ferry_changed_is_reported(client):
    MigrationRecorder(connection).record_applied("service", "9999_tomorrow")
    assert "newer version" in parts(client, 503)["database"]


@pytest.mark.django_db
def test_a_missing_library_is_reported(client, library_folder, monkeypatch):
    assert parts(client)["library"] == "ready"
    a_file(alice(), blob=put(library_folder, b"content"))
    assert parts(client)["library"] == "ready"
    shutil.rmtree(library_folder.mark.parent)
    # Each process caches its finding for seconds, and no setting makes it check again.
    monkeypatch.setattr(health.library, "_checked_at", float("-inf"))
    assert parts(client, 503)["library"] == "The library is missing."


@pytest.mark.django_db
def test_missing_content_is_reported_without_names_until_it_is_back(client, library_folder):
    blob = put(library_folder, b"content")
    file = a_file(alice(), "secret.txt", blob=blob)
    place = library_folder.path(blob.blob)
    away = place.rename(place.with_suffix(".away"))
    sweep(library_folder, timezone.now(), timedelta(hours=1))
    message = parts(client)["content"]
    assert message == "The content of some files is missing."
    assert health.content().names == (file.name,)
    away.rename(place)
    sweep(library_folder, timezone.now(), timedelta(hours=1))
    assert parts(client)["content"] == "ready"


DISKS = {
    # Free bytes and free inodes.
    (0, 100): (503, "The disk is full."),
    (10**9, 0): (503, "The disk is full."),
    (10**7, 100): (200, "The disk has no space for more files."),
    (10**9, 100): (200, "ready"),
}


@pytest.mark.django_db
@pytest.mark.parametrize("free", DISKS)
def test_a_disk_without_space_is_reported(client, monkeypatch, free):
    """All tests share a disk, so its figures are faked; tests/faults/test_disks.py fills one."""
    size, entries = free
    full = os.statvfs_result((1, 1, 10**6, size, size, 1000, entries, entries, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _path: full)
    usage = shutil.disk_usage("/")._replace(free=size)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    status, words = DISKS[free]
    assert parts(client, status)["disk"] == words


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("is_sealed", "words"),
    [(True, "ready"), (None, "ready"), (False, "Programs that read media aren't confined.")],
)
def test_a_machine_without_a_sandbox_is_reported(
    client, monkeypatch, library_folder, is_sealed, words
):
    # A test can't change what the kernel supports.
    monkeypatch.setattr(measuring, "is_sealed", lambda: is_sealed)
    measuring.measure(timezone.now())
    assert parts(client)["sandbox"] == words


def test_the_worker_finds_out_whether_this_machine_has_a_sandbox():
    measuring.is_sealed.cache_clear()
    assert measuring.is_sealed() is True


@pytest.mark.slow
def test_a_worker_that_hangs_is_reported_within_a_minute(tmp_path):
    """An idle one keeps its lease for minutes, so that a disk can sleep."""
    with running(tmp_path, TORRENT_PORT="0") as ferry:
        until(lambda: ferry.findings()["worker"] is None)
        worker = children(ferry)["worker"]
        os.kill(worker, signal.SIGSTOP)
        try:
            words = "The worker isn't responding: transfers wait."
            until(lambda: ferry.findings()["worker"] == words, seconds=60)
        finally:
            os.kill(worker, signal.SIGCONT)
        until(lambda: ferry.findings()["worker"] is None)


@pytest.mark.slow
@pytest.mark.sqlite
def test_the_running_program_reports_a_damaged_database(tmp_path):
    """Both a stranger and a browser with a session get the finding, if they send the token."""
    with monitored(tmp_path, TORRENT_PORT="0") as ferry:
        url = f"{ferry.url}/readyz"
        assert until(lambda: ferry.findings()["worker"] is None)
        spoil(tmp_path / "ferry.sqlite3")
        for cookies in ({}, {f"ferry_session_{ferry.port}": "a" * 32}):
            answer = until(lambda cookies=cookies: unready(url, cookies))
            assert answer.json()["parts"]["database"] == "The database is damaged."
        assert httpx.get(url, timeout=60).json() == {"ready": False}


def spoil(place: Path) -> None:
    with closing(sqlite3.connect(place)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with place.open("r+b") as file:
        file.write(b"x" * place.stat().st_size)


def unready(url, cookies):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = httpx.get(url, cookies=cookies, headers=headers, timeout=60)
    assert answer.status_code in (200, 503), answer.text
    return answer if answer.status_code == 503 else None


@pytest.mark.django_db
def test_verify_finds_damage_that_no_one_reads(client, library_folder, monkeypatch):
    """Damaging the tests' database would break the tests beside this one."""

    class Damaged:
        def __enter__(self):
            return self

        def __exit__(self, *_error):
            pass

        def execute(self, _question):
            raise DatabaseError from corrupt()

    measuring.check_database(timezone.now())
    assert parts(client)["database"] == "ready"
    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", Damaged)
        measuring.check_database(timezone.now())
    assert parts(client, 503)["database"] == "The database is damaged."
    measuring.check_database(timezone.now())
    assert parts(client)["database"] == "ready"


def corrupt() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("malformed")
    error.sqlite_errorname = "SQLITE_CORRUPT"
    return error
