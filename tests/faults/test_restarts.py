"""The whole program is killed or stopped amid an upload, a download, a ZIP, a torrent, and a film,
and started again with the same data.

Tested elsewhere: a stop while Ferry starts, and the end of one process (tests/host/test_run.py);
each of these activities alone (this folder and tests/service/test_kills.py).
"""

import os
import signal
import threading
from contextlib import suppress

import httpx
import pytest
from django.conf import settings

from service.models import File, Transfer
from service.transfers.download_folders import ids_on_disk
from tests import databases
from tests.faults.reckoning import incoming, sum_of
from tests.running import STOP_SECONDS, family_of, running
from tests.service.builders import a_file, a_folder, put
from tests.service.media import samples
from tests.service.media.test_killed_worker import converters
from tests.service.working import until
from tests.swarm import torrent

pytestmark = pytest.mark.slow

# The torrent must still be arriving when everything else is under way.
SLOWLY = 300_000


def ferry_of_this_test():
    extra = {"DATABASE_URL": databases.shared_url(), "TORRENT_PORT": "0", "SEED_MINUTES": "0"}
    return running(settings.DATA_DIR, **extra)


def kill(ferry, scene):
    """Kill all processes at once, as a power cut does; first the ones that could start others."""
    family = list(family_of(ferry.process.pid))
    for pid in family:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    scene.happened("all killed")
    ferry.process.wait()
    until(lambda: not converters())


def stop(ferry, scene):
    ferry.process.send_signal(signal.SIGTERM)
    scene.happened("all stopped")
    assert ferry.process.wait(STOP_SECONDS) == 0


class Uploading(threading.Thread):
    """A client that sends the beginning of a file, and never its end."""

    def __init__(self, api, content):
        super().__init__(daemon=True)
        self._api, self._content = api, content
        self.is_over = threading.Event()
        self.start()

    def run(self):
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        with suppress(httpx.TransportError):
            self._api.post("/rest/transfer/file", content=self._body(), headers=headers)

    def _body(self):
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="half"\r\n\r\n'
        yield self._content
        self.is_over.wait(60)


@pytest.mark.parametrize("end", [kill, stop])
def test_everything_continues_after_a_restart(end, scene, seeds, chance, tmp_path):
    made = torrent("film.mkv", chance.randbytes(6 * 2**20))
    seeds.give(made, tmp_path / "given")
    seeds.limit_upload(SLOWLY)
    content = chance.randbytes(8_000_000)
    folder = a_folder(scene.account)
    file = a_file(scene.account, "large", folder=folder, blob=put(scene.store, content))
    scene.promises.hear(sum_of(content), "large")
    path = samples.film("long.avi", "-c:v", "mpeg4", "-c:a", "mp3", seconds=60, size="426x240")
    film = a_file(scene.account, "film.avi", blob=put(scene.store, path.read_bytes()))
    scene.promises.hear(sum_of(path.read_bytes()), "film.avi")

    with ferry_of_this_test() as ferry:
        asks = scene.asking(ferry.url)
        transfer_id = asks.add(made, seeds)
        links = [
            asks.api.get(path).headers["Location"].partition(ferry.url)[2]
            for path in (f"/rest/file/{file.pk}", f"/rest/folder/{folder.pk}/download")
        ]
        wholes = [asks.api.get(link) for link in links]
        half = Uploading(scene.asking(ferry.url).api, chance.randbytes(3_000_000))
        until(lambda: any(incoming().iterdir()))
        until(lambda: Transfer.objects.get(pk=transfer_id).progress_percent > 20)
        assert Transfer.objects.get(pk=transfer_id).state == "downloading"
        until(lambda: asks.api.get(f"/rest/file/{film.pk}/mp4").status_code == 200)
        until(converters)
        came = [beginning_of(asks.api, link) for link in links]
        end(ferry, scene)
        half.is_over.set()
        half.join(60)
    assert not converters()

    seeds.limit_upload(0)
    with ferry_of_this_test() as ferry:
        asks = scene.asking(ferry.url)
        for link, whole, beginning in zip(links, wholes, came, strict=True):
            headers = {"Range": f"bytes={len(beginning)}-", "If-Range": whole.headers["ETag"]}
            rest = asks.api.get(link, headers=headers)
            assert (rest.status_code, beginning + rest.content) == (206, whole.content)
        until(lambda: Transfer.objects.get(pk=transfer_id).state == "done")
        until(lambda: list(ids_on_disk()) == [])
        ready = until(lambda: is_made(asks.api, film))
        assert len(ready) > 0
    assert {file.name for file in File.objects.all()} == {"large", "film.avi", "film.mkv"}
    scene.all_even()


def beginning_of(api, link):
    with api.stream("GET", link) as answer:
        return next(answer.iter_raw(1_000_000))


def is_made(api, film):
    answer = api.get(f"/rest/file/{film.pk}/mp4")
    assert answer.status_code in (200, 503), answer.text
    if answer.status_code == 503 or "converting" in answer.json():
        return None
    return api.get(answer.json()["url"]).content
