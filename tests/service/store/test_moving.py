"""A Ferry that moves into an object store and out again, with copies that are killed."""

import os
import secrets
import shutil
import sys

import httpx
import pytest

from service.store.disk_store import DiskStore
from service.store.objects.requests import ObjectRequests
from service.store.objects.store import open_bucket
from service.store.objects.writer import PART_BYTES
from tests import object_stores, postgresql
from tests.running import BASE, Output, launch, running
from tests.service.api.serving import add_account

pytestmark = pytest.mark.slow

EMAIL, PASSWORD = "dora@example.org", "a quiet harbour at noon"
PREFIX = secrets.token_hex(8)
PATIENCE_SECONDS = 240


@pytest.fixture(scope="module")
def shared():
    with postgresql.cluster() as database:
        yield {
            "DATABASE_URL": database.url,
            "SECRET_KEY": secrets.token_hex(32),
            "WEB_PROCESSES": "1",
            **object_stores.KEYS,
        }


def client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, auth=(EMAIL, PASSWORD), timeout=60, trust_env=False)


def upload(ferry, contents: dict[str, bytes]) -> None:
    with client(ferry.url) as site:
        for name, content in contents.items():
            answer = site.post("/rest/transfer/file", files={"file": (name, content)})
            assert answer.status_code == 200, answer.text


def download_all(ferry) -> dict[str, bytes]:
    with client(ferry.url) as site:
        files = site.get("/rest/folder/0").json()["files"]
        return {
            each["name"]: site.get(f"/rest/file/{each['id']}", follow_redirects=True).content
            for each in files
        }


class Copy:
    """A running `manage.py store copy`."""

    def __init__(self, ferry, *arguments: str) -> None:
        command = [sys.executable, "manage.py", "store", "copy", *arguments]
        self.process = launch(command, cwd=BASE, env=ferry.environment)
        self._output = Output(self.process)

    def kill_when(self, is_due) -> None:
        """Kill it at a moment; it may also end before."""
        while not is_due() and self.process.poll() is None:
            pass
        self.process.kill()
        assert self.end() in (0, -9), self.text

    def end(self) -> int:
        code = self.process.wait(PATIENCE_SECONDS)
        self._output.close()
        return code

    @property
    def text(self) -> str:
        return self._output.text


def copy_whole(ferry, *arguments: str) -> str:
    copy = Copy(ferry, *arguments)
    assert copy.end() == 0, copy.text
    return copy.text


def test_moving_in_and_out_loses_nothing(seaweedfs, shared, tmp_path):
    url = seaweedfs.url(PREFIX)
    library = DiskStore(tmp_path / "library")
    objects = open_bucket(seaweedfs.bucket(PREFIX))
    requests = ObjectRequests(seaweedfs.bucket(PREFIX))

    def copied() -> int:
        return sum(len(batch) for batch in objects.list("blobs"))

    with running(tmp_path, **shared) as ferry:
        add_account(ferry, EMAIL, PASSWORD)
        contents = {f"{number}.txt": b"%d" % number for number in range(60)}
        contents |= {f"{number}.bin": os.urandom(6 * PART_BYTES + number) for number in range(5)}
        upload(ferry, contents)
        for is_due in (
            lambda: copied() >= 1,
            lambda: copied() >= 20,
            # The self-test has one of its own.
            lambda: any(each.key.startswith("blobs") for each in requests.list_unfinished()),
        ):
            Copy(ferry, url).kill_when(is_due)
        assert "stop Ferry everywhere, run this command again, set STORE_URL=" in copy_whole(
            ferry, url, "--verify"
        )
        late = {"late.txt": b"late"}
        upload(ferry, late)
    assert f"Everything is there. Now set STORE_URL={url}" in copy_whole(ferry, url)
    requests.close()

    shutil.rmtree(tmp_path / "library")
    with running(tmp_path, STORE_URL=url, **shared) as ferry:
        assert download_all(ferry) == contents | late
        later = {"later.txt": b"later", "later.bin": os.urandom(3 * PART_BYTES)}
        upload(ferry, later)
        drafts = tmp_path / "library" / "incoming"
        for is_due in (
            lambda: drafts.is_dir() and any(drafts.iterdir()),
            lambda: sum(1 for _blob in library.blobs()) >= 20,
        ):
            Copy(ferry, "disk").kill_when(is_due)
    assert "Now remove STORE_URL from the settings" in copy_whole(ferry, "disk", "--verify")
    with running(tmp_path, **shared) as ferry:
        assert download_all(ferry) == contents | late | later
