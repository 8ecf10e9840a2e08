"""Two machines with a database server and an object store between them."""

import io
import json
import os
import zipfile

import httpx
import pytest

from service.store.objects.writer import PART_BYTES
from tests.misbehaving import serving
from tests.service.api.serving import peak_bytes
from tests.service.fetching.servers import file as serve_file
from tests.service.store.clients import link_of, upload
from tests.service.working import until

pytestmark = pytest.mark.slow

CONTENT = os.urandom(2 * PART_BYTES + 7)
MIB = 2**20


def test_a_file_uploaded_to_one_machine_is_served_by_another(one, other):
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


@pytest.mark.promise("machines share files")
def test_a_file_fetched_by_one_machine_is_served_by_another(one, other):
    with serving(serve_file(CONTENT)) as server:
        answer = one.post(
            "/rest/transfer/url", data={"url": f"http://127.0.0.1:{server.port}/x.bin"}
        )
        transfer = f"/rest/transfer/{answer.json()['id']}"
        until(lambda: other.get(transfer).json().get("file_created") is not None)
    file_id = other.get(transfer).json()["file_created"]
    assert other.get(link_of(other, file_id)).content == CONTENT


def test_an_archive_planned_on_one_machine_resumes_on_another(one, other):
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


def test_bytes_pass_through_without_taking_memory(cluster, one, other):
    """Neither the upload nor the download is ever held whole, nor on a machine's disk."""
    path = link_of(one, upload(one, b"warm"))
    other.get(path)
    before = [peak_bytes(machine) for machine in cluster.machines]
    path = link_of(one, upload(one, io.BytesIO(bytes(256 * MIB)), "large"))
    received = 0
    with other.stream("GET", path) as answer:
        for piece in answer.iter_raw():
            received += len(piece)
    assert received == 256 * MIB
    for machine, peak in zip(cluster.machines, before, strict=True):
        assert peak_bytes(machine) - peak < 48 * MIB
