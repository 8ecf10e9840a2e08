"""If the disk stores a name before the content, a power cut leaves half a picture for good."""

import pytest

from common.storage.durable import sync
from service.media import content_folders
from service.media.hls import films
from tests.powercuts.disk import disk_at
from tests.service.conftest import children
from tests.service.media import samples
from tests.service.media.watching import Viewer, playing
from webui.previews.thumbnail_cache import Pictures

pytestmark = pytest.mark.slow
__all__ = ["children"]
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(100_000)


@pytest.fixture
def disk(tmp_path, settings):
    with disk_at(tmp_path) as disk:
        settings.DATA_DIR = disk.place
        yield disk


def keep_in_the_site(folder):
    Pictures(folder / "thumbs").get("a mark", lambda: iter([PICTURE]))


def keep_in_the_service(_folder):
    content_folders.write_durably(content_folders.Content("a" * 40, 5).picture("48"), PICTURE)


@pytest.mark.parametrize("keep", [keep_in_the_site, keep_in_the_service])
def test_a_picture_is_whole_after_a_power_cut(keep, disk):
    keep(disk.place)
    cut_once_names_are_known(disk)
    assert PICTURE in [path.read_bytes() for path in disk.place.rglob("*") if path.is_file()]


@pytest.mark.django_db
def test_a_film_is_whole_after_a_power_cut(disk, children):
    path = samples.film("whole.avi", "-c:v", "mpeg4", "-c:a", "mp3", seconds=2)
    with playing(children) as player:
        viewer = Viewer(player, path)
        player.film(viewer.request())
        assert player.films.make_one()
    film = films.folder_of(viewer.content) / films.FILM
    content = film.read_bytes()
    cut_once_names_are_known(disk)
    assert film.read_bytes() == content


def cut_once_names_are_known(disk):
    """Cut the power after syncing another file, which writes the journal, and with it all names."""
    other = disk.place / "other"
    other.write_bytes(b"x")
    sync(other)
    disk.cut()
    disk.unplug()
    disk.plug_in()
