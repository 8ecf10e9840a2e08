"""An older copy of the database beside a newer library, as after a restore by hand."""

import os
import shutil
import sqlite3
import time
from contextlib import closing

import httpx
import pytest

from tests.running import PASSWORD, running

# A copy of the file is older.
pytestmark = [pytest.mark.slow, pytest.mark.sqlite]

EMAIL = "me@example.org"
DAYS_AGO = 3 * 24 * 3600


def keep_copy(data_dir, name):
    copy = data_dir.parent / name
    with (
        closing(sqlite3.connect(data_dir / "ferry.sqlite3")) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
    return copy


def put_back(data_dir, copy):
    for leftover in data_dir.glob("ferry.sqlite3*"):
        leftover.unlink()
    shutil.copy(copy, data_dir / "ferry.sqlite3")


def asking(ferry):
    return httpx.Client(base_url=f"{ferry.url}/rest", auth=(EMAIL, PASSWORD), timeout=60)


def upload(ferry, name, content):
    with asking(ferry) as api:
        answer = api.post("/transfer/file", files={"file": (name, content)})
        assert answer.status_code == 200, answer.text


def blobs_in(data_dir):
    return {path.name for path in (data_dir / "library/blobs").rglob("*") if path.is_file()}


def grow_old(data_dir):
    then = time.time() - DAYS_AGO
    for path in (data_dir / "library/blobs").rglob("*"):
        os.utime(path, (then, then))


@pytest.mark.promise("an older database loses no files")
def test_newer_files_survive_and_one_command_restores_them(tmp_path):
    data_dir = tmp_path / "data"
    newer = os.urandom(300_000)
    with running(data_dir, TORRENT_NETWORK="loopback") as ferry:
        ferry.say("account", "add", EMAIL, words=f"{PASSWORD}\n")
        upload(ferry, "older", b"older")
        copy = keep_copy(data_dir, "older.sqlite3")
        upload(ferry, "newer.bin", newer)
    before = blobs_in(data_dir)
    grow_old(data_dir)
    put_back(data_dir, copy)
    with running(data_dir, TORRENT_NETWORK="loopback") as ferry:
        assert ferry.output.saw("the database is older than the library", 60), ferry.log
        assert "older than the library" in ferry.findings()["library"]
        assert httpx.get(f"{ferry.url}/readyz", timeout=60).status_code == 200
        upload(ferry, "added meanwhile", b"meanwhile")
        assert before < blobs_in(data_dir)
        assert "Put 1 file" in ferry.manage("library", "adopt", "--account", EMAIL)
        with asking(ferry) as api:
            (folder,) = api.get("/folder").json()["folders"]
            (file,) = api.get(f"/folder/{folder['id']}").json()["files"]
            found = api.get(f"/file/{file['id']}", follow_redirects=True)
            assert found.content == newer
        assert ferry.log.count("the database is older") == 1
