"""What people do while a part of the cluster is killed.

Each operation is a generator: it yields, once it is under way, the machine that does the work, and
afterward goes on as a person's program would: it asks another machine if one doesn't answer.
"""

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha1, sha256
from threading import Event
from typing import Any

import httpx

from tests.cluster import sources
from tests.cluster.machines import Cluster, Machine
from tests.service.media.samples import short_film
from tests.service.working import until

Operation = Callable[[Cluster, str], Iterator[Machine]]

UPLOAD_BYTES = 48 * 2**20
FETCH_BYTES = 60_000_000
IMPORT_BYTES = 200_000_000
# The promise: a film continues within this time, and other transfers within the lease and ten.
FILM_SECONDS = 5.0
LONG_FILM = ("-g", "25", "-c:v", "libx264", "-pix_fmt", "yuv420p")


def ask(cluster: Cluster, path: str, seconds: float = 90, **headers: str) -> httpx.Response:
    """Get a path from the first machine that answers, as a proxy in front of them would."""

    def answer() -> httpx.Response | None:
        for web in cluster.webs:
            with suppress(httpx.TransportError), web.client(10) as client:
                found = client.get(path, headers=headers)
                if found.status_code < 500:
                    return found
        return None

    return until(answer, seconds)


def say(cluster: Cluster, path: str, data: dict[str, Any]) -> dict[str, Any]:
    """Post a form; nothing is broken yet."""
    with cluster.webs[0].client() as client:
        answer = client.post(path, data=data)
    assert answer.is_success, answer.text
    return answer.json()


def until_done(cluster: Cluster, transfer_id: int) -> dict[str, Any]:
    def done() -> dict[str, Any] | None:
        found = ask(cluster, f"/rest/transfer/{transfer_id}").json()
        assert found["state"] != "failed", found
        return found if found["state"] == "done" else None

    return until(done)


def until_progress(cluster: Cluster, transfer_id: int, percent: float) -> None:
    until(lambda: ask(cluster, f"/rest/transfer/{transfer_id}").json()["progress"] >= percent)


