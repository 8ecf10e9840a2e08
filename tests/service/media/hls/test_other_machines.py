"""Films that another machine has begun to convert."""

import os
import shutil

import pytest

from service.media.cache import BLOCK_BYTES, RENDITIONS, Cache
from service.media.content_folders import Content
from service.media.hls.plans import PLAN, VERSION
from service.store.blobs import library_store
from service.store.disk_store import DiskStore
from service.store.folders import make_folder
from tests.service.media import samples
from tests.service.media.waiting import wait_until
from tests.service.media.watching import Viewer, playing

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def published(monkeypatch):
    """Let the store publish files, as an object store does, and return them by their paths."""
    files = {}

    def publish(_store, path):
        files[path] = path.read_bytes()

    def fetch_published(_store, path):
        if path not in files:
            return False
        make_folder(path.parent)
        path.write_bytes(files[path])
        return True

    def unpublish(_store, folder):
        for path in [each for each in tuple(files) if each.is_relative_to(folder)]:
            del files[path]

    for method in (publish, fetch_published, unpublish):
        monkeypatch.setattr(DiskStore, method.__name__, method)
    return files


@pytest.fixture
def viewer(library_folder, children, published):
    with playing(children) as player:
        yield Viewer(player, samples.film("plain.mp4"))


@pytest.mark.promise("machines share segments")
def test_segments_begun_on_another_machine_are_fetched(viewer, published):
    viewer.player.begin(viewer.request())
    folders = [viewer.folder / each.name for each in viewer.plan.first()]
    begun = [folder / name for folder in folders for name in ("init.mp4", "0.m4s")]
    wait_until(lambda: published.keys() >= set(begun))
    shutil.rmtree(viewer.folder)
    published |= dict.fromkeys(begun, b"from the other machine")
    assert library_store().fetch_published(viewer.folder / PLAN)
    viewer.player.begin(viewer.request())
    assert {path.read_bytes() for path in begun} == {b"from the other machine"}


def test_what_other_machines_made_stays_within_the_budget(library_folder, published):
    folder = Content("a" * 40, 1).folder / RENDITIONS / "v480"
    paths = [folder / f"{number}.m4s" for number in range(4)]
    published |= dict.fromkeys(paths, bytes(40))
    one, other = Cache(5 * BLOCK_BYTES // 2), Cache(5 * BLOCK_BYTES // 2)
    for cache, path in zip((one, other, one, other), paths, strict=True):
        assert cache.has(path)
        os.utime(path, (0, 0))
    assert sum(path.exists() for path in paths) == 2


def test_segments_of_an_outdated_plan_are_no_longer_published(viewer, published):
    viewer.segment("vcopy", 0)
    segment, plan = viewer.folder / "vcopy" / "0.m4s", viewer.folder / PLAN
    assert segment in published
    plan.write_text(plan.read_text().replace(f'"version":{VERSION}', f'"version":{VERSION - 1}'))
    assert viewer.plan
    assert segment not in published
