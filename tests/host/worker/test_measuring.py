"""What takes up space, as the worker measures it."""

import os
from pathlib import Path

import pytest
from django.utils import timezone

from host.worker import measuring
from service.media.content_folders import Content
from tests.service.builders import a_file, alice, put
from tests.service.conftest import library_folder

__all__ = ["library_folder"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def data(library_folder, settings):
    return Path(settings.DATA_DIR)


def fill(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(20_000))
    return path


def test_everything_is_counted_once_in_its_category(data, library_folder):
    a_file(alice(), blob=put(library_folder, bytes(30_000)))
    medium = Content("ab" * 20, 7)
    whole = fill(data / "transfers" / "7" / "0")
    (data / "library" / "blobs" / "same").hardlink_to(whole)
    places = {
        "orphans": data / "library" / "orphans" / "2026-11-23" / "x",
        "uploads": data / "library" / "incoming" / "x",
        "transfers": data / "transfers" / "8" / "0",
        "previews": medium.folder / "t220",
        "conversions": medium.folder / "hls" / "1080" / "0.mp4",
        "database": data / "ferry.sqlite3",
        "backups": data / "backups" / "x",
        "caches": data / "listings.sqlite3",
    }
    for place in places.values():
        fill(place)
    found = measuring.space()
    assert found.pop("library") == 30_000
    assert found.keys() == places.keys()
    assert {name: 20_000 <= size < 40_000 for name, size in found.items()} == dict.fromkeys(
        places, True
    )


def test_copies_of_objects_are_caches(data):
    before = measuring.space()["caches"]
    fill(data / "loans" / "x")
    assert measuring.space()["caches"] - before >= 20_000


def test_an_orphan_that_a_backup_links_to_still_takes_space(data):
    orphan = fill(data / "library" / "orphans" / "2026-11-23" / "x")
    (data / "backups").mkdir()
    (data / "backups" / "x").hardlink_to(orphan)
    found = measuring.space()
    assert found["orphans"] >= 20_000
    assert found["backups"] == 0


def test_the_last_measurement_is_saved_completely_or_not_at_all(data):
    assert measuring.last() is None
    measuring.measure(timezone.now())
    assert measuring.last().space["library"] == 0
    measuring.path().write_text("{")
    assert measuring.last() is None