def files_named(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    """Return the files of the root folder whose name begins like this, so doubles as well."""
    listed = ask(cluster, "/rest/folder").json()["files"]
    return [each for each in listed if each["name"].startswith(name)]


def check_once(cluster: Cluster, name: str, content: bytes) -> None:
    """Check that every live machine serves this file, and that it exists once."""
    files = files_named(cluster, name)
    assert len(files) == 1, files
    link = ask(cluster, f"/rest/file/{files[0]['id']}").headers["Location"]
    path = httpx.URL(link).raw_path.decode()
    for web in filter(Machine.is_alive, cluster.webs):
        with web.client() as client:

            def is_same(client: httpx.Client = client) -> bool:
                with suppress(httpx.TransportError):
                    answer = client.get(path)
                    assert answer.status_code in (200, 503), answer.text
                    return answer.content == content
                return False

            until(is_same, 30)


def put(cluster: Cluster, name: str, content: bytes) -> int:
    with cluster.webs[0].client() as client:
        answer = client.post("/rest/transfer/file", files={"file": (name, content)})
        assert answer.is_success, answer.text
        return client.get(f"/rest/transfer/{answer.json()['id']}").json()["file_created"]


class Held(io.BytesIO):
    """Bytes that pause in the middle until they are released."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.is_half = Event()
        self.may_go_on = Event()

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() > len(self.getbuffer()) // 2:
            self.is_half.set()
            self.may_go_on.wait(60)
        return super().read(size)


def upload(cluster: Cluster, name: str) -> Iterator[Machine]:
    """Upload; after an error, look whether the file is there, and else upload it again."""
    content = sources.content_of(name, UPLOAD_BYTES)
    held = Held(content)

    def send(web: Machine, stream: io.BytesIO) -> bool:
        with suppress(httpx.TransportError), web.client(60) as client:
            return client.post("/rest/transfer/file", files={"file": (name, stream)}).is_success
        return False

    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(send, cluster.webs[0], held)
        assert held.is_half.wait(60)
        try:
            yield cluster.webs[0]
        finally:
            held.may_go_on.set()
        if not sent.result():
            until(
                lambda: (
                    files_named(cluster, name)
                    or any(send(web, io.BytesIO(content)) for web in cluster.webs)
                )
            )
    check_once(cluster, name, content)


def fetch(cluster: Cluster, name: str) -> Iterator[Machine]:
    url = sources.url_of(name, FETCH_BYTES)
    transfer_id = say(cluster, "/rest/transfer/url", {"url": url})["id"]
    until_progress(cluster, transfer_id, 60)
    yield cluster.worker_with(transfer_id)
    until_done(cluster, transfer_id)
    check_once(cluster, name, sources.content_of(name, FETCH_BYTES))


def torrent(cluster: Cluster, name: str) -> Iterator[Machine]:
    made = sources.made(name)
    sent = {"magnet": made.magnet(peer=sources.PEER)}
    transfer_id = say(cluster, "/rest/transfer/magnet", sent)["id"]
    until_progress(cluster, transfer_id, 20)
    yield cluster.worker_with(transfer_id)
    until_done(cluster, transfer_id)
    check_once(cluster, name, sources.content_of(name, sources.TORRENT_BYTES))


def bring_in(cluster: Cluster, name: str) -> Iterator[Machine]:
    """Fetch something large, and yield when it has arrived and is on its way into the library."""
    url = sources.url_of(name, IMPORT_BYTES)
    transfer_id = say(cluster, "/rest/transfer/url", {"url": url})["id"]
    until(lambda: cluster.say(STATE, transfer_id) == "moving")
    yield cluster.worker_with(transfer_id)
    until_done(cluster, transfer_id)
    check_once(cluster, name, sources.content_of(name, IMPORT_BYTES))


STATE = "SELECT state FROM service_transfer WHERE id = %s"


def segment(cluster: Cluster, name: str) -> Iterator[Machine]:
    """Play a film, whose next part must come within FILM_SECONDS."""
    film = short_film("mp4", *LONG_FILM, source="testsrc2=s=640x360:d=60")
    file_id = put(cluster, f"{name}.mp4", film)
    link = ask(cluster, f"/rest/file/{file_id}/hls").json()["url"]
    folder = httpx.URL(link).raw_path.decode().rpartition("/")[0]
    index = lines(cluster, f"{folder}/master.m3u8")[0]
    parts = lines(cluster, f"{folder}/{index}")
    below = f"{folder}/{index.rpartition('/')[0]}".rstrip("/")
    assert ask(cluster, f"{below}/{parts[0]}").content
    yield maker_of(cluster, film)
    began_at = time.monotonic()
    for part in parts[1:4]:
        assert ask(cluster, f"{below}/{part}").content
    seconds = time.monotonic() - began_at
    assert seconds < FILM_SECONDS, f"the film stopped for {seconds:.1f} s"


def maker_of(cluster: Cluster, film: bytes) -> Machine:
    """Return the worker that converts a film: the first in the order for its content."""
    key = f"{sha1(film).hexdigest()}-{len(film):x}"
    return min(
        cluster.workers,
        key=lambda each: sha256(f"{key} {each.environment['WORKER_ADDRESS']}".encode()).digest(),
    )


def lines(cluster: Cluster, path: str) -> list[str]:
    return [line for line in ask(cluster, path).text.splitlines() if line and line[0] != "#"]


def archive(cluster: Cluster, name: str) -> Iterator[Machine]:
    """Read half of an archive, and the rest by Range from any machine that responds."""
    contents = {f"{name} {at}.bin": sources.content_of(f"{name} {at}", 9_000_000) for at in (1, 2)}
    entries = [
        {"type": "file", "id": put(cluster, each, content)} for each, content in contents.items()
    ]
    with cluster.webs[0].client() as client:
        chosen = {"archive_arr": json.dumps(entries)}
        # A store that was killed before fails for some seconds after it started.
        answer = until(
            lambda: (link := client.post("/rest/zip", data=chosen)).status_code != 503 and link, 30
        )
        path = httpx.URL(answer.headers["Location"]).raw_path.decode()
        received, etag = b"", ""
        with suppress(httpx.TransportError), client.stream("GET", path) as reading:
            etag = reading.headers["ETag"]
            for piece in reading.iter_raw(65_536):
                received += piece
                if len(received) > 4_000_000 and not reading.is_closed:
                    break
    yield cluster.webs[0]
    rest = ask(cluster, path, **{"Range": f"bytes={len(received)}-", "If-Range": etag})
    assert rest.status_code == 206
    with zipfile.ZipFile(io.BytesIO(received + rest.content)) as made:
        assert {each: made.read(each) for each in made.namelist()} == contents


OPERATIONS: dict[str, Operation] = {
    "upload": upload,
    "fetch": fetch,
    "torrent": torrent,
    "import": bring_in,
    "segment": segment,
    "ZIP": archive,
}
