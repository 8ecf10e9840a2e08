"""A worker that is killed in the middle of a conversion, and its successor."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from service.errors import Busy, NoWorker
from service.media import probing
from service.media.content_folders import Content
from service.media.pictures import pictures
from service.media.serving import requests, workers
from tests import databases
from tests.running import BASE
from tests.service.builders import a_file, alice, put
from tests.service.media import samples
from tests.service.media.samples import picture
from tests.service.media.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@contextmanager
def worker():
    environment = {
        **os.environ,
        "DATA_DIR": str(settings.DATA_DIR),
        "SECRET_KEY": settings.SECRET_KEY,
        "DATABASE_URL": databases.shared_url(),
    }
    command = [sys.executable, "manage.py", "work"]
    with subprocess.Popen(command, cwd=BASE, env=environment) as process:
        try:
            wait_until(lambda: is_at_its_desk(process))
            yield process
        finally:
            process.kill()


def is_at_its_desk(process) -> bool:
    """Return whether the worker answers, as the socket alone proves nothing.

    A killed worker leaves its socket, where only the next holder of the lock answers.
    """
    assert process.poll() is None
    try:
        requests.ask("nothing", 5)
    except Busy as refused:
        return refused.reason == Busy.reason
    return False


def converters() -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"libx264" in words and str(settings.DATA_DIR).encode() in words:
            found.append(int(process.name))
    return found


def test_the_next_worker_continues_with_films_and_pictures(library_folder):
    codecs = ("-c:v", "mpeg4", "-q:v", "4", "-c:a", "mp3")
    path = samples.film("killed.avi", *codecs, seconds=60, size="1280x720", rate="3")
    owner = alice()
    with path.open("rb") as stream:
        film = a_file(owner, "film.avi", blob=library_folder.put(stream))
    large = put(library_folder, picture(6000, 6000, kind="PNG"))
    photo = a_file(owner, "large.png", blob=large)
    content = Content(photo.sha1, photo.size_bytes)
    with worker() as killed, ThreadPoolExecutor() as threads:
        workers.ask(film, "segment", rendition="v720", number=0)
        (converter,) = converters()
        waiting = threads.submit(requests.ask, "picture", 60, size="i1600", file=photo.pk)
        wait_until(lambda: probing.find_media(content))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        wait_until(lambda: converter not in converters())
        assert isinstance(waiting.exception(), NoWorker)
    assert not content.picture("i1600").exists()
    with worker():
        workers.ask(film, "segment", rendition="v720", number=12)
        wait_until(lambda: is_shown(photo))
    place = Content(film.sha1, film.size_bytes).folder / "hls" / "v720"
    assert (place / "12.m4s").stat().st_size > 0
    assert probing.find_media(content).tries == 0


def is_shown(file) -> bool:
    try:
        return bool(pictures.read(file, "i1600"))
    except Busy:
        return False
