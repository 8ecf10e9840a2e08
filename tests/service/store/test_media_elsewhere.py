"""A machine without a worker sends pictures, segments, and films that other machines make."""

import os
import shutil
import subprocess
import sys
import time

import httpx
import pytest

from service.store.objects.store import open_bucket
from tests.running import BASE, PASSWORD
from tests.service.api.serving import kill_all
from tests.service.media.samples import picture, short_film
from tests.service.store.clients import EMAILS, picture_of, segment_of, until_made, upload
from tests.service.store.conftest import Cluster
from tests.serving import serving

pytestmark = pytest.mark.slow

# A request that arrives too late and another worker's response take a few seconds. Only a hang
# takes this long.
MOVE_SECONDS = 40
ENCODED = ("-c:v", "mpeg4", "-c:a", "mp3")


@pytest.fixture(scope="module")
def web_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("web")


@pytest.fixture(scope="module")
def web(cluster, web_folder):
    """Yield a client of a machine that only serves pages."""
    machine = {**cluster.settings, "DATA_DIR": str(web_folder)}
    prepare = [sys.executable, "manage.py", "prepare"]
    subprocess.run(prepare, cwd=BASE, env=os.environ | machine, check=True, timeout=120)
    account = (EMAILS[0], PASSWORD)
    with (
        serving(**machine) as server,
        httpx.Client(base_url=server.url, auth=account, timeout=60, trust_env=False) as client,
    ):
        yield client


def test_pictures_and_segments(web):
    film_id = upload(web, short_film("mkv", *ENCODED), "encoded.mkv")
    for path in (picture_of(web, film_id, "720"), segment_of(web, film_id)):
        answer = until_made(web, path)
        assert answer.headers["Content-Type"][:5] in {"image", "video", "audio"}
        assert answer.content


def test_a_whole_film(web):
    """It stays in the store: this machine passes it on."""
    film_id = upload(web, short_film("mkv", *ENCODED), "whole.mkv")
    path = whole_film_of(web, film_id)
    whole = until_made(web, path)
    assert whole.headers["Content-Type"] == "video/mp4"
    part = web.get(path, headers={"Range": "bytes=5-99"})
    assert (part.status_code, part.content) == (206, whole.content[5:100])


def whole_film_of(client: httpx.Client, film_id: int) -> str:
    return httpx.URL(client.get(f"/rest/file/{film_id}/mp4").json()["url"]).raw_path.decode()


def test_what_the_store_has_dropped_is_published_again(web, web_folder, cluster):
    """Only the worker that made it still has it."""
    film = short_film("mkv", *ENCODED, "-metadata", "title=dropped")
    film_id = upload(web, film, "dropped.mkv")

    def read_all() -> list[bytes]:
        of_film = (
            whole_film_of(web, film_id),
            picture_of(web, film_id, "720"),
            segment_of(web, film_id),
        )
        return [until_made(web, path).content for path in of_film]

    made = read_all()
    objects = open_bucket(cluster.objects.bucket(cluster.prefix))
    objects.delete([each["path"] for batch in objects.list("shared") for each in batch])
    shutil.rmtree(web_folder / "media")
    assert read_all() == made


def test_an_existing_segment_is_read_from_the_store(web, cluster, one):
    film = short_film("mkv", *ENCODED, source="testsrc=s=320x240:d=2")
    path = segment_of(one, upload(one, film, "film.mkv"))
    made = until_made(one, path)
    assert made.headers["Content-Type"][:5] in {"video", "audio"}
    replace_published(cluster, "/".join(path.split("/")[-2:]), made.content, b"from the store")
    assert web.get(path).content == b"from the store"
    index = f"{path.rpartition('/')[0]}/index.m3u8"
    assert web.get(index).text == one.get(index).text


def test_an_existing_picture_is_read_from_the_store(web, cluster, one):
    path = picture_of(
        one, upload(one, short_film("mp4", "-metadata", "title=made"), "film.mp4"), "720"
    )
    made = until_made(one, path)
    assert made.headers["Content-Type"][:5] == "image"
    changed = made.content + b"from the store\xff\xd9"  # A whole JPEG ends so.
    replace_published(cluster, path.partition("?")[0].rpartition("/")[2], made.content, changed)
    assert web.get(path).content == changed


def replace_published(cluster: Cluster, end: str, content: bytes, changed: bytes) -> None:
    """Replace a file that a machine has published: no other machine would make this."""
    objects = open_bucket(cluster.objects.bucket(cluster.prefix))
    published = [each["path"] for batch in objects.list("shared") for each in batch]
    candidates = [key for key in published if key.endswith(f"/{end}")]
    (key,) = [key for key in candidates if bytes(objects.get(key).bytes()) == content]
    objects.put(key, changed)


def test_a_worker_that_dies_is_replaced_by_another(web, cluster, tmp_path_factory):
    photos = [upload(web, picture(400 + number), f"photo {number}.jpg") for number in range(8)]
    paths = [picture_of(web, each, "720") for each in photos]
    kill_all(cluster.machines[1])
    for path in paths:
        began_at = time.monotonic()
        answer = web.get(path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/jpeg")
        assert time.monotonic() - began_at < MOVE_SECONDS
    cluster.machines[1] = cluster.start(tmp_path_factory.mktemp("again"))
