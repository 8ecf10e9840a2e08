"""Stores and database servers that go away under two busy machines, and come back.

Meanwhile, people upload and read at both machines, and one of them fetches a URL. Nothing may be
lost, doubled, or stuck.
"""

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import psycopg
import pytest

from service.store.objects.writer import PART_BYTES
from tests.misbehaving import serving
from tests.service.api.serving import kill_all, processes_of
from tests.service.media.samples import short_film
from tests.service.store.clients import (
    client,
    link_of,
    picture_of,
    segment_of,
    until_made,
    upload,
)
from tests.service.store.conftest import Cluster
from tests.service.store.crowd import Slow, under_load
from tests.service.working import until, until_state

pytestmark = pytest.mark.slow

LARGE = os.urandom(PART_BYTES + 7)
FETCHED = os.urandom(300_000)


@pytest.fixture(scope="module")
def readable(cluster):
    """Return paths that both machines serve, with their contents."""
    with client(cluster.machines[0]) as one:
        film_id = upload(one, short_film("mp4"), "outages.mp4")
        large_id = upload(one, LARGE, "outages.bin")
        answer = one.post("/rest/zip", data={"archive_arr": json.dumps(entries(film_id))})
        archive = httpx.URL(answer.headers["Location"]).raw_path.decode()
        paths = [
            link_of(one, large_id),
            archive,
            picture_of(one, film_id, "220"),
            segment_of(one, film_id),
        ]
        return {path: until_made(one, path).content for path in paths}


def entries(*file_ids: int) -> list[dict[str, object]]:
    return [{"type": "file", "id": file_id} for file_id in file_ids]


@pytest.fixture
def folder_id(one, request):
    answer = one.post("/rest/folder", data={"path": request.node.name})
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def wait_seconds(seconds: float) -> None:
    """Let time pass, as the test requires."""
    Event().wait(seconds)


def test_a_store_that_is_frozen_for_half_a_minute(cluster, folder_id, readable):
    """The fetch becomes whole meanwhile: its import waits."""
    with under_load(cluster, folder_id, readable) as (_crowd, slow), cluster.objects.frozen():
        slow.may_go_on.set()
        wait_seconds(30)


def test_a_store_that_is_killed_and_started_again(cluster, folder_id, readable):
    with under_load(cluster, folder_id, readable) as (crowd, _slow):
        cluster.objects.kill()
        crowd.until_refused()
        cluster.objects.start()


def test_a_database_server_that_crashes_and_starts_again(cluster, folder_id, readable):
    with under_load(cluster, folder_id, readable) as (crowd, _slow):
        cluster.database.stop(signal.SIGQUIT)
        crowd.until_refused()
        cluster.database.start()


def test_a_database_server_that_is_away_for_25_seconds(cluster, folder_id, readable):
    with under_load(cluster, folder_id, readable):
        cluster.database.stop(signal.SIGQUIT)
        wait_seconds(25)
        cluster.database.start()


@pytest.mark.parametrize("way", ["upload", "fetch"])
def test_a_commit_whose_answer_is_lost(cluster, way):
    """PostgreSQL crashes after it has written a commit, while it waits for a standby server."""
    content = FETCHED[::-1]
    slow = Slow(content)
    with (
        serving(slow) as server,
        client(cluster.machines[0]) as api,
        ThreadPoolExecutor(2) as pool,
        admin(cluster) as say,
        admin(cluster) as say_late,
    ):
        if way == "fetch":
            sent = {"url": f"http://127.0.0.1:{server.port}/lost-fetch.bin"}
            fetch_id = api.post("/rest/transfer/url", data=sent).json()["id"]
            assert server.got_request.wait(60)
        with closing(psycopg.connect(cluster.database.url)) as locking:
            locking.execute("LOCK TABLE service_file IN SHARE MODE")
            slow.may_go_on.set()
            if way == "upload":
                files = {"file": ("lost-upload.bin", content)}
                answer = pool.submit(api.post, "/rest/transfer/file", files=files)
            until(lambda: say(WAITING, "relation"))
            say("ALTER SYSTEM SET synchronous_standby_names = 'none'")
            say("SELECT pg_reload_conf()")
            with commits(pool, say_late):
                until(lambda: say(HELD_UP))
        until(lambda: say(WAITING, "SyncRep"))
        say("ALTER SYSTEM RESET synchronous_standby_names")
        cluster.database.stop(signal.SIGQUIT)
        cluster.database.start()
        if way == "upload":
            assert answer.result().status_code == 503
        else:
            until_state(api, fetch_id, "done")
        files = api.get("/rest/folder").json()["files"]
        (file_id,) = [each["id"] for each in files if each["name"] == f"lost-{way}.bin"]
        assert api.get(link_of(api, file_id)).content == content
    for machine in cluster.machines:
        assert "Traceback" not in machine.log


WAITING = """
SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE relation = 'service_file'::regclass AND mode = 'RowExclusiveLock' AND wait_event = %s
"""
COMMIT = "SELECT pg_logical_emit_message(true, '', '')"
HELD_UP = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@contextmanager
def commits(pool: ThreadPoolExecutor, say: Callable[..., Any]) -> Iterator[None]:
    """Commit during the block, time and again: the server takes a moment to heed a new setting."""
    is_over = Event()

    def commit_until_over() -> None:
        while not is_over.is_set():
            say(COMMIT)

    pool.submit(commit_until_over)
    try:
        yield
    finally:
        is_over.set()


@contextmanager
def admin(cluster: Cluster) -> Iterator[Callable[..., Any]]:
    """Yield a function that runs a statement, and returns the first value of its result."""
    with closing(psycopg.connect(cluster.database.url, autocommit=True)) as session:

        def say(statement: str, *values: object) -> Any:
            with suppress(psycopg.OperationalError):
                result = session.execute(statement, values or None)
                return result.fetchone()[0] if result.description else None

        yield say


def test_a_machine_that_dies_while_it_fetches(cluster, tmp_path_factory):
    """Its files are there, and the other machine fetches from the beginning, once."""
    content = FETCHED[1:]
    slow = Slow(content)
    with serving(slow) as server, client(cluster.machines[0]) as api, admin(cluster) as say:
        before_id = upload(api, content[1:], "before.bin")
        sent = {"url": f"http://127.0.0.1:{server.port}/fetched-twice.bin"}
        fetch_id = api.post("/rest/transfer/url", data=sent).json()["id"]
        assert server.got_request.wait(60)
        worker = until(lambda: say(LEASED_BY, fetch_id))
        pid = Path("/proc", worker.split("-")[-2])
        (dying,) = [each for each in cluster.machines if pid in processes_of(each)]
        index = cluster.machines.index(dying)
        kill_all(dying)
        with client(cluster.machines[1 - index]) as alive:
            until(lambda: len(server.heads) == 2)
            slow.may_go_on.set()
            until_state(alive, fetch_id, "done")
            files = alive.get("/rest/folder").json()["files"]
            (file_id,) = [each["id"] for each in files if each["name"] == "fetched-twice.bin"]
            assert alive.get(link_of(alive, file_id)).content == content
            assert alive.get(link_of(alive, before_id)).content == content[1:]
        cluster.machines[index] = cluster.start(tmp_path_factory.mktemp("again"))


LEASED_BY = "SELECT leased_by FROM service_transfer WHERE id = %s"
