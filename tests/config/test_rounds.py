from datetime import timedelta
from threading import Event

import pytest
from django.core.management import call_command

from config import rounds
from config.rounds import Round

pytestmark = pytest.mark.django_db


def test_one_failing_round_does_not_stop_the_others(caplog):
    done = []

    def fail(now):
        raise RuntimeError("tide")

    caplog.set_level("ERROR", logger="ferry.worker")
    rounds.run_all(
        [
            Round("fails", timedelta(hours=1), fail),
            Round("works", timedelta(hours=1), done.append),
        ]
    )
    assert len(done) == 1
    assert "'fails'" in caplog.text


def test_the_worker_stops_when_it_is_told_to():
    stopped, ran = Event(), []

    def run(now):
        ran.append(now)
        stopped.set()

    rounds.run_until(stopped, [Round("last", timedelta(hours=1), run)])
    assert len(ran) == 1


def test_work_once_runs_every_round(monkeypatch):
    ran = []
    each = Round("a", timedelta(hours=1), ran.append)
    monkeypatch.setattr(rounds, "ROUNDS", [each, each])
    call_command("work", "--once")
    assert len(ran) == 2
