import threading

import pytest

from service.errors import Busy
from service.media.sandbox.job_turns import Jobs


def test_so_many_converters_and_no_more():
    jobs = Jobs(2)
    with jobs.converting(), jobs.converting(), pytest.raises(Busy), jobs.converting():
        pass
    with jobs.converting(), jobs.converting():
        pass


def test_pictures_wait_for_no_converter():
    jobs = Jobs(1)
    with jobs.converting(), jobs.picturing(0):
        pass


def test_pictures_wait_for_one_another():
    jobs = Jobs(1)
    with jobs.picturing(0), pytest.raises(Busy), jobs.picturing(0.01):
        pass
    entered, leave = threading.Event(), threading.Event()

    def wait():
        with jobs.picturing(10):
            entered.set()
            leave.wait(60)

    with jobs.picturing(0):
        thread = threading.Thread(target=wait)
        thread.start()
        assert not entered.is_set()
    assert entered.wait(60)
    leave.set()
    thread.join()


def test_background_work_waits_while_anything_runs():
    jobs, done = Jobs(1), threading.Event()

    def ahead():
        with jobs.picturing_ahead():
            done.set()

    with jobs.converting():
        thread = threading.Thread(target=ahead)
        thread.start()
        assert not done.wait(0.05)
    assert done.wait(60)
    thread.join()


def test_requests_do_not_wait_for_background_work():
    jobs = Jobs(1)
    with jobs.picturing_ahead(), jobs.picturing(0):
        pass


class Film:
    is_going_on = True

    def pause(self):
        self.is_going_on = False

    def resume(self):
        self.is_going_on = True


def test_background_conversion_pauses_while_viewers_need_every_converter():
    jobs, film = Jobs(2), Film()
    with jobs.filming(film), jobs.converting():
        assert film.is_going_on
        with jobs.converting():
            assert not film.is_going_on
        assert film.is_going_on


def test_a_background_conversion_that_starts_meanwhile_pauses_at_once():
    jobs, film = Jobs(1), Film()
    with jobs.converting(), jobs.filming(film):
        assert not film.is_going_on


def test_closing_ends_all_waits():
    jobs, refused = Jobs(1), []

    def wait(turn):
        with pytest.raises(Busy), turn:
            pass
        refused.append(turn)

    with jobs.picturing(0):
        turns = [jobs.picturing(60), jobs.picturing_ahead()]
        threads = [threading.Thread(target=wait, args=(turn,)) for turn in turns]
        for thread in threads:
            thread.start()
        jobs.close()
        for thread in threads:
            thread.join(10)
    assert len(refused) == 2
