"""kill -9 of ffmpeg and of the worker, again and again, while a film is converted for viewers.

Tested elsewhere: one kill of a converter (tests/service/media/hls/test_converter_runs.py), and of a
worker that makes a segment or a picture (tests/service/media/test_killed_worker.py).
"""

import io
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import av
import pytest

from service.media.content_folders import Content
from service.media.hls import films
from tests.faults.tally import Reckoning
from tests.service.builders import a_file
from tests.service.media import samples
from tests.service.media.test_killed_worker import converters
from tests.service.working import until, working
from tests.serving import serving

pytestmark = pytest.mark.slow

SECONDS, RATE = 60, 25


@pytest.fixture
def asks(scene):
    with serving() as server:
        yield scene.asking(server.url)


@pytest.fixture
def film(scene):
    path = samples.film(
        "long.avi", "-c:v", "mpeg4", "-c:a", "mp3", seconds=SECONDS, size="426x240", rate=str(RATE)
    )
    with path.open("rb") as stream:
        return a_file(scene.account, "film.avi", blob=scene.store.put(stream))


def frames_of(content: bytes) -> int:
    with av.open(io.BytesIO(content)) as media:
        return sum(1 for _frame in media.decode(video=0))


def got(api, path: str):
    """Request a path until the answer isn't 503, and return the answer."""

    def answered():
        answer = api.get(path)
        assert answer.status_code in (200, 503), answer.text
        return answer if answer.status_code == 200 else None

    return until(answered)


def killed():
    """Kill the running converter: each ends by itself after its part, and another begins."""
    for converter in converters():
        with suppress(ProcessLookupError):
            os.kill(converter, signal.SIGKILL)
            return converter
    return None


def kill_converter(scene):
    converter = until(killed)
    scene.happened("converter killed")
    until(lambda: converter not in converters())


def test_every_segment_arrives_whole_despite_kills_of_its_converter(scene, asks, film):
    """Parts are requested in an order that no converter foresees, and far from the end, so that
    each converter has more to do than its pipe holds."""
    with working(), ThreadPoolExecutor() as threads:
        master = got(asks.api, got(asks.api, f"/rest/file/{film.pk}/hls").json()["url"])
        base = str(master.url).rpartition("/")[0]
        name = re.findall(r"^(v\d+)/index\.m3u8$", master.text, re.MULTILINE)[0]
        index = got(asks.api, f"{base}/{name}/index.m3u8").text
        parts = re.findall(r"^[\w.]+\.m4s$", index, re.MULTILINE)
        whole, middle = {}, len(parts) // 2
        for part in (parts[middle], parts[0], parts[middle - 1]):
            waiting = threads.submit(got, asks.api, f"{base}/{name}/{part}")
            kill_converter(scene)
            whole[part] = waiting.result().content
        for part in ("init.mp4", *parts):
            whole[part] = whole.get(part) or got(asks.api, f"{base}/{name}/{part}").content
    frames = frames_of(whole["init.mp4"] + b"".join(whole[part] for part in parts))
    half = [] if frames == SECONDS * RATE else [f"{frames} frames"]
    scene.even(Reckoning(len(parts), half=half))


def test_a_whole_film_is_made_in_the_end_and_never_shown_half(scene, asks, film):
    place = films.folder_of(Content(film.sha1, film.size_bytes)) / films.FILM
    path = f"/rest/file/{film.pk}/mp4"
    with working() as work:
        assert got(asks.api, path).json()["converting"]
        (converter,) = until(converters)
        work.kill()
        scene.happened("worker killed")
        until(lambda: converter not in converters())
        assert not place.exists()
    with working():
        kill_converter(scene)
        assert not place.exists()
        until(lambda: "converting" not in got(asks.api, path).json())
    frames = frames_of(asks.api.get(asks.api.get(path).json()["url"]).content)
    scene.even(Reckoning(1, half=[] if frames == SECONDS * RATE else [f"{frames} frames"]))
