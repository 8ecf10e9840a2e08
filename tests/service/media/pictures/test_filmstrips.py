"""Filmstrips, which the worker makes of films while it has nothing else to do."""

import pytest
from PIL import ImageStat

from service.media.content_folders import content_of
from service.media.pictures import filmstrips
from service.media.pictures.filmstrips import Filmstrips, has_filmstrip
from service.media.pictures.pictures import find
from service.media.pictures.sizes import FILMSTRIP
from service.media.sandbox.launcher import Failed
from service.store.blobs import library_store
from tests.cases import each_case
from tests.service.media.samples import picture, short_film, shown

pytestmark = pytest.mark.django_db(transaction=True)


def strip_of(file):
    return shown(find(content_of(file).picture(FILMSTRIP)))


@pytest.mark.promise("films that no one has played have pictures to seek by")
@pytest.mark.slow
def test_each_film_gets_a_filmstrip_the_newest_first(worker, keep):
    keep(picture(), "photo.jpg")
    # Films that come together are probed at once, in any order.
    old = keep(short_film("mp4"), "old.mp4")
    worker.probe_once()
    new = keep(short_film("mkv"), "new.mkv")
    worker.probe_once()
    assert worker.filmstrips.make_next()
    assert (has_filmstrip(content_of(old)), has_filmstrip(content_of(new))) == (False, True)
    assert worker.filmstrips.make_next()
    assert has_filmstrip(content_of(old))
    assert not worker.filmstrips.make_next()
    # Frames of 120 by 90 pixels in ten rows of ten, none of them blank.
    strip = strip_of(new)
    assert strip.size == (1200, 900)
    for place in ((0, 0), (600, 450), (1080, 810)):
        x, y = place
        assert max(ImageStat.Stat(strip.crop((x, y, x + 120, y + 90))).stddev) > 10


class Interrupted:
    def ask(self, *_question):
        raise Failed("it was killed", is_limit=True)


def test_the_next_worker_makes_what_was_interrupted(worker, keep, children):
    film = keep(short_film("mp4"), "a.mp4")
    worker.probe_once()
    Filmstrips(worker.jobs, Interrupted()).make_next()
    assert not has_filmstrip(content_of(film))
    assert Filmstrips(worker.jobs, children).make_next()
    assert has_filmstrip(content_of(film))


def test_the_next_worker_makes_none_again(worker, keep, children):
    film = keep(short_film("mp4"), "a.mp4")
    worker.probe_once()
    worker.filmstrips.make_next()
    changed_at = content_of(film).picture(FILMSTRIP).stat().st_mtime_ns
    assert not Filmstrips(worker.jobs, children).make_next()
    assert content_of(film).picture(FILMSTRIP).stat().st_mtime_ns == changed_at


def test_a_film_without_pictures_is_tried_once(worker, keep, children):
    film = keep(short_film("mp4"), "a.mp4")
    worker.probe_once()
    # As by a failing disk.
    library_store().on_disk(film.blob).write_bytes(b"")
    assert worker.filmstrips.make_next()
    assert not has_filmstrip(content_of(film))
    assert not Filmstrips(worker.jobs, children).make_next()


@each_case(("load", "is_made"), [(99.0, False), (0.1, True)])
def test_filmstrips_wait_until_the_machine_is_idle(worker, keep, monkeypatch, load, is_made):
    film = keep(short_film("mkv" if is_made else "mp4"), f"{load}.film")
    worker.probe_once()
    # A test can't make the machine idle, nor may it keep it busy for a minute.
    monkeypatch.setattr(filmstrips.os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert worker.filmstrips.make_if_idle() == is_made
    assert has_filmstrip(content_of(film)) == is_made
