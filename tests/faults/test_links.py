"""Disks that know no hard links, pipes, or sockets: exFAT, FAT, and some network shares.

The whole program runs with a kernel that refuses them. Tested elsewhere: copies instead of links
(tests/service/store/test_disk_store.py).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests import tools, without_links
from tests.running import PASSWORD, START_SECONDS, Ferry, bring_static_files, started
from tests.service.api.serving import add_account
from tests.service.media import samples
from tests.service.working import until, until_state
from tests.swarm import WebSeed, seeder, serving_http, torrent

pytestmark = pytest.mark.slow

CONTENT = os.urandom(3_000_000)


def api_of(ferry: Ferry, email: str) -> httpx.Client:
    return httpx.Client(base_url=ferry.url, auth=(email, PASSWORD), timeout=60, trust_env=False)


@contextmanager
def refusing(data_dir: Path) -> Iterator[Ferry]:
    if not without_links.is_possible():
        tools.lacks("seccomp")
    bring_static_files(data_dir)
    options = {"TORRENT_PORT": "0", "SEED_MINUTES": "60", "SEED_RATIO": "100"}
    with started(data_dir, "-m", "tests.without_links", **options) as ferry:
        assert ferry.output.saw("Ferry answers on port", START_SECONDS), ferry.log
        yield ferry


def test_ferry_works_on_a_disk_without_links(tmp_path):
    """Ferry gets a torrent and a URL that two accounts want, and an uploaded picture."""
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    made = torrent("Films", {("a.mkv",): CONTENT[:2_000_000], ("b.srt",): CONTENT[:50]})
    (tmp_path / "song.flac").write_bytes(CONTENT)
    picture = samples.picture()
    with (
        refusing(data_dir) as ferry,
        seeder() as seeds,
        serving_http(WebSeed(folder=tmp_path)) as web,
    ):
        seeds.give(made, tmp_path / "given")
        sources = {"magnet": made.magnet(peer=seeds.address), "url": f"{web.url}/song.flac"}
        for email in ("alice@example.org", "bob@example.org"):
            add_account(ferry, email, PASSWORD)
            with api_of(ferry, email) as api:
                added = {
                    kind: api.post(f"/rest/transfer/{kind}", data={kind: what}).json()["id"]
                    for kind, what in sources.items()
                }
                done = {kind: until_state(api, each, "done") for kind, each in added.items()}
                assert content(api, done["url"]["file_created"]) == CONTENT
                folder = api.get(f"/rest/folder/{done['magnet']['folder_created']}").json()
                films = {row["name"]: content(api, row["id"]) for row in folder["files"]}
                assert films == {path[-1]: content for path, content in made.files.items()}
                sent = api.post("/rest/transfer/file", files={"file": ("photo.jpg", picture)})
                file_id = until_state(api, sent.json()["id"], "done")["file_created"]
                assert content(api, file_id) == picture
                assert until(lambda api=api, file_id=file_id: is_picture(preview(api, file_id)))
        assert ferry.log.count("doesn't support hard links") == 1
        assert "Traceback" not in ferry.log
        assert "ERROR" not in ferry.log


def content(api: httpx.Client, file_id: int) -> bytes:
    return api.get(f"/rest/file/{file_id}", follow_redirects=True).content


def preview(api: httpx.Client, file_id: int) -> httpx.Response:
    return api.get(f"/rest/file/{file_id}/image?pixels=220", follow_redirects=True)


def is_picture(answer: httpx.Response) -> bool:
    assert answer.status_code in (200, 503), answer.text
    return answer.headers["content-type"].startswith("image/")
