"""What the cache of converted films deletes when it holds more than its budget."""

import os
import time

import pytest

from service.media.cache import BLOCK_BYTES, DRAFT_SECONDS, RENDITIONS, Cache
from service.media.content_folders import Content
from service.store.folders import KEPT_SECONDS


@pytest.fixture
def rendition(library_folder):
    """Return a folder of segments, as converters leave one."""
    folder = Content("a" * 40, 7).folder / RENDITIONS / "v480"
    folder.mkdir(parents=True)
    return folder


def written(folder, name, age_seconds):
    """Write a file of ten bytes, which takes a block, that was last read so long ago."""
    path = folder / name
    path.write_bytes(b"x" * 10)
    read_at = time.time() - age_seconds
    os.utime(path, (read_at, read_at))


def names_in(folder):
    return {path.name for path in folder.iterdir()}


def test_the_segments_read_longest_ago_go_until_a_tenth_of_the_budget_is_free(rendition):
    for number in range(10):
        written(rendition, f"{number}.m4s", age_seconds=5000 - number)
    Cache(10 * BLOCK_BYTES).sweep()
    assert len(names_in(rendition)) == 10
    Cache(6 * BLOCK_BYTES).sweep()
    assert names_in(rendition) == {f"{number}.m4s" for number in range(5, 10)}


def test_the_cache_takes_at_most_half_of_what_the_disk_has_without_it(rendition, monkeypatch):
    for number in range(10):
        written(rendition, f"{number}.m4s", age_seconds=5000 - number)
    # No test can fill the disk.
    monkeypatch.setattr("service.media.cache.free_bytes", lambda _folder: 2 * BLOCK_BYTES)
    Cache(10 * BLOCK_BYTES).sweep()
    assert names_in(rendition) == {f"{number}.m4s" for number in range(5, 10)}


def test_what_someone_watches_stays_however_small_the_budget(rendition):
    written(rendition, "0.m4s", age_seconds=2 * KEPT_SECONDS)
    written(rendition, "1.m4s", age_seconds=KEPT_SECONDS / 2)
    Cache(5).sweep()
    assert names_in(rendition) == {"1.m4s"}


def test_what_every_segment_needs_stays(rendition):
    written(rendition, "init.mp4", age_seconds=5000)
    written(rendition, "0.m4s", age_seconds=5000)
    Cache(5).sweep()
    assert names_in(rendition) == {"init.mp4"}


def test_an_unfinished_file_goes_after_a_day_and_not_before(rendition):
    written(rendition, ".begun", age_seconds=DRAFT_SECONDS / 2)
    written(rendition, ".abandoned", age_seconds=DRAFT_SECONDS * 2)
    Cache(5).sweep()
    assert names_in(rendition) == {".begun"}
