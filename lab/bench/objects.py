"""A file in an object store, through Ferry and from the store itself."""

import io
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median

from django.utils import timezone

from lab.bench import library
from lab.bench.harness import Row, fetch, in_turns
from service.content import signed_links
from service.library.library import add_file
from service.store.objects.listing import key_of
from service.store.objects.store import ObjectStore
from tests import object_stores
from tests.serving import serving

PIECE_BYTES, PIECES = 2**20, 256
PREFIX = "bench"
WARMING_READERS = 8


class Film(io.RawIOBase):
    """A film of random bytes, which no one need keep."""

    def __init__(self) -> None:
        super().__init__()
        self._piece = os.urandom(PIECE_BYTES)
        self._pieces = PIECES

    def read(self, _size: int = -1) -> bytes:
        self._pieces -= 1
        return self._piece if self._pieces >= 0 else b""


def rows(home: Path) -> Iterator[Row]:
    with object_stores.seaweedfs() as store:
        bucket, owner = store.bucket(PREFIX), library.account("objects@example.org")
        with closing(ObjectStore(bucket, home, 0)) as objects:
            stored = objects.put(Film())
        film = add_file(owner, 0, "film.mkv", stored, timezone.now())
        itself = bucket.sign("GET", key_of(film.blob), 3600)
        settings = {"STORE_URL": store.url(PREFIX), **object_stores.KEYS}
        with serving(WEB_PROCESSES="2", WEB_THREADS="128", **settings) as server:
            ours = server.url + signed_links.file_link(owner, film, now=timezone.now())
            fetch(ours, WARMING_READERS)
            memory = server.resident_bytes()
            for readers in (1, 4):
                taken = in_turns(
                    ferry=lambda readers=readers: fetch(ours, readers),
                    store=lambda readers=readers: fetch(itself, readers),
                )
                ratio = median(taken["store"]) / median(taken["ferry"])
                number = "1 reader" if readers == 1 else f"{readers} readers"
                name = f"object with {number}, of the store itself"
                yield Row(name, ratio, at_least=0.5, relative="speed", raw=taken)
            grown = (server.resident_bytes() - memory) / 2**20
            yield Row("memory of the server meanwhile, grown by", grown, " MiB", under=32)
