"""Clients of Ferrys that share everything but their disks."""

import io

import httpx

from tests.running import PASSWORD, Ferry
from tests.service.working import until

EMAILS = ("dora@example.org", "emil@example.org")


def client(machine: Ferry, email: str = EMAILS[0]) -> httpx.Client:
    return httpx.Client(base_url=machine.url, auth=(email, PASSWORD), timeout=60, trust_env=False)


def upload(machine: httpx.Client, content: bytes | io.RawIOBase, name: str = "film.bin") -> int:
    answer = machine.post("/rest/transfer/file", files={"file": (name, content)})
    assert answer.status_code == 200, answer.text
    return machine.get(f"/rest/transfer/{answer.json()['id']}").json()["file_created"]


def link_of(machine: httpx.Client, file_id: int) -> str:
    answer = machine.get(f"/rest/file/{file_id}")
    assert answer.status_code == 302, answer.text
    return httpx.URL(answer.headers["Location"]).raw_path.decode()


def until_made(machine: httpx.Client, path: str) -> httpx.Response:
    """Return the answer with the content. While the worker is busy with it, it answers with 503."""
    answer = until(lambda: (answer := machine.get(path)).status_code != 503 and answer)
    assert answer.status_code == 200, answer.text
    return answer


def lines(machine: httpx.Client, path: str) -> list[str]:
    return [line for line in until_made(machine, path).text.splitlines() if line]


def segment_of(machine: httpx.Client, file_id: int) -> str:
    """Return the path of the first segment of a film."""
    url = machine.get(f"/rest/file/{file_id}/hls").json()["url"]
    folder = httpx.URL(url).raw_path.decode().rpartition("/")[0]
    index = next(line for line in lines(machine, f"{folder}/master.m3u8") if line[0] != "#")
    segment = next(line for line in lines(machine, f"{folder}/{index}") if line[0] != "#")
    return f"{folder}/{index.rpartition('/')[0]}/{segment}"


def picture_of(machine: httpx.Client, file_id: int, size: str) -> str:
    """Return the path of a picture, once the film is probed."""

    def url() -> str | None:
        files = machine.get("/rest/folder").json()["files"]
        (urls,) = [each["presentation_urls"] for each in files if each["id"] == file_id]
        return urls["image"].get(size)

    return httpx.URL(until(url)).raw_path.decode()
