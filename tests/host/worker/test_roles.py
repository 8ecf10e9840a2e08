"""Workers that do only a part of the work."""

from pathlib import Path

import pytest

from service.media.serving.local_socket import is_served
from service.models import Worker
from tests.service.working import until, working

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return tmp_path


def test_a_worker_for_transfers_answers_no_media_requests(folder):
    with working(WORKER_ROLES="transfers"):
        until(Worker.objects.exists)
        assert not is_served(folder)


def test_a_worker_for_media_takes_no_transfers(folder):
    with working(WORKER_ROLES="media"):
        until(lambda: is_served(folder))
        assert not Worker.objects.exists()


@pytest.mark.promise("a worker runs until stopped")
def test_a_worker_without_a_role_runs_until_stopped(folder):
    with working(WORKER_ROLES="none") as worker:
        worker.process.terminate()
        assert worker.process.wait(30) == 0
    assert not is_served(Path(folder))
    assert not Worker.objects.exists()
