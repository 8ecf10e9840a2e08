"""A database that stays locked for longer than anyone waits, or is away for a while.

Tested elsewhere: how v1 and the site answer to each failure (tests/service/api/test_endpoints.py,
tests/webui/test_middleware.py), how health checks report it (tests/host/test_health.py), and how
Ferry waits for a short lock (tests/service/test_races.py).
"""

import os
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import httpx
import pytest
from django.db import connection

from host.health import MOST_LOCKED_SECONDS
from service.models import Transfer
from service.transfers.download_folders import ids_on_disk
from tests.faults import test_disks as disks
from tests.faults.reckoning import sum_of
from tests.faults.tally import Reckoning
from tests.faults.test_disks import restart_web
from tests.running import PASSWORD, START_SECONDS, running
from tests.service.builders import a_file, put
from tests.service.working import until, working
from tests.serving import serving
from tests.swarm import torrent

pytestmark = pytest.mark.slow

EMAIL = "alice@example.org"
CONTENT = os.urandom(100_000)
MAKE_ACCOUNT = f"""
from django.utils import timezone
from service.accounts import accounts
accounts.add({EMAIL!r}, {PASSWORD!r}, timezone.now())
"""


@contextmanager
def locked():
    place = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(place, timeout=60, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_change_refused_by_a_locked_database_has_no_effect_and_works_later(
    scene, seeds, chance, tmp_path
):
    """Meanwhile a torrent is fetched, and imported when the lock is gone."""
    kept, doomed = (chance.randbytes(1000) for _ in range(2))
    ids = {}
    for name, content in (("kept", kept), ("doomed", doomed)):
        ids[name] = a_file(scene.account, name, blob=put(scene.store, content)).pk
        scene.promises.hear(sum_of(content), name)
    made = torrent("film.mkv", chance.randbytes(500_000))
    seeds.give(made, tmp_path / "given")
    with serving() as server, working() as work, ThreadPoolExecutor(6) as threads:
        asks = scene.asking(server.url)
        transfer_id = asks.add(made, seeds)
        until(lambda: Transfer.objects.get().state != "queued")
        new = {"upload": chance.randbytes(300_000), "magnet": f"magnet:?xt=urn:btih:{7:040x}"}
        acts = [
            lambda: asks.api.post("/rest/transfer/file", files={"file": ("new", new["upload"])}),
            lambda: asks.api.post(f"/rest/file/{ids['kept']}/rename", data={"rename_to": "other"}),
            lambda: asks.api.delete(f"/rest/file/{ids['doomed']}"),
            lambda: asks.api.post("/rest/folder", data={"path": "Films"}),
            lambda: asks.api.post("/rest/transfer/magnet", data={"magnet": new["magnet"]}),
        ]
        with locked():
            scene.happened("database locked")
            waiting = [threads.submit(act) for act in acts]
            assert asks.api.get("/rest/folder").status_code == 200
            for each in waiting:
                assert each.result().status_code == 503
                assert each.result().headers["Retry-After"]
        until(lambda: Transfer.objects.get(pk=transfer_id).state == "done")
        until(lambda: list(ids_on_disk()) == [])
        scene.all_even()
        assert all(act().status_code == 200 for act in acts)
        assert work.process.poll() is None


AWAY, BACK = "The database is away", "The database is back"


@pytest.mark.sqlite
def test_waiting_for_an_unreachable_database_logs_two_lines(tmp_path, tally):
    """The database vanishes as on an unplugged disk. Ferry doesn't replace it with an empty one."""
    with running(tmp_path, TORRENT_PORT="0") as ferry:
        ferry.manage("shell", "--verbosity=0", "-c", MAKE_ACCOUNT)
        away = tmp_path / "away"
        away.mkdir()
        parts = [part.name for part in tmp_path.glob("ferry.sqlite3*")]
        for part in parts:
            (tmp_path / part).rename(away / part)
        tally.faults["database away"] += 1
        # Processes that opened the database before would still reach it.
        restart_web(ferry)
        with v1(ferry) as api:
            for _again in range(3):
                answer = api.get("/rest/folder")
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
                cookies = {f"ferry_session_{ferry.port}": "a" * 32}
                for path in ("/", "/signin/"):
                    shown = httpx.get(ferry.url + path, cookies=cookies, timeout=60)
                    assert (shown.status_code, shown.headers["Retry-After"]) == (503, "30")
                    assert "reach its database" in shown.text
            assert api.get("/readyz").status_code == 503
            assert ferry.output.saw(AWAY, START_SECONDS)
            assert not any((tmp_path / part).exists() for part in parts)
            for part in parts:
                (away / part).rename(tmp_path / part)
            assert until(lambda: api.get("/rest/folder").status_code == 200)
        assert ferry.output.saw(BACK, START_SECONDS)
        assert (ferry.log.count(AWAY), ferry.log.count(BACK)) == (1, 1)
        assert "Traceback" not in ferry.log


def v1(ferry):
    options = {"auth": (EMAIL, PASSWORD), "timeout": 60, "trust_env": False}
    return httpx.Client(base_url=ferry.url, **options)


def test_a_database_that_was_away_is_found_with_all_its_files(tmp_path, tally):
    """Meanwhile Ferry makes an empty database, and its worker finds blobs that no row names."""
    with running(tmp_path, TORRENT_PORT="0") as ferry:
        ferry.manage("shell", "--verbosity=0", "-c", MAKE_ACCOUNT)
        with v1(ferry) as api:
            sent = {"file": ("film", CONTENT)}
            assert api.post("/rest/transfer/file", files=sent).status_code == 200
        assert until((tmp_path / "library" / "database").exists)
    long_ago = time.time() - 3 * 24 * 3600
    for blob in (tmp_path / "library" / "blobs").glob("*/*/*"):
        os.utime(blob, (long_ago, long_ago))
    away = tmp_path / "away"
    away.mkdir()
    for part in tmp_path.glob("ferry.sqlite3*"):
        part.rename(away / part.name)
    tally.faults["database away"] += 1
    with running(tmp_path, TORRENT_PORT="0") as ferry:
        assert ferry.output.saw("library of another database", START_SECONDS)
    for part in tmp_path.glob("ferry.sqlite3*"):
        part.unlink()
    for part in away.iterdir():
        part.rename(tmp_path / part.name)
    with (
        running(tmp_path, TORRENT_PORT="0") as ferry,
        v1(ferry) as api,
    ):
        (row,) = api.get("/rest/folder").json()["files"]
        came = api.get(f"/rest/file/{row['id']}", follow_redirects=True).content
    found = Reckoning(1, lost=[] if came == CONTENT else ["film"])
    tally.add(found)
    assert found.is_even


def test_while_the_database_is_locked_no_one_waits_half_a_minute(tmp_path):
    """Each write waits for the lock, and a page has several that it doesn't need."""
    with running(tmp_path, TORRENT_PORT="0") as ferry:
        ferry.manage("shell", "--verbosity=0", "-c", disks.MAKE_ACCOUNT)
        ferry.make_owner()
        with (
            closing(disks.Alice(ferry)) as alice,
            closing(sqlite3.connect(tmp_path / "ferry.sqlite3", isolation_level=None)) as other,
        ):
            token = re.findall(r'"X-CSRFToken": "([^"]+)"', alice.site.get("/account/").text)[0]
            ours = {"X-CSRFToken": token, "Referer": ferry.url}
            # It is due to be noted again.
            other.execute("UPDATE webui_device SET last_seen_at = '2020-01-01'")
            other.execute("BEGIN IMMEDIATE")
            restart_web(ferry)
            alice.reopen()
            for path in disks.PAGES:
                page = alice.site.get(path)
                assert (page.status_code, page.elapsed.total_seconds() < 5) == (200, True), path
            for path in ("/files/0/new/", "/account/tokens/", "/signout/"):
                refused = alice.site.post(path, data={"name": "New"}, headers=ours)
                assert refused.elapsed.total_seconds() < 30, path
                assert refused.status_code == 503
                assert "Ferry is busy" in refused.text or "isn&#x27;t responding" in refused.text
            other.execute("ROLLBACK")


def test_a_database_that_another_program_locks_is_named(tmp_path):
    with running(tmp_path, TORRENT_PORT="0", WEB_PROCESSES="2") as ferry:
        url = f"{ferry.url}/readyz"
        assert httpx.get(url).status_code == 200
        place = tmp_path / "ferry.sqlite3"
        with closing(sqlite3.connect(place, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            began_at = time.monotonic()
            until(lambda: httpx.get(url, timeout=60).status_code == 503, seconds=60)
            assert time.monotonic() - began_at > MOST_LOCKED_SECONDS
            words = "Another program has locked the database."
            assert ferry.findings()["database"] == words
            other.execute("ROLLBACK")
        until(lambda: httpx.get(url).status_code == 200)
