"""How often a failed survey is retried."""

import time
from contextlib import contextmanager
from queue import Queue

import pytest

from service.errors import Busy, CannotConvert
from service.media import refusals
from service.media.sandbox import launcher
from service.media.sandbox.launcher import Failed
from tests.service.media import samples
from tests.service.media.watching import Viewer, playing

pytestmark = pytest.mark.django_db
FAULT = Failed("it is odd")
TOO_MUCH = Failed("it took too much computing", is_limit=True)
TOO_LONG = Failed("it took too long", is_limit=True, is_late=True)


@pytest.fixture
def player(library_folder, children):
    with playing(children) as player:
        yield player


@pytest.fixture
def viewer(player):
    return Viewer(player, samples.film("survey.mp4", seconds=2))


@contextmanager
def failing(failed):
    """Make all surveys fail, and yield a function that counts them."""
    seen = []

    def survey(*arguments, **_options):
        seen.append(arguments)
        raise failed

    with pytest.MonkeyPatch.context() as patch:
        # No film exceeds a limit or breaks on demand, and each survey must be counted.
        patch.setattr(launcher, "run", survey)
        yield lambda: len(seen)


def asks(viewer, times, refusal):
    for _ in range(times):
        with pytest.raises(refusal):
            viewer.player.plan(viewer.request())


def test_a_fault_is_remembered_at_once(viewer):
    with failing(FAULT) as surveys:
        asks(viewer, 3, CannotConvert)
    assert surveys() == 1


def test_media_that_take_too_much_are_tried_once_more(viewer):
    with failing(TOO_MUCH) as surveys:
        asks(viewer, 4, CannotConvert)
    assert surveys() == 2


def test_a_killed_survey_is_made_by_the_next_request(viewer):
    with failing(TOO_MUCH):
        asks(viewer, 1, CannotConvert)
    assert viewer.plan


def test_media_that_timed_out_are_tried_again_in_an_hour(viewer, monkeypatch):
    with failing(TOO_LONG) as surveys:
        asks(viewer, 1, Busy)
        asks(viewer, 3, CannotConvert)
    assert surveys() == 1
    now = time.time()
    # The refusal lasts for an hour by the machine's clock.
    monkeypatch.setattr(refusals.time, "time", lambda: now + refusals.LATER_SECONDS + 1)
    assert viewer.plan


def test_a_playable_film_is_not_refused_for_a_full_scan(player):
    viewer = Viewer(player, samples.film("survey.ts", seconds=2))
    assert not viewer.plan.is_final
    with failing(TOO_MUCH) as surveys:
        player.prepare_one()
        assert surveys() == 1
        assert refusals.find_remembered(viewer.folder) is None
        assert not viewer.plan.is_final


@pytest.mark.slow
def test_a_full_scan_killed_midway_is_repeated_by_the_next_worker(player, children):
    viewer = Viewer(player, samples.film("survey.ts", seconds=2))
    assert "vcopy" not in viewer.names()
    with failing(TOO_MUCH):
        player.prepare_one()
    with playing(children) as viewer.player:
        viewer.wait_for_the_cuts()
    assert "vcopy" in viewer.names()


def test_a_full_scan_is_scheduled_once(player):
    viewer = Viewer(player, samples.film("survey.ts", seconds=2))
    assert not viewer.plan.is_final
    assert not viewer.plan.is_final
    # A second order would only repeat the scan, which nothing else shows.
    assert player._arrivals.qsize() == 1  # noqa: SLF001  See above.


def test_a_full_scan_is_scheduled_when_there_is_space(player, monkeypatch):
    viewer = Viewer(player, samples.film("survey.ts", seconds=2))
    with monkeypatch.context() as full:
        # The real queue holds a thousand films.
        full.setattr(player, "_arrivals", Queue(1))
        player._arrivals.put_nowait(None)  # noqa: SLF001  See above.
        assert not viewer.plan.is_final
    viewer.wait_for_the_cuts()


def test_a_film_with_a_fault_is_looked_at_to_its_end_only_once(player):
    viewer = Viewer(player, samples.film("survey.ts", seconds=2))
    names = viewer.names()
    with failing(FAULT):
        player.prepare_one()
        assert viewer.plan.is_final
        assert viewer.names() == names
        assert refusals.find_remembered(viewer.folder) is None
