"""Data folders of earlier versions open in this one, with every file; newer ones are refused."""

import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from random import Random

import httpx
import pytest

from tests import tools
from tests.running import BASE, PASSWORD, START_SECONDS, Output, free_port, launch, running
from tests.service.working import until

pytestmark = [pytest.mark.slow, pytest.mark.sqlite]

EMAIL = "me@example.org"
SIZES = (0, 1, 5_000, 3_000_000)
# One of each day on which Ferry could be used, from before and after each kind of content came.
EARLIER = {
    "2026-11-21": "431cde5f204bf1494094aaf8eae35a647cdd72e4",
    "2026-11-23": "09fb2770cfc4b96931f6e9753c46c9fb7026fb47",
    "2026-11-25": "f3e1e5110400f03e23bd5ce6e298ac083a99eb5a",
    "2026-11-28": "e5d49ecdb1e0ec49a55ee5cdc6b492a6b2864628",
    "2026-11-29": "5d5cde2e43be4eb17d9742c294e005c30fb57122",
    "2026-11-30": "ac8b7d757989ce9535cfa88057e8af7d53b2b642",
}
# From this day on, an older Ferry looks for traces of a newer one.
REFUSES_NEWER = "2026-11-25"


@pytest.mark.parametrize("day", EARLIER)
def test_an_earlier_data_folder_opens_with_every_file(day, tmp_path):
    earlier = Earlier(EARLIER[day], tmp_path)
    sent = {f"{size}.bin": Random(size).randbytes(size) for size in SIZES}
    earlier.manage("prepare")
    earlier.manage("account", "add", EMAIL, words=f"{PASSWORD}\n")
    with earlier.serving() as url, client_of(url) as api:
        for name, content in sent.items():
            api.post("/rest/transfer/file", files={"file": (name, content)}).raise_for_status()
    assert not [*(earlier.data / "backups").glob("*")]
    with running(earlier.data, TORRENT_PORT="0", TORRENT_NETWORK="loopback") as now:
        with client_of(now.url) as api:
            files = {each["name"]: each["id"] for each in api.get("/rest/folder").json()["files"]}
            arrived = {name: api.get(f"/rest/file/{file_id}") for name, file_id in files.items()}
        assert {name: answer.content for name, answer in arrived.items()} == sent
        assert now.findings()["database"] is None
    (copy,) = (earlier.data / "backups").glob("*.sqlite3")
    assert copy.stat().st_size > 0
    if day >= REFUSES_NEWER:
        assert "A newer Ferry has changed this database" in earlier.manage("prepare", fails=True)
        earlier.manage("restore", str(copy))
        with earlier.serving() as url, client_of(url) as api:
            assert {each["name"] for each in api.get("/rest/folder").json()["files"]} == set(sent)


class Earlier:
    """A Ferry of an earlier commit, with the packages of this one."""

    def __init__(self, commit: str, folder: Path) -> None:
        self.data = folder / "data"
        self._source = unpack(commit, folder / "source")
        self._port = free_port()
        own = {"DATA_DIR": str(self.data), "HOST": "127.0.0.1", "PORT": str(self._port)}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._environment = os.environ | own | {"PATH": path}

    def manage(self, *arguments: str, words: str = "", fails: bool = False) -> str:
        command = [sys.executable, "manage.py", *arguments]
        options = {"cwd": self._source, "env": self._environment, "input": words, "text": True}
        done = subprocess.run(command, **options, capture_output=True, check=False)
        assert bool(done.returncode) == fails, done.stderr
        return done.stderr

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Run the web server as its Procfile says; a worker would only take transfers."""
        procfile = (self._source / "Procfile").read_text()
        command = re.search(r"^web: (.+)$", procfile, re.MULTILINE)[1]
        process = launch(["sh", "-c", command], cwd=self._source, env=self._environment)
        output = Output(process)
        url = f"http://localhost:{self._port}"
        try:
            until(lambda: answers(url), START_SECONDS)
            yield url
        finally:
            process.terminate()
            process.wait(START_SECONDS)
            output.close()


def unpack(commit: str, folder: Path) -> Path:
    archive = ["git", "archive", commit]
    done = subprocess.run(archive, cwd=BASE, capture_output=True, check=False)
    if done.returncode:
        tools.lacks("the history of this repository")
    with tarfile.open(fileobj=BytesIO(done.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=60, trust_env=False).is_success
    except httpx.TransportError:
        return False


def client_of(url: str) -> httpx.Client:
    options = {"timeout": 120, "trust_env": False, "follow_redirects": True}
    return httpx.Client(base_url=url, auth=(EMAIL, PASSWORD), **options)
