"""Two machines with a database server and an object store between them."""

import io
import json
import os
import secrets
import time
import zipfile
from collections.abc import Callable

import httpx
import pytest

from service.store.objects.store import open_bucket
from service.store.objects.writer import PART_BYTES
from tests import object_stores, postgresql
from tests.misbehaving import serving
from tests.running import running
from tests.service.api.serving import add_account, peak_bytes
from tests.service.fetching.servers import file as serve_file
from tests.service.media.samples import short_film

pytestmark = pytest.mark.slow

EMAIL, PASSWORD = "dora@example.org", "a quiet harbour at noon"
CONTENT = os.urandom(2 * PART_BYTES + 7)
PREFIX = secrets.token_hex(8)
MIB = 2**20
PATIENCE_SECONDS = 120


@pytest.fixture(scope="module")
def machines(seaweedfs, tmp_path_factory):
    """Yield two running Ferrys that share everything but their disks."""
    with postgresql.cluster() as database:
        shared = {
            "DATABASE_URL": database.url,
            "STORE_URL": seaweedfs.url(PREFIX),
            "SECRET_KEY": secrets.token_hex(32),
            "WEB_PROCESSES": "1",
            "FETCH_PRIVATE": "true",
            **object_stores.KEYS,
        }
        folders = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
        with running(folders[0], **shared) as one, running(folders[1], **shared) as other:
            add_account(one, EMAIL, PASSWORD)
            yield one, other


@pytest.fixture
def one(machines):
    with client(machines[0].url) as made:
        yield made


@pytest.fixture
def other(machines):
    with client(machines[1].url) as made:
        yield made


def client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, auth=(EMAIL, PASSWORD), timeout=60, trust_env=False)


def upload(machine: httpx.Client, content: bytes | io.RawIOBase, name: str = "film.bin") -> int:
    answer = machine.post("/rest/transfer/file", files={"file": (name, content)})
    assert answer.status_code == 200, answer.text
    return machine.get(f"/rest/transfer/{answer.json()['id']}").json()["file_created"]


def link_of(machine: httpx.Client, file_id: int) -> str:
    answer = machine.get(f"/rest/file/{file_id}")
    assert answer.status_code == 302, answer.text
    return httpx.URL(answer.headers["Location"]).raw_path.decode()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end


def test_what_one_machine_received_the_other_sends(one, other):
    file_id = upload(one, CONTENT)
    path = link_of(one, file_id)
    assert other.get(path).content == CONTENT
    part = other.get(path, headers={"Range": "bytes=8388600-8388699"})
    assert (part.status_code, part.content) == (206, CONTENT[8_388_600:8_388_700])
    parts = other.get(path, headers={"Range": "bytes=0-0,16777220-"})
    assert parts.status_code == 206
    assert CONTENT[16_777_220:] in parts.content
    assert other.head(path).headers["Content-Length"] == str(len(CONTENT))
    etag = other.head(path).headers["ETag"]
    assert other.get(path, headers={"If-None-Match": etag}).status_code == 304


@pytest.mark.parametrize("content", [b"", b"x"])
def test_the_smallest_files_arrive(one, other, content):
    assert other.get(link_of(one, upload(one, content))).content == content


def test_what_one_machine_fetched_the_other_sends(one, other):
    with serving(serve_file(CONTENT)) as server:
        answer = one.post(
            "/rest/transfer/url", data={"url": f"http://127.0.0.1:{server.port}/x.bin"}
        )
        transfer = f"/rest/transfer/{answer.json()['id']}"
        wait_for(lambda: other.get(transfer).json().get("file_created") is not None)
    file_id = other.get(transfer).json()["file_created"]
    assert other.get(link_of(other, file_id)).content == CONTENT


