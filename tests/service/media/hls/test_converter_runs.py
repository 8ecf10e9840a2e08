"""When converters run, how viewers share them, and what happens when one is killed."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import pytest

from service.errors import Busy, CannotConvert, DiskFull, NotFound
from service.media.cache import FILMS, Cache
from service.media.content_folders import Content
from service.media.hls import converter_runs
from service.media.hls.converter_process import ConverterWork
from service.media.hls.converter_runs import Conversion, Converters
from service.media.hls.renditions import Rendition, RenditionKind
from service.media.sandbox import job_turns
from service.media.sandbox.job_turns import Jobs
from service.store.blobs import library_store
from service.store.folders import make_folder
from tests.service.media import samples
from tests.service.media.waiting import wait_until
from tests.service.media.watching import Viewer, converters_of, packets, playing

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LONG = 120


@pytest.fixture
def player(library_folder, children):
    with playing(children) as player:
        yield player


@pytest.fixture
def film():
    """Return a film of 60 segments, with few frames, each too large for a pipe to hold many."""
    return samples.film(
        "long.avi",
        "-c:v",
        "mpeg4",
        "-q:v",
        "4",
        "-c:a",
        "mp3",
        seconds=LONG,
        size="1280x720",
        rate="3",
    )


@pytest.fixture
def viewer(player, film):
    viewer = Viewer(player, film)
    assert viewer.plan
    return viewer


def pid_of(player) -> int:
    (pid,) = converters_of(player)
    return pid


def test_nothing_is_converted_before_a_request(player, viewer):
    assert viewer.names()[:2] == ["v720", "v480"]
    assert converters_of(player) == []
    assert not (viewer.folder / "v720").exists()


@pytest.mark.promise("viewers share a converter")
def test_many_viewers_share_one_converter(viewer, monkeypatch):
    started = count_runs(monkeypatch)
    with ThreadPoolExecutor(8) as threads:
        requests = [threads.submit(viewer.segment, "v720", 0) for _viewer in range(8)]
        assert len({each.result() for each in requests}) == 1
        requests = [threads.submit(viewer.segment, "v720", 1) for _viewer in range(8)]
        assert len({each.result() for each in requests}) == 1
    assert started() == 1


def count_runs(monkeypatch):
    """Return a function that counts the converters started since."""
    seen = []
    begin = converter_runs.ConverterRun.__init__

    def counted(run, *args):
        seen.append(run)
        begin(run, *args)

    # Polling the processes would miss a converter that ends between two polls.
    monkeypatch.setattr(converter_runs.ConverterRun, "__init__", counted)
    return lambda: len(seen)


def test_a_converter_waits_when_it_is_ahead_of_its_viewers(player, viewer):
    viewer.segment("v480", 0)
    last = converter_runs.PICTURES_AHEAD
    wait_until((viewer.folder / "v480" / f"{last}.m4s").exists)
    pid = pid_of(player)
    viewer.segment("v480", last + 1)
    assert pid_of(player) == pid
    assert not (viewer.folder / "v480" / "29.m4s").exists()


@pytest.mark.promise("an idle converter stops")
def test_an_idle_converter_is_stopped(player, viewer, monkeypatch):
    # No setting shortens this, and a test would wait for half a minute.
    monkeypatch.setattr(converter_runs, "IDLE_SECONDS", 0.5)
    viewer.segment("v480", 0)
    wait_until(lambda: not converters_of(player))
    assert player.converters.jobs.converting().__enter__() is None


@pytest.mark.promise("a seek starts at its position")
def test_a_seek_starts_conversion_at_its_position(player, viewer):
    viewer.segment("v480", 0)
    first = pid_of(player)
    viewer.segment("v480", 25)
    assert pid_of(player) != first
    assert not (viewer.folder / "v480" / "15.m4s").exists()


@pytest.mark.promise("a film starts at once")
def test_the_beginning_is_made_before_a_player_asks(player, viewer):
    player.begin(viewer.request())
    for name in ("v720", "a1"):
        wait_until((viewer.folder / name / "0.m4s").exists)
        assert (viewer.folder / name / "init.mp4").exists()
    (conversion,) = [
        each
        for each in player.converters._conversions.values()  # noqa: SLF001  Nothing reports that.
        if each.work.rendition.name == "v720"
    ]
    wait_until(lambda: conversion._run.rests)  # noqa: SLF001  See above.
    assert not (viewer.folder / "v720" / "1.m4s").exists()
    assert viewer.segment("v720", 1)


def test_the_beginning_waits_for_no_turn(library_folder, children, film):
    with playing(children, most=1) as player:
        viewer = Viewer(player, film)
        assert viewer.segment("v480", 0)
        resting = pid_of(player)
        with pytest.raises(Busy):
            player.begin(viewer.request())
        assert pid_of(player) == resting


def test_a_player_continues_with_segments_that_have_begun(player, viewer, monkeypatch):
    # On a busy machine, the test may ask late.
    monkeypatch.setattr(converter_runs, "BEGUN_SECONDS", 60)
    started = count_runs(monkeypatch)
    player.begin(viewer.request())
    for name in ("v720", "a1"):
        wait_until((viewer.folder / name / "0.m4s").exists)
        assert viewer.segment(name, 1)
    assert started() == 2


def test_light_work_that_has_begun_does_not_wait_for_long(player, viewer, monkeypatch):
    # No setting shortens this, and a test would wait for seconds.
    monkeypatch.setattr(converter_runs, "BEGUN_SECONDS", 0.05)
    player.begin(viewer.request())
    wait_until((viewer.folder / "a1" / "0.m4s").exists)
    wait_until(lambda: len(converters_of(player)) == 1)


def test_the_beginning_precedes_background_work(player, viewer):
    viewer.segment("v720", 20)
    player.begin(viewer.request())
    wait_until((viewer.folder / "v720" / "0.m4s").exists)


def test_the_beginning_yields_to_waiting_viewers(player, viewer, monkeypatch):
    # A real converter might deliver before the other player begins.
    monkeypatch.setattr(converter_runs.ConverterRun, "segments", nothing_until_the_end)
    leaves = threading.Event()
    request = viewer.request(rendition="v720", number=20)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(player.segment, replace(request, has_left=leaves.is_set))
        wait_until(lambda: converters_of(player))
        waiting = pid_of(player)
        player.begin(viewer.request())
        assert waiting in converters_of(player)
        leaves.set()


@pytest.mark.promise("a beginning that nobody watches gives way")
def test_the_beginning_gives_way(library_folder, children, film, slow_beginning):
    with playing(children, most=1) as player:
        viewer = Viewer(player, film)
        player.begin(viewer.request())
        assert viewer.segment("v480", 1)


@pytest.fixture
def slow_beginning(monkeypatch):
    """Let no run from the first segment deliver: a real one might be faster than the test."""
    segments = converter_runs.ConverterRun.segments
    monkeypatch.setattr(
        converter_runs.ConverterRun,
        "segments",
        lambda run: segments(run) if run.first else nothing_until_the_end(run),
    )


def test_the_beginning_is_not_finished_for_a_viewer_elsewhere(player, viewer, slow_beginning):
    player.begin(viewer.request())
    assert viewer.segment("v720", 20)
    assert not (viewer.folder / "v720" / "0.m4s").exists()


def test_a_segment_that_no_one_waits_for_is_not_finished(player, viewer, slow_beginning):
    leaves = threading.Event()
    first = viewer.request(rendition="v720", number=0)
    with ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(player.segment, replace(first, has_left=leaves.is_set))
        wait_until(lambda: converters_of(player))
        seeking = threads.submit(viewer.segment, "v720", 20)
        leaves.set()
        assert type(waiting.exception(10)) is Busy
        assert seeking.result(10)


def test_two_viewers_far_apart_are_both_served(viewer):
    numbers = [0, 20, 1, 21, 2, 22]
    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(lambda number: viewer.segment("v480", number), numbers))
    assert len(set(made)) == len(numbers)


def test_two_files_of_one_content_share_one_converter(player, viewer, film):
    viewer.segment("v480", 0)
    last = converter_runs.PICTURES_AHEAD
    wait_until((viewer.folder / "v480" / f"{last}.m4s").exists)
    pid = pid_of(player)
    Viewer(player, film).segment("v480", last + 1)
    assert pid_of(player) == pid


def test_viewers_of_two_files_of_one_content_far_apart_are_all_served(
    player, viewer, film, monkeypatch
):
    most_at_once = count_at_once(monkeypatch)
    other = Viewer(player, film)
    requests = [(viewer, 0), (other, 20), (viewer, 1), (other, 21), (viewer, 2), (other, 22)]
    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(lambda each: each[0].segment("v480", each[1]), requests))
    assert len(set(made)) == len(requests)
    assert most_at_once() == 1


def count_at_once(monkeypatch):
    """Return a function that reports the most converters that ran at once since."""
    open_runs, counts = set(), []
    begin, close = converter_runs.ConverterRun.__init__, converter_runs.ConverterRun.close

    def begun(run, *args):
        open_runs.add(run)
        counts.append(len(open_runs))
        begin(run, *args)

    def closed(run):
        close(run)
        open_runs.discard(run)

    # Polling the processes would miss two converters that overlap for a moment.
    monkeypatch.setattr(converter_runs.ConverterRun, "__init__", begun)
    monkeypatch.setattr(converter_runs.ConverterRun, "close", closed)
    return lambda: max(counts)


def test_a_file_is_converted_after_its_duplicate_is_deleted(player, viewer, film):
    viewer.segment("v480", 0)
    library_store().delete(viewer.file.blob)
    assert Viewer(player, film).segment("v480", 25)


@pytest.mark.promise("a new plan ends the old conversion")
def test_a_viewer_with_an_outdated_plan_gets_busy(player, viewer, monkeypatch):
    # A real converter delivers its first segment before the other plan arrives.
    monkeypatch.setattr(converter_runs.ConverterRun, "segments", nothing_until_the_end)
    started = count_runs(monkeypatch)
    blob, folder = library_store().path(viewer.file.blob), viewer.folder / "v480"
    make_folder(folder)
    work = ConverterWork(blob, folder, viewer.rendition("v480"))
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(player.converters.segment, work, 0, 20)
        wait_until(lambda: converters_of(player))
        with pytest.raises(Busy):
            player.converters.segment(planned_anew(work), 0, 0)
        with pytest.raises(Busy):
            waiting.result(60)
    assert started() == 1
    assert converters_of(player) == []


def nothing_until_the_end(run):
    run._running.wait()  # noqa: SLF001  It stands in for a method of the run.
    return iter(())


def planned_anew(work):
    return replace(work, rendition=replace(work.rendition, preroll=work.rendition.preroll + 1))


def test_replanning_and_eviction_do_not_deadlock(tmp_path, monkeypatch):
    made = Converters(Jobs(0), Cache(0))
    work = ConverterWork(
        tmp_path / "film", tmp_path, Rendition("v480", RenditionKind.PICTURE, 0, 10)
    )
    stop, stops, make_way = Conversion.stop, threading.Event(), made.make_way

    def refused(work, wait_seconds):
        with pytest.raises(Busy):
            made.segment(work, 0, wait_seconds)

    def stop_now(conversion):
        stops.set()
        stop(conversion)

    def make_way_meanwhile():
        anew.start()
        assert stops.wait(60)
        return make_way()

    # The two threads meet at this point only if the test holds them there.
    monkeypatch.setattr(Conversion, "stop", stop_now)
    monkeypatch.setattr(made, "make_way", make_way_meanwhile)
    before = threading.Thread(target=refused, args=(work, 10), daemon=True)
    anew = threading.Thread(target=refused, args=(planned_anew(work), 0), daemon=True)
    before.start()
    for each in (before, anew):
        each.join(60)
        assert not each.is_alive()


@pytest.mark.promise("a killed converter is replaced")
def test_a_killed_converter_is_replaced(player, viewer):
    waiting = threading.Thread(target=viewer.segment, args=("v720", 3))
    waiting.start()
    wait_until(lambda: converters_of(player))
    os.kill(pid_of(player), signal.SIGKILL)
    waiting.join(120)
    assert (viewer.folder / "v720" / "3.m4s").exists()


def test_a_killed_converter_leaves_no_part_of_a_segment(player, viewer, monkeypatch):
    """The converter is killed while it is ahead of its viewer, with more frames in the pipe."""
    # A few segments are encoded before the test could kill the converter.
    monkeypatch.setattr(converter_runs, "SOUNDS_AHEAD", 9)
    viewer.segment("a1", 0)
    wait_until((viewer.folder / "a1" / "4.m4s").exists)
    os.kill(pid_of(player), signal.SIGKILL)
    grid = viewer.rendition("a1").grid
    frames = [len(packets(viewer.init("a1") + viewer.segment("a1", n))) for n in range(grid.count)]
    assert frames == [grid.units_in(number) for number in range(grid.count)]


def test_a_lost_segment_is_made_again(viewer):
    made = packets(viewer.init("v480") + viewer.segment("v480", 1))
    (viewer.folder / "v480" / "1.m4s").unlink()
    assert packets(viewer.init("v480") + viewer.segment("v480", 1)) == made


def test_an_empty_file_is_not_a_segment(viewer):
    viewer.segment("v480", 1)
    (viewer.folder / "v480" / "1.m4s").write_bytes(b"")
    assert viewer.segment("v480", 1)


def test_segments_outside_the_plan_are_not_found(player, viewer):
    for name, number in (("v480", 60), ("v480", -1), ("v1080", 0), ("../v480", 0)):
        with pytest.raises(NotFound):
            player.segment(viewer.request(rendition=name, number=number))


def test_a_conversion_beyond_the_limit_gets_busy(library_folder, children, film):
    with playing(children, most=1) as player:
        viewer = Viewer(player, film)
        assert viewer.plan
        with player.converters.jobs.converting(), pytest.raises(Busy):
            viewer.segment("v480", 0)
        assert viewer.segment("v480", 0)


def test_films_are_surveyed_a_few_at_once(player, film, monkeypatch):
    # No setting shortens this, and waiting two seconds would prove no more.
    monkeypatch.setattr(job_turns, "LIGHT_SECONDS", 0.05)
    viewer = Viewer(player, film)
    with ExitStack() as turns:
        for _ in range(job_turns.LIGHT_AT_ONCE):
            turns.enter_context(player.converters.jobs.light())
        with pytest.raises(Busy):
            player.plan(viewer.request())
    player.plan(viewer.request())


@pytest.mark.promise("a resting converter gives way")
def test_a_resting_converter_gives_way(library_folder, children, film):
    with playing(children, most=1) as player:
        viewer = Viewer(player, film)
        viewer.segment("v480", 0)
        resting = pid_of(player)
        # The converter rests a moment after writing its last segment, and nothing reports that.
        (conversion,) = player.converters._conversions.values()  # noqa: SLF001  See above.
        wait_until(lambda: conversion._run.rests)  # noqa: SLF001  See above.
        assert viewer.segment("v720", 0)
        assert resting not in converters_of(player)


@pytest.mark.promise("a failed conversion says why")
def test_a_conversion_that_always_fails_says_why(player, viewer):
    """The film's bytes were lost after its survey."""
    library_store().path(viewer.file.blob).write_bytes(b"not a film")
    with pytest.raises(CannotConvert) as refused:
        viewer.segment("v480", 0)
    assert refused.value.why


