"""kill -9 of web processes, again and again, while people upload, rename, delete, add, download,
and pack.

Tested elsewhere: a kill at every single write (tests/service/test_kills.py), and what `make run`
does when its web server ends (tests/host/test_run.py).
"""

import os
import random
import signal
import threading
from collections import Counter
from contextlib import suppress
from itertools import count

import httpx
import pytest

from service.models import File, Transfer
from tests.faults.reckoning import incoming, sum_of
from tests.faults.tally import Reckoning
from tests.service.builders import a_file, a_folder, put
from tests.service.working import until
from tests.serving import serving

pytestmark = pytest.mark.slow

KILLS = 8
CUTS = 3
PEOPLE = 3


@pytest.fixture
def server(scene):
    with serving(WEB_PROCESSES="2") as server:
        until(lambda: len(server.workers) == 2)
        yield server


@pytest.fixture
def kill(server, scene):
    """Return a function that kills one web process, and waits until another has started."""

    def kill_one(pid=None):
        victim = pid or server.workers[0]
        os.kill(victim, signal.SIGKILL)
        scene.happened("web killed")
        until(lambda: victim not in server.workers and len(server.workers) == 2)

    return kill_one


class Busy(threading.Thread):
    """A person who performs one action after another, even if a response never arrives."""

    def __init__(self, live):
        super().__init__(daemon=True)
        self.done = 0
        self.trouble = None
        self._live = live
        self._is_over = threading.Event()
        self.start()

    def run(self):
        for number in count():
            if self._is_over.is_set():
                return
            try:
                self._live(number)
            except httpx.TransportError:
                continue
            except BaseException as trouble:  # noqa: BLE001  `end` reports it.
                self.trouble = trouble
                return
            self.done += 1

    def end(self):
        self._is_over.set()
        self.join(240)
        assert not self.is_alive()
        assert self.trouble is None, repr(self.trouble)


def kill_while(people, kill, chance):
    """Kill web processes, each time after people have done a few more things."""
    for _ in range(KILLS):
        aim = sum(each.done for each in people) + chance.randint(1, 12)
        until(lambda aim=aim: sum(each.done for each in people) >= aim)
        kill()
    for each in people:
        each.end()


def uploader(scene, server, number):
    mine, asks = random.Random(number), scene.asking(server.url)

    def live(turn):
        content = mine.randbytes(mine.choice([30, 70_000, 1_500_000]))
        name = f"{number} {turn}"
        file_id = asks.put(name, content)
        asks.rename(file_id, content, f"{name} renamed")
        if turn % 2:
            asks.delete(file_id, content)

    return live


def adder(scene, server, number, said):
    asks = scene.asking(server.url)

    def live(turn):
        digits = f"{number + 1:020x}{len(said):020x}"
        magnet = {"magnet": f"magnet:?xt=urn:btih:{digits}&dn={digits}"}
        answer = asks.api.post("/rest/transfer/magnet", data=magnet)
        assert answer.status_code == 200, answer.text
        said[digits] = answer.json()["id"]

    return live


@pytest.mark.promise("a killed web server loses nothing")
def test_acknowledged_changes_survive_a_kill_of_the_web_process(scene, server, kill, chance):
    """A magnet that is sent until the service answers is one transfer."""
    said = {}
    people = [Busy(uploader(scene, server, number)) for number in range(PEOPLE)]
    people += [Busy(adder(scene, server, number, said)) for number in range(PEOPLE)]
    kill_while(people, kill, chance)
    # An upload is a transfer too, but without a torrent.
    rows = Transfer.objects.exclude(info_hash_v1="").values_list("info_hash_v1", "pk")
    times = Counter(digits for digits, _pk in rows)
    lost = [str(each) for each in said.items() - dict(rows).items()]
    scene.even(Reckoning(len(said), lost, [each for each in times if times[each] > 1]))
    assert len(said) >= KILLS
    scene.all_even()
    assert File.objects.count() >= KILLS


@pytest.mark.parametrize("share", [0.3, 0.999])
def test_an_upload_that_was_cut_off_leaves_nothing(share, scene, server, kill):
    content, asks = os.urandom(6_000_000), scene.asking(server.url)
    sent = int(len(content) * share)

    def body():
        """Yield an upload, and kill the process that receives it in the middle."""
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="film"\r\n\r\n'
        yield content[:sent]
        (reader,) = until(lambda: writers_below(incoming(), server))
        kill(reader)
        yield content[sent:]
        yield b"\r\n--b--\r\n"

    scene.promises.ask(sum_of(content), "film")
    headers = {"Content-Type": "multipart/form-data; boundary=b", "Transfer-Encoding": "chunked"}
    with pytest.raises(httpx.TransportError):
        asks.api.post("/rest/transfer/file", content=body(), headers=headers)
    assert not File.objects.exists()
    scene.all_even()
    asks.put("film", content)
    scene.all_even()


def writers_below(folder, server):
    places = {pid: f"/proc/{pid}/fd" for pid in server.workers}
    return {
        pid
        for pid, place in places.items()
        for name in os.listdir(place)  # noqa: PTH208
        if target_of(f"{place}/{name}").startswith(str(folder))
    }


def target_of(link):
    with suppress(FileNotFoundError):
        return os.readlink(link)  # noqa: PTH115
    return ""


@pytest.mark.promise("an interrupted download resumes", cases=["file"])
@pytest.mark.parametrize("way", ["file", "zip"])
def test_an_interrupted_download_resumes(way, scene, server, kill):
    content, asks = os.urandom(8_000_000), scene.asking(server.url)
    folder = a_folder(scene.account)
    file = a_file(scene.account, "film", folder=folder, blob=put(scene.store, content))
    scene.promises.hear(sum_of(content), "film")
    path = {"file": f"/rest/file/{file.pk}", "zip": f"/rest/folder/{folder.pk}/download"}[way]
    link = asks.api.get(path).headers["Location"]
    whole = asks.api.get(link)
    assert content in whole.content
    came = b""
    for part in range(1, CUTS + 1):
        headers = {"Range": f"bytes={len(came)}-", "If-Range": whole.headers["ETag"]}
        with asks.api.stream("GET", link, headers=headers) as answer:
            assert answer.status_code == 206
            came += read(answer, len(whole.content) * part // CUTS - len(came))
            kill()
    assert came == whole.content
    scene.all_even()


def read(answer, most_bytes):
    pieces = b""
    for piece in answer.iter_raw(65_536):
        pieces += piece
        if len(pieces) >= most_bytes:
            break
    return pieces[:most_bytes]
