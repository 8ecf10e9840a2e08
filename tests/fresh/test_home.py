"""What docs/home.md says about folders and disks."""

import os
import shutil
from pathlib import Path
from random import Random

import pytest

from tests import tools
from tests.fresh.test_upgrade import EMAIL, client_of
from tests.running import PASSWORD, Ferry, running
from tests.service.working import until
from tests.swarm import WebSeed, serving_http

pytestmark = [pytest.mark.slow, pytest.mark.sqlite]

SETTINGS = {"TORRENT_PORT": "0", "TORRENT_NETWORK": "loopback"}
CONTENTS = {name: Random(name).randbytes(300_000) for name in ("sent.bin", "fetched.bin")}


def fill(ferry: Ferry, source: Path) -> None:
    """Send one file, and fetch another."""
    ferry.say("account", "add", EMAIL, words=f"{PASSWORD}\n")
    source.mkdir()
    (source / "fetched.bin").write_bytes(CONTENTS["fetched.bin"])
    with serving_http(WebSeed(folder=source)) as web, client_of(ferry.url) as api:
        sent = {"file": ("sent.bin", CONTENTS["sent.bin"])}
        api.post("/rest/transfer/file", files=sent).raise_for_status()
        url = {"url": f"{web.url}/fetched.bin"}
        api.post("/rest/transfer/url", data=url).raise_for_status()
        until(lambda: contents_of(ferry) == CONTENTS)


def contents_of(ferry: Ferry) -> dict[str, bytes]:
    with client_of(ferry.url) as api:
        files = api.get("/rest/folder").raise_for_status().json()["files"]
        return {each["name"]: api.get(f"/rest/file/{each['id']}").content for each in files}


def test_the_data_folder_can_move(tmp_path):
    with running(tmp_path / "old", **SETTINGS) as ferry:
        fill(ferry, tmp_path / "source")
    shutil.copytree(tmp_path / "old", tmp_path / "new", symlinks=True)
    shutil.rmtree(tmp_path / "old")
    with running(tmp_path / "new", **SETTINGS) as ferry:
        assert contents_of(ferry) == CONTENTS
        assert set(ferry.findings().values()) - {"No worker runs: transfers wait."} == {None}


def test_the_library_can_be_a_second_disk_which_may_be_missing(tmp_path):
    if os.geteuid():
        tools.lacks("the rights of root")
    data, disk = tmp_path / "data", tmp_path / "disk"
    (data / "library").mkdir(parents=True)
    disk.mkdir()
    mounted = f"mount -t tmpfs tmpfs {disk} && mount --bind {disk} {data}/library"
    prefix = ("unshare", "--mount", "sh", "-c", f'{mounted} && exec "$@"', "mounted")
    with running(data, prefix=prefix, **SETTINGS) as ferry:
        fill(ferry, tmp_path / "source")
        assert ferry.findings()["library"] is None
    # The namespace of that program had the disk, and it is gone.
    with running(data, **SETTINGS) as ferry, client_of(ferry.url) as api:
        assert ferry.findings()["library"] == "The library is missing."
        sent = {"file": ("more.bin", b"more")}
        assert api.post("/rest/transfer/file", files=sent).status_code == 503