def test_everyone_waiting_for_a_failed_segment_gets_the_reason(player, viewer):
    library_store().path(viewer.file.blob).write_bytes(b"not a film")
    with ThreadPoolExecutor(8) as threads:
        requests = [threads.submit(viewer.segment, "v480", 0) for _viewer in range(8)]
        assert {type(each.exception()) for each in requests} == {CannotConvert}


class FullDisk(Cache):
    def put(self, path, data):
        raise DiskFull


def test_a_full_disk_is_not_blamed_on_the_film(player, viewer):
    player.converters.cache = FullDisk(0)
    with pytest.raises(Busy):
        viewer.segment("v480", 0)
    player.converters.cache = player.cache
    assert viewer.segment("v480", 0)


def test_unfinished_conversions_are_never_removed(library_folder):
    place = Content("a" * 40, 1).folder / FILMS
    place.mkdir(parents=True)
    for name in (".film.mp4", "film.mp4"):
        (place / name).write_bytes(b"film")
        os.utime(place / name, (0, time.time() - 3600))
    Cache(5).sweep()
    assert [path.name for path in place.iterdir()] == [".film.mp4"]


@pytest.mark.promise("the media cache keeps its limit")
def test_the_conversion_watched_longest_ago_is_removed_first(library_folder, children, film):
    with playing(children, budget_bytes=2**40) as player:
        viewer = Viewer(player, film)
        for number in range(4):
            viewer.segment("v480", number)
        player.stop()
        places = [viewer.folder / "v480" / f"{number}.m4s" for number in range(4)]
        for age, place in enumerate(places):
            os.utime(place, (0, 1000 - age))
        os.utime(places[2])
        player.cache.budget_bytes = sum(place.stat().st_size for place in places[:2])
        player.cache.sweep()
        assert [place.exists() for place in places] == [False, False, True, False]
        assert (viewer.folder / "plan.json").exists()
