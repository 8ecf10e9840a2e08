"""Whole films as MP4, made in the background."""

import errno
import os
import struct

import pytest

from common.storage import locks
from service.errors import CannotConvert, DiskFull
from service.media import content_folders
from service.media.content_folders import StoredContent
from service.media.hls import films
from service.media.sandbox.launcher import Failed
from service.media.serving.media_server import FileRequest
from service.store.blobs import library_store
from tests.cases import each_case
from tests.service.media import samples
from tests.service.media.watching import Viewer, playing

pytestmark = pytest.mark.django_db

KINDS = (b"ftyp", b"moov", b"mdat")


@pytest.fixture
def viewer(library_folder, children):
    path = samples.film("whole.avi", "-c:v", "mpeg4", "-c:a", "mp3", seconds=2)
    with playing(children) as player:
        viewer = Viewer(player, path)
        assert player.film(viewer.request())["is_ready"] is False
        yield viewer


@pytest.fixture
def place(viewer):
    return films.folder_of(viewer.content) / films.FILM


def test_a_requested_film_is_made_once(viewer, place):
    assert viewer.player.films.make_one()
    assert place.stat().st_size > 0
    assert not viewer.player.films.make_one()


def test_a_film_that_is_finished_while_its_note_is_written_is_ready(viewer, monkeypatch, place):
    (films.wanted_folder() / viewer.content.folder.name).unlink()

    def keep(path, content, keep=content_folders.write_durably):
        if path.parent == films.wanted_folder():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"a film")
        keep(path, content)

    # Another worker must finish the film between two steps of one response.
    monkeypatch.setattr(content_folders, "write_durably", keep)
    assert viewer.player.film(viewer.request()) == {"is_ready": True}
    assert viewer.player.films.make_one()
    assert place.read_bytes() == b"a film"


def test_a_repeated_request_keeps_its_place_in_the_queue(viewer):
    note = films.wanted_folder() / viewer.content.folder.name
    os.utime(note, (1, 1))
    assert viewer.player.film(viewer.request())["is_ready"] is False
    assert note.stat().st_mtime == 1


def test_a_film_that_took_long_to_reach_the_disk_stays(viewer, monkeypatch, place):
    def sync_slowly(path):
        os.utime(path, (1, 1))

    # No disk in a test is that slow.
    monkeypatch.setattr(films, "sync", sync_slowly)
    other = films.folder_of(content_folders.Content("0" * 40, 1)) / films.FILM
    other.parent.mkdir(parents=True)
    other.write_bytes(bytes(10**6))
    viewer.player.cache.budget_bytes = 10**6
    assert viewer.player.films.make_one()
    assert place.stat().st_size > 0


def test_two_workers_never_make_the_same(viewer, place):
    with locks.alone(films.wanted_folder() / films.LOCK) as is_alone:
        assert is_alone
        assert not viewer.player.films.make_one()
    assert not place.exists()
    assert viewer.player.films.make_one()


def test_no_content_is_blamed_for_a_file_that_went_meanwhile(viewer, place):
    library_store().path(viewer.file.blob).unlink()
    assert viewer.player.films.make_one()
    assert not place.exists()
    with viewer.path.open("rb") as stream:
        blob = library_store().put(stream).blob
    again = FileRequest(StoredContent(viewer.content, blob), {})
    assert viewer.player.film(again)["is_ready"] is False
    assert viewer.player.films.make_one()
    assert place.exists()


def test_an_unreadable_note_does_not_block_others(viewer, place):
    odd = films.wanted_folder() / f"{'0' * 40}-1"
    odd.write_text("[]")
    os.utime(odd, (0, 0))
    assert viewer.player.films.make_one()
    assert viewer.player.films.make_one()
    assert place.exists()


@pytest.mark.parametrize("trouble", [OSError(errno.EMFILE, "files"), DiskFull()])
def test_no_trouble_of_the_machine_is_remembered(viewer, monkeypatch, place, trouble):
    def fail(*_arguments, **_options):
        raise trouble

    with monkeypatch.context() as patched:
        # Really running out of descriptors or disk space would end the test before the converter.
        patched.setattr(films, "start_piped", fail)
        assert viewer.player.films.make_one()
    assert viewer.player.film(viewer.request())["is_ready"] is False
    assert viewer.player.films.make_one()
    assert place.exists()


@pytest.mark.parametrize("circumstance", [{}, {"is_late": True}, {"is_killed": True}])
def test_only_failures_caused_by_the_film_are_remembered(viewer, monkeypatch, circumstance):
    def fail(*_arguments):
        raise Failed("it is odd", **circumstance)

    # The same film must fail in each of these ways.
    monkeypatch.setattr(viewer.player.films, "_make", fail)
    assert viewer.player.films.make_one()
    if circumstance:
        assert viewer.player.film(viewer.request())["is_ready"] is False
    else:
        with pytest.raises(CannotConvert):
            viewer.player.film(viewer.request())


FTYP, MOOV, MDAT = (struct.pack(">I4s", 16, kind) + b"isom" + bytes(4) for kind in KINDS)


@each_case(
    ("content", "begins"),
    [
        (FTYP + MOOV + MDAT, True),
        (FTYP + struct.pack(">I4sQ", 1, b"free", 24) + bytes(8) + MOOV, True),
        (FTYP + MDAT + MOOV, False),
        (MOOV + FTYP, False),
        (FTYP.replace(b"isom", films.QUICKTIME) + MOOV, False),
        (FTYP, False),
        (FTYP + struct.pack(">I4s", 0, b"free") + bytes(8) + MOOV, False),
        (FTYP + (struct.pack(">I4s", 8, b"free") * films.MOST_BOXES) + MOOV, False),
        (b"", False),
    ],
)
def test_only_a_film_whose_index_comes_first_plays_from_its_start(content, begins, tmp_path):
    blob = tmp_path / "film"
    blob.write_bytes(content)
    assert films.begins_with_its_index(blob) == begins
