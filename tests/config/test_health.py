import json
from datetime import timedelta

import pytest
from django.db.utils import OperationalError
from django.utils import timezone

from config import health
from service.models import Worker


def test_alive_says_so_without_a_database(client):
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.content == b"alive\n"


@pytest.mark.django_db
def test_ready_names_each_part(client):
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert json.loads(answer.content) == {
        "ready": True,
        "parts": {
            "database": "ready",
            "service": "ready",
            "worker": "No worker runs: transfers wait.",
        },
    }


@pytest.mark.django_db
def test_a_worker_that_is_alive_is_told_with_its_engine(client):
    row = Worker.objects.create(name="a", alive_until=timezone.now() + timedelta(seconds=20))
    assert health.worker() == "The engine does not answer: torrents wait."
    Worker.objects.update(is_engine_alive=True)
    assert health.worker() is None
    Worker.objects.filter(pk=row.pk).update(alive_until=timezone.now())
    assert health.worker() == "No worker runs: transfers wait."


@pytest.mark.django_db
def test_nobody_asks_for_the_worker_while_the_site_shows_another_service(settings):
    assert health.worker()
    settings.SERVICE_URL = "https://me:secret@storage.example"
    assert health.worker() is None


@pytest.mark.django_db
def test_a_part_that_is_not_ready_makes_the_whole_not_ready(client, monkeypatch):
    # A part whose trouble can be made at will, and harms no other test.
    monkeypatch.setitem(health.CHECKS, "tide", lambda: "The tide is out.")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert json.loads(answer.content)["parts"]["tide"] == "The tide is out."


def test_a_database_that_does_not_answer_is_said(monkeypatch):
    def broken() -> None:
        raise OperationalError("locked")

    # To break the database of the tests would break the tests beside this one.
    monkeypatch.setattr(health.User.objects, "exists", broken)
    assert health.database() == "The database does not answer."
