import json

import pytest
from django.db.utils import OperationalError

from config import health


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
        "parts": {"database": "ready", "service": "ready"},
    }


@pytest.mark.django_db
def test_a_part_that_is_not_ready_makes_the_whole_not_ready(client, monkeypatch):
    monkeypatch.setitem(health.CHECKS, "tide", lambda: "The tide is out.")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert json.loads(answer.content)["parts"]["tide"] == "The tide is out."


def test_a_database_that_does_not_answer_is_said(monkeypatch):
    def broken() -> None:
        raise OperationalError("locked")

    monkeypatch.setattr(health.User.objects, "exists", broken)
    assert health.database() == "The database does not answer."
