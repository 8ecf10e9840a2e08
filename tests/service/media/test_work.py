import errno
import os
import signal
import threading
from contextlib import closing, contextmanager
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import connection
from django.utils import timezone
from PIL import Image

from service.errors import Busy, DiskFull
from service.library import library
from service.media import probing, work
from service.media.content_folders import StoredContent, content_of, scratch_folder
from service.media.sandbox import children as children_module
from service.media.sandbox import launcher
from service.media.sandbox.children import Children
from service.media.serving import local_socket
from service.media.serving.media_server import FileRequest
from service.media.sweep import sweep, sweep_rows
from service.media.work import LEASE, MediaWork
from service.models import Account, Media
from service.store.blobs import library_store
from service.store.disk_store import DiskStore
from tests.cases import each_case
from tests.service.builders import NOW, a_folder, mallory
from tests.service.media.samples import picture, short_film
from tests.service.media.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def media_of(file) -> Media:
    return probing.find_media(content_of(file))


def revision(owner) -> int:
    return Account.objects.get(pk=owner.pk).media_revision


@pytest.mark.promise("new media get pictures")
@pytest.mark.slow
def test_new_media_are_probed_and_their_pictures_made(worker, keep):
    photo, words, clip = keep(picture()), keep(b"words", "b.txt"), keep(short_film("mp4"), "c.mp4")
    worker.probe_once()
    assert [(media_of(each).state, media_of(each).kind) for each in (photo, words, clip)] == [
        ("probed", "picture"),
        ("probed", "other"),
        ("probed", "video"),
    ]
    assert (media_of(photo).width, media_of(photo).height) == (400, 300)
    assert 1900 < media_of(clip).duration_ms < 2200
    for each in (photo, clip):
        assert sorted(path.name for path in content_of(each).folder.iterdir()) == ["t220", "t32"]
    assert not content_of(words).folder.exists()


def test_a_broken_media_socket_is_opened_again(worker, tmp_path, monkeypatch, caplog):
    # No setting shortens this: the server would restart a second later.
    monkeypatch.setattr(work, "PAUSE_SECONDS", 0.01)
    (tmp_path / local_socket.LOCK).mkdir()
    with worker.going_on():
        wait_until(lambda: "the media server failed" in caplog.text)
        (tmp_path / local_socket.LOCK).rmdir()
        wait_until((tmp_path / local_socket.SOCKET).exists)


def test_the_same_content_is_looked_at_once(worker, keep):
    first, second = keep(picture(), "a.jpg"), keep(picture(), "b.jpg")
    worker.probe_once()
    assert media_of(first) == media_of(second)
    assert Media.objects.count() == 1


def test_media_added_later_are_probed_too(worker, keep):
    keep(picture())
    worker.probe_once()
    later = keep(picture(50, 50), "b.jpg")
    assert media_of(later) is None
    worker.probe_once()
    assert media_of(later).state == "probed"


def test_only_owners_of_probed_media_are_notified(worker, keep):
    keep(picture())
    owner, other = alice_of(), mallory()
    a_folder(other)
    assert (revision(owner), revision(other)) == (0, 0)
    worker.probe_once()
    assert (revision(owner), revision(other)) == (1, 0)
    worker.probe_once()
    assert revision(owner) == 1


def alice_of() -> Account:
    return Account.objects.get(email="alice@example.org")


def test_damaged_media_are_refused_with_a_reason(worker, keep):
    cut = keep(short_film("mp4")[:500], "cut.mp4")
    worker.probe_once()
    assert media_of(cut).state == "refused"
    assert media_of(cut).reason


def test_a_picture_that_turns_out_damaged_has_none(worker, keep):
    cut = keep(picture(2000, 1500)[:8000])
    worker.probe_once()
    assert (media_of(cut).state, media_of(cut).kind) == ("probed", "picture")
    assert not media_of(cut).has_picture
    assert "damaged" in media_of(cut).reason


