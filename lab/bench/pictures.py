"""Pictures of media: how soon a requested one is made, and how many a second in passing."""

import os
import random
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from statistics import median

import httpx
from django.conf import settings
from PIL import Image

from lab.bench.harness import ROUNDS, Row, seconds
from lab.bench.library import PASSWORD, account
from service.library import library
from service.media.content_folders import Content, scratch_folder
from service.media.pictures.sizes import THUMBNAIL
from service.media.sandbox.children import Children
from service.media.sandbox.ffmpeg_access import ffmpeg
from service.media.work import MediaWork
from service.models import File
from service.store.blobs import library_store
from tests.service.builders import NOW
from tests.service.media.samples import short_film
from tests.serving import serving

COUNT = 1000
PHOTOS = 20  # different ones; the rest differ only in their last bytes
SIDES = (4000, 3000)
PEER_COUNT = 40


def rows(_home: Path) -> Iterator[Row]:
    owner = account("pictures@example.org")
    worker = MediaWork(Children(scratch_folder()), lambda: False)
    clip = short_film("mp4", "-c:v", "libx264", source="testsrc2=s=1920x1080:d=60")
    kept = {"a film": add(owner, "film.mp4", clip), "a photo": add(owner, "a.jpg", photo(0))}
    with worker.going_on(), serving(WEB_PROCESSES="1") as server:
        auth = owner.email, PASSWORD
        with httpx.Client(base_url=server.url, auth=auth, trust_env=False) as v1:
            for what, file in kept.items():
                yield thumbnail_row(v1, what, file)
    yield passing_row(owner)


def thumbnail_row(v1: httpx.Client, what: str, file: File) -> Row:
    kept = Content(file.sha1, file.size_bytes).picture(THUMBNAIL.name)
    blob = library_store().path(file.blob)

    def ask() -> None:
        kept.unlink(missing_ok=True)
        v1.get(f"/rest/file/{file.pk}/thumbnail").raise_for_status()

    ask()
    taken = {
        "ours": [seconds(ask) for _ in range(ROUNDS)],
        "ffmpeg alone": [seconds(lambda: by_ffmpeg(blob)) for _ in range(ROUNDS)],
    }
    return Row(f"32 px thumbnail of {what}", median(taken["ours"]), " s", under=0.15, raw=taken)


def by_ffmpeg(blob: Path) -> None:
    argv = [ffmpeg(), "-nostdin", "-loglevel", "error", "-y", "-i", str(blob), "-frames:v", "1"]
    subprocess.run([*argv, "-vf", "scale=32:-1", "-f", "image2", os.devnull], check=True)


def passing_row(owner: object) -> Row:
    """Time what the worker does with a folder of photos: it probes each, and draws two sizes."""
    photos = [photo(number) for number in range(PHOTOS)]
    files = [
        add(owner, f"{number}.jpg", photos[number % PHOTOS] + number.to_bytes(4))
        for number in range(COUNT)
    ]
    worker = MediaWork(Children(scratch_folder()), lambda: True)
    ours = COUNT / seconds(worker.probe_once)
    worker.stop()
    missing = [
        each for each in files if not Content(each.sha1, each.size_bytes).picture("t32").exists()
    ]
    assert not missing
    blobs = [library_store().path(each.blob) for each in files[:PEER_COUNT]]
    with ThreadPoolExecutor(settings.MEDIA_JOBS) as threads:
        peer = PEER_COUNT / seconds(lambda: list(threads.map(by_ffmpeg, blobs)))
    raw = {"ours": [ours], "ffmpeg alone": [peer]}
    return Row("photos of 12 megapixels a second, in passing", ours, "/s", at_least=30, raw=raw)


def add(owner: object, name: str, content: bytes) -> File:
    return library.add_file(owner, 0, name, library_store().put(BytesIO(content)), NOW)


def photo(number: int) -> bytes:
    """Return a photo as large as a phone's, with about as much detail."""
    rough = Image.frombytes("RGB", (400, 300), random.Random(number).randbytes(400 * 300 * 3))
    target = BytesIO()
    rough.resize(SIDES, Image.Resampling.BICUBIC).save(target, "JPEG", quality=85)
    return target.getvalue()
