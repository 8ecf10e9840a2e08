"""A worker that is killed in the middle of a conversion, and the one after it."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from service import playback
from service.errors import Busy, NoWorker
from service.media import desk, looking, pictures
from service.media.places import Content
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
        "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
    }
    command = [sys.executable, "manage.py", "work"]
    with subprocess.Popen(command, cwd=BASE, env=environment) as process:
        try:
            wait_until(lambda: is_at_its_desk(process))
            yield process
        finally:
            process.kill()


def is_at_its_desk(process) -> bool:
    """A killed one leaves its socket; only the lock's next holder answers there."""
    assert process.poll() is None
    try:
        desk.ask("nothing", 5)
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


def test_the_next_request_recovers(library_folder):
    path = samples.film("killed.avi", "-c:v", "mpeg4", "-c:a", "mp3", seconds=60, size="1280x720")
    with path.open("rb") as stream:
        file = a_file(alice(), "film.avi", blob=library_folder.put(stream))
    with worker() as killed:
        playback.asked(file, "segment", rendition="v720", number=0)
        (converter,) = converters()
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        wait_until(lambda: converter not in converters())
    with worker():
        playback.asked(file, "segment", rendition="v720", number=12)
    place = Content(file.sha1, file.size_bytes).folder / "hls" / "v720"
    assert (place / "12.m4s").stat().st_size > 0


def test_a_picture_that_was_being_made_is_made_by_the_next(library_folder):
    file = a_file(alice(), "large.png", blob=put(library_folder, picture(9000, 9000, kind="PNG")))
    content = Content(file.sha1, file.size_bytes)
    facts = {"sha1": file.sha1, "size_bytes": file.size_bytes, "blob": file.blob, "size": "i1600"}
    with worker() as killed, ThreadPoolExecutor() as threads:
        waiting = threads.submit(desk.ask, "picture", 60, **facts)
        wait_until(lambda: looking.known(content))
        killed.send_signal(signal.SIGKILL)
        assert isinstance(waiting.exception(), NoWorker)
    assert not content.picture("i1600").exists()
    with worker():
        wait_until(lambda: is_shown(file))
    assert looking.known(content).tries == 0


def is_shown(file) -> bool:
    try:
        return bool(pictures.read(file, "i1600"))
    except Busy:
        return False