def assert_put_off(worker, file):
    """Check that every probe is put off, and that none counts as a try."""
    for _time in range(probing.MOST_TRIES + 1):
        worker.probe_once()
        assert (media_of(file).state, media_of(file).tries) == ("wanted", 0)
        assert media_of(file).leased_until > timezone.now() + LEASE
        make_due()


def make_due():
    Media.objects.update(leased_until=timezone.now() - timedelta(seconds=1))


def test_missing_bytes_are_looked_for_again(worker, keep, library_folder, tmp_path):
    lost = keep(picture())
    place, elsewhere = library_folder.path(lost.blob), tmp_path / "unmounted"
    place.rename(elsewhere)
    assert_put_off(worker, lost)
    elsewhere.rename(place)
    worker.probe_once()
    assert media_of(lost).state == "probed"


@pytest.mark.parametrize("trouble", [OSError(errno.EIO, "of the disk"), DiskFull()])
def test_no_medium_is_blamed_for_a_disk_that_opens_nothing(worker, keep, trouble):
    file = keep(picture())
    with pytest.MonkeyPatch.context() as patch:
        # Only root can make a disk that fails to open a file, or that is full.
        patch.setattr(DiskStore, "on_disk", Mock(side_effect=trouble))
        assert_put_off(worker, file)
    worker.probe_once()
    assert media_of(file).state == "probed"


def test_no_medium_is_blamed_for_a_disk_that_reads_nothing(worker, keep, library_folder):
    """Reading the start of a process's memory fails as on a broken disk."""
    file = keep(picture())
    place = library_folder.path(file.blob)
    place.unlink()
    place.symlink_to("/proc/self/mem")
    assert_put_off(worker, file)
    place.unlink()
    place.write_bytes(picture())
    worker.probe_once()
    assert media_of(file).state == "probed"


def test_a_file_deleted_before_its_probe_is_treated_as_new_when_added_again(
    worker, keep, library_folder
):
    file = keep(picture())
    worker.note_new(NOW)
    library.delete_file(alice_of(), file.pk, NOW)
    library_folder.delete(file.blob)
    worker.probe_once()
    assert media_of(file) is None
    again = keep(picture())
    worker.probe_once()
    assert media_of(again).state == "probed"


@pytest.mark.slow
def test_media_that_crash_the_child_are_refused_after_two_tries(worker, keep, monkeypatch):
    """The child is killed as it gets the request, as by a crash of its decoder."""
    killed = []
    file = keep(picture())
    send = probing.Children.ask

    def ask_and_kill(children, medium, question, seconds):
        with children._one() as child:  # noqa: SLF001  The child that gets the next request.
            pid = child._running.pid  # noqa: SLF001  Nothing else shows its process.
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)
            return child.ask(medium, question, seconds)

    # No known file crashes a decoder, and the child must die between request and answer.
    monkeypatch.setattr(probing.Children, "ask", ask_and_kill)
    worker.probe_once()
    assert (media_of(file).state, media_of(file).tries) == ("wanted", 1)
    worker.probe_once()
    assert len(set(killed)) == 2
    assert (media_of(file).state, media_of(file).tries) == ("refused", 2)
    monkeypatch.setattr(probing.Children, "ask", send)
    other = keep(picture(50, 50), "b.jpg")
    worker.probe_once()
    assert media_of(other).state == "probed"


def test_no_medium_is_blamed_for_the_end_of_the_worker(keep):
    """The child is stopped when it gets the request; the worker must end without it."""
    children = Children(scratch_folder())
    warm, file = keep(b"words"), keep(picture(), "b.jpg")
    worker = MediaWork(children, lambda: True)
    worker.note_new(timezone.now())
    Media.objects.filter(sha1=warm.sha1).update(state="probed")
    with children._one() as child:  # noqa: SLF001  The only child.
        os.kill(child._running.pid, signal.SIGSTOP)  # noqa: SLF001  Nothing else shows its process.

    def look() -> None:
        with closing(connection):
            worker.probe_once()

    looking_on = threading.Thread(target=look)
    looking_on.start()
    wait_until(lambda: children._busy)  # noqa: SLF001  A stopped child shows nothing.
    worker.stop()
    looking_on.join(60)
    assert not looking_on.is_alive()
    assert (media_of(file).state, media_of(file).tries, media_of(file).leased_until) == (
        "wanted",
        0,
        None,
    )