def test_an_archive_that_one_machine_planned_the_other_resumes(one, other):
    contents = {f"{number}.bin": CONTENT[: 3**number] for number in range(14)}
    entries = [
        {"type": "file", "id": upload(one, content, name)} for name, content in contents.items()
    ]
    answer = one.post("/rest/zip", data={"archive_arr": json.dumps(entries)})
    path = httpx.URL(answer.headers["Location"]).raw_path.decode()
    begin = one.get(path, headers={"Range": "bytes=0-999999"})
    headers = {"Range": "bytes=1000000-", "If-Range": begin.headers["ETag"]}
    rest = other.get(path, headers=headers)
    assert (begin.status_code, rest.status_code) == (206, 206)
    with zipfile.ZipFile(io.BytesIO(begin.content + rest.content)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == contents


def test_a_segment_that_one_machine_made_the_other_sends(seaweedfs, one, other):
    """The copy in the store is replaced, which shows that the other machine didn't make its own."""
    film = short_film("mkv", "-c:v", "mpeg4", "-c:a", "mp3")
    url = one.get(f"/rest/file/{upload(one, film, 'film.mkv')}/hls").json()["url"]
    folder = httpx.URL(url).raw_path.decode().rpartition("/")[0]
    index = next(line for line in lines(one, f"{folder}/master.m3u8") if line[0] != "#")
    segment = next(line for line in lines(one, f"{folder}/{index}") if line[0] != "#")
    path = f"{folder}/{index.rpartition('/')[0]}/{segment}"
    made = one.get(path)
    assert (made.status_code, made.headers["Content-Type"][:5]) in {(200, "video"), (200, "audio")}
    objects = open_bucket(seaweedfs.bucket(PREFIX))
    shared = [each["path"] for batch in objects.list("shared") for each in batch]
    (key,) = [key for key in shared if key.endswith(f"/{path.partition(folder)[2][1:]}")]
    assert bytes(objects.get(key).bytes()) == made.content
    objects.put(key, b"from the store")
    assert other.get(path).content == b"from the store"
    assert other.get(f"{folder}/{index}").text == one.get(f"{folder}/{index}").text


def lines(machine: httpx.Client, path: str) -> list[str]:
    answer = machine.get(path)
    assert answer.status_code == 200, answer.text
    return [line for line in answer.text.splitlines() if line]


def test_bytes_pass_through_without_taking_memory(machines, one, other):
    """Neither the upload nor the download is ever held whole, nor on a machine's disk."""
    path = link_of(one, upload(one, b"warm"))
    other.get(path)
    before = [peak_bytes(machine) for machine in machines]
    path = link_of(one, upload(one, io.BytesIO(bytes(256 * MIB)), "large"))
    received = 0
    with other.stream("GET", path) as answer:
        for piece in answer.iter_raw():
            received += len(piece)
    assert received == 256 * MIB
    for machine, peak in zip(machines, before, strict=True):
        assert peak_bytes(machine) - peak < 48 * MIB


def test_while_the_store_is_away_nothing_fails_for_good(seaweedfs, machines, one, other):
    file_id = upload(one, CONTENT)
    path = link_of(one, file_id)
    with serving(serve_file(CONTENT)) as server, seaweedfs.frozen():
        began_at = time.monotonic()
        answer = other.get(path)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert time.monotonic() - began_at < 7
        answer = one.post("/rest/transfer/file", files={"file": ("film.bin", CONTENT)})
        assert answer.status_code == 503
        assert other.get("/rest/folder").status_code == 200
        began_at = time.monotonic()
        ready = one.get("/readyz")
        assert time.monotonic() - began_at < 7
        assert ready.status_code == 200
        assert ready.json()["parts"]["library"] == "The object store does not answer."
        transfer = one.post(
            "/rest/transfer/url", data={"url": f"http://127.0.0.1:{server.port}/late.bin"}
        ).json()
        shown = f"/rest/transfer/{transfer['id']}"
        wait_for(lambda: "The object store" in one.get("/readyz").text and reason(one, shown))
    wait_for(lambda: other.get(shown).json().get("file_created") is not None)
    assert other.get(path).content == CONTENT
    for machine in machines:
        assert "Traceback" not in machine.log


def reason(machine: httpx.Client, transfer: str) -> bool:
    return machine.get(transfer).json()["state"] == "stalled"
