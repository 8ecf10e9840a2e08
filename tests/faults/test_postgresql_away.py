"""A database server that stops while Ferry runs, and returns."""

import os
import signal

import httpx
import pytest

from tests.postgresql import cluster
from tests.running import PASSWORD, running
from tests.service.working import until, until_progress, until_state
from tests.swarm import seeder, torrent

pytestmark = pytest.mark.slow

CONTENT = os.urandom(6 * 2**20)
SLOWLY = 1_500_000


def test_ferry_logs_a_database_outage_once_and_recovers(tmp_path):
    with (
        cluster() as server,
        running(tmp_path / "data", DATABASE_URL=server.url) as ferry,
        httpx.Client(base_url=ferry.url, timeout=60, trust_env=False) as stranger,
    ):
        ferry.say("account", "add", "alice@example.com", words=f"{PASSWORD}\n")
        alice = ("alice@example.com", PASSWORD)

        def put(name):
            files = {"file": (name, b"content")}
            return stranger.post("/rest/transfer/file", files=files, auth=alice)

        assert put("before.txt").status_code == 200

        server.stop()
        for _each in range(5):
            for refused in (put("between.txt"), stranger.get("/signin/?next=/transfers/")):
                assert refused.status_code == 503, ferry.log[-3000:]
                assert int(refused.headers["Retry-After"]) > 0
        assert stranger.get("/healthz").status_code == 200
        ready = stranger.get("/readyz")
        assert (ready.status_code, ready.json()) == (503, {"ready": False})

        server.start()
        until(lambda: stranger.get("/readyz").status_code == 200)
        assert put("after.txt").status_code == 200
        listed = stranger.get("/rest/folder", auth=alice).text
        assert "before.txt" in listed
        assert "after.txt" in listed
        assert "between.txt" not in listed
        assert ferry.log.count("The database is away") == 1, ferry.log
        assert ferry.log.count("The database is back") == 1, ferry.log
        assert "Traceback" not in ferry.log


def test_a_transfer_continues_after_the_server_crashes(tmp_path):
    """The worker and its engine continue; Ferry writes their observations afterward."""
    made = torrent("film.mkv", CONTENT)
    with (
        cluster() as server,
        seeder() as seeds,
        running(tmp_path / "data", DATABASE_URL=server.url, SEED_MINUTES="0") as ferry,
        httpx.Client(base_url=ferry.url, timeout=60, trust_env=False) as api,
    ):
        ferry.say("account", "add", "alice@example.com", words=f"{PASSWORD}\n")
        api.auth = ("alice@example.com", PASSWORD)
        seeds.give(made, tmp_path / "given")
        seeds.limit_upload(SLOWLY)
        sent = {"magnet": made.magnet(peer=seeds.address)}
        transfer_id = api.post("/rest/transfer/magnet", data=sent).json()["id"]
        until_progress(api, transfer_id, 10)

        server.stop(signal.SIGQUIT)
        uploaded_bytes = seeds.uploaded_bytes(made)
        until(lambda: seeds.uploaded_bytes(made) > uploaded_bytes + 500_000)
        server.start()
        seeds.limit_upload(0)

        file_id = until_state(api, transfer_id, "done")["file_created"]
        assert api.get(f"/rest/file/{file_id}", follow_redirects=True).content == CONTENT
        assert len(api.get("/rest/folder").json()["files"]) == 1
        assert seeds.uploaded_bytes(made) < 1.5 * len(CONTENT)
        assert ferry.log.count("The database is away") == 1, ferry.log
        assert ferry.log.count("The database is back") == 1, ferry.log
        assert "Traceback" not in ferry.log