@contextmanager
def busy_machine():
    """Let children run out of time."""
    with pytest.MonkeyPatch.context() as patch:
        # No setting shortens this, and a test can't keep a machine busy for minutes.
        patch.setattr(children_module, "PATIENCE", 0)
        yield


def test_no_medium_is_blamed_for_a_busy_machine(worker, keep):
    file = keep(picture())
    with busy_machine():
        for _time in range(3):
            worker.probe_once()
            assert (media_of(file).state, media_of(file).tries) == ("wanted", 0)
    assert media_of(file).leased_until > timezone.now()
    Media.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    worker.probe_once()
    assert media_of(file).state == "probed"


def test_a_request_on_a_busy_machine_may_be_retried(worker, keep):
    file = keep(picture())
    request = FileRequest(StoredContent(content_of(file), file.blob), {"size": "t32"})
    with busy_machine(), pytest.raises(Busy):
        worker.picture(request)
    worker.picture(request)
    assert content_of(file).picture("t32").exists()


def test_a_picture_that_timed_out_is_made_on_request(worker, keep):
    file = keep(picture())
    media = probing.row_of(content_of(file))
    with library_store().open(file.blob) as medium:
        probing.probe(worker.children, media, medium)
    probing.note([media])
    request = FileRequest(StoredContent(content_of(file), file.blob), {"size": "t32"})
    with busy_machine(), pytest.raises(Busy):
        worker.picture(request)
    assert media_of(file).has_picture


def test_no_medium_is_blamed_for_children_that_cannot_start(keep, tmp_path, caplog):
    file = keep(picture())
    with pytest.MonkeyPatch.context() as patch:
        # Children always start, unless they can't find their modules.
        patch.setitem(launcher.ENVIRONMENT, "PYTHONPATH", str(tmp_path))
        worker = MediaWork(Children(scratch_folder()), lambda: True)
        worker.probe_once()
    assert "can't start" in caplog.text
    assert (media_of(file).state, media_of(file).tries, media_of(file).leased_until) == (
        "wanted",
        0,
        None,
    )
    worker.probe_once()
    worker.stop()
    assert media_of(file).state == "probed"


def test_a_machine_that_cannot_start_processes_is_not_blamed_on_the_medium(
    library_folder, keep, tmp_path
):
    photo = keep(picture())
    unable = MediaWork(Children(tmp_path / "gone"), lambda: True)
    for _time in range(probing.MOST_TRIES):
        unable.probe_once()
    unable.stop()
    assert (media_of(photo).state, media_of(photo).tries) == ("wanted", 0)


def test_two_workers_never_look_at_the_same(worker, keep):
    for number in range(4):
        keep(picture(50 + number, 50), f"{number}.jpg")
    now = timezone.now()
    worker.note_new(now)
    mine, theirs = probing.lease(3, now, now + LEASE), probing.lease(3, now, now + LEASE)
    assert (len(mine), len(theirs)) == (3, 1)
    assert not {row.pk for row in mine} & {row.pk for row in theirs}
    assert probing.lease(3, now, now + LEASE) == []


def test_media_claimed_by_a_dead_worker_are_free_after_its_lease(worker, keep):
    keep(picture())
    now = timezone.now()
    worker.note_new(now)
    assert len(probing.lease(3, now, now + LEASE)) == 1
    assert probing.lease(3, now + LEASE - timedelta(seconds=1), now) == []
    assert len(probing.lease(3, now + LEASE, now + 2 * LEASE)) == 1


