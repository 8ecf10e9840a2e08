"""A database server that stops under a running Ferry, and comes back."""

import httpx
import pytest

from tests.postgresql import cluster
from tests.running import PASSWORD, running
from tests.service.working import until

pytestmark = pytest.mark.slow


def test_ferry_says_once_that_the_database_is_away_and_goes_on_when_it_is_back(tmp_path):
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
        assert ready.status_code == 503
        assert ready.json()["parts"]["database"] == "The database does not answer."

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
