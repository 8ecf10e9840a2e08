"""What a service manager learns of the worker on its machine."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from service.media.serving import local_socket
from service.models import Worker
from service.worker import leases
from tests.service.fakes import end_process_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def lease(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return leases.Lease(tmp_path / leases.FOLDER)


def is_alive() -> bool:
    try:
        call_command("work", "--check")
    except CommandError as failure:
        return "No worker runs on this machine." not in str(failure)
    return True


def test_a_worker_is_alive_while_it_holds_its_lease(lease):
    assert not is_alive()
    lease.hold(timezone.now(), is_engine_alive=True)
    assert is_alive()
    lease.release()
    assert not is_alive()


def test_a_worker_that_was_killed_is_not(lease):
    lease.hold(timezone.now(), is_engine_alive=True)
    end_process_of(lease)
    assert not is_alive()


def test_a_worker_that_hangs_is_not(lease):
    lease.hold(timezone.now() - timedelta(minutes=1), is_engine_alive=True)
    assert not is_alive()


def test_a_worker_of_another_machine_doesnt_count_as_this_machines_worker(lease, settings):
    lease.hold(timezone.now(), is_engine_alive=True)
    assert Worker.objects.count() == 1
    settings.DATA_DIR = Path(settings.DATA_DIR) / "other"
    assert not is_alive()


def test_a_worker_that_only_makes_media_is_alive_while_it_answers(lease, settings):
    settings.WORKER_ROLES = ["media"]
    assert not is_alive()
    with local_socket.listening(settings.DATA_DIR):
        assert is_alive()
    assert not is_alive()


def test_a_worker_that_only_tidies_up_needs_neither(lease, settings):
    settings.WORKER_ROLES = []
    assert is_alive()


def test_a_worker_without_a_lease_is_fine_while_the_site_shows_another_service(lease, settings):
    settings.SERVICE_URL = "https://me:secret@storage.example"
    assert is_alive()