def test_media_claimed_but_not_begun_are_free_at_once(worker, keep):
    file = keep(picture())
    worker.note_new(timezone.now())
    worker.stop()
    worker._probe_batch()  # noqa: SLF001  `probe_once` stops before this.
    assert (media_of(file).state, media_of(file).leased_until) == ("wanted", None)
    assert media_of(file).tries == 0


def test_pictures_go_with_the_last_file_of_their_content(worker, keep):
    first, second = keep(picture(), "a.jpg"), keep(picture(), "b.jpg")
    other = keep(picture(50, 50), "c.jpg")
    worker.probe_once()
    kept, left = content_of(first).folder, content_of(other).folder
    owner, later = alice_of(), timezone.now() + timedelta(hours=2)
    library.delete_file(owner, first.pk, NOW)
    sweep(later)
    assert kept.exists()
    library.delete_file(owner, second.pk, NOW)
    sweep(timezone.now())
    assert kept.exists()
    sweep(later)
    sweep_rows(later)
    assert not kept.exists()
    assert left.exists()
    assert media_of(first) is None
    assert media_of(other) is not None


def test_old_scratch_is_cleared_away(library_folder):
    left = scratch_folder() / "left"
    left.touch()
    sweep(timezone.now())
    assert left.exists()
    sweep(timezone.now() + timedelta(hours=2))
    assert not left.exists()


def test_older_pictures_are_read_again_for_camera_data_after_new_ones(worker, keep):
    file, other = keep(with_camera()), keep(short_film(".mp4"), "b.mp4")
    worker.probe_once()
    before = {media_of(file).pk: "X-T4", media_of(other).pk: None}
    Media.objects.update(camera=None, taken=None)
    new = keep(picture(90, 90), "c.jpg")
    worker.note_new(timezone.now())
    probing.read_again(timezone.now())
    assert list(Media.objects.filter(state="wanted")) == [media_of(new)]
    worker.probe_once()
    probing.read_again(timezone.now())
    assert list(Media.objects.filter(state="wanted")) == [media_of(file)]
    worker.probe_once()
    probing.read_again(timezone.now())
    assert not Media.objects.filter(state="wanted").exists()
    models = {pk: (Media.objects.get(pk=pk).camera or {}).get("model") for pk in before}
    assert models == before


def test_svg_and_pdf_files_that_an_earlier_version_ignored_are_read_again_once(worker, keep):
    drawing = keep(b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', "a.SVG")
    odd, paper = keep(b"none", "b.svg"), keep(b"%PDF-1.7 none", "d.pdf")
    words = keep(b"words", "c.txt")
    worker.probe_once()
    Media.objects.update(kind="other", camera=None, has_picture=False)
    probing.read_again(timezone.now())
    wanted = {*Media.objects.filter(state="wanted").values_list("pk", flat=True)}
    assert wanted == {media_of(each).pk for each in (drawing, odd, paper)}
    worker.probe_once()
    assert media_of(drawing).kind == "picture"
    probing.read_again(timezone.now())
    assert not Media.objects.filter(state="wanted").exists()
    assert media_of(words).kind == "other"


def with_camera() -> bytes:
    exif = Image.Exif()
    exif[0x0110] = "X-T4"
    return picture(exif=exif)


@each_case(
    "facts",
    [
        {"taken": "2024-07-01\0" + "11:22:33"},
        {"taken": "yesterday"},
        {"taken": 5},
        {"camera": {"model": "X\0"}},
        {"camera": {"model": ""}},
        {"camera": {"aperture": 1e-320}},
        {"camera": {"aperture": float("nan")}},
        {"camera": {"place": "N"}},
        {"camera": []},
    ],
)
def test_invalid_camera_data_is_not_saved(facts):
    assert probing.are_usual({"kind": "picture"})
    assert not probing.are_usual({"kind": "picture"} | facts)
