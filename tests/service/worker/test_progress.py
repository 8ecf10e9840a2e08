"""What a worker writes about its transfers never undoes what was decided meanwhile."""

import pytest

from service.models import Account, Transfer
from service.transfers import transfers
from service.transfers.download_folders import DownloadFolder
from service.worker.leases import Lease
from service.worker.progress import ProgressWriter
from service.worker.runs.run import Run
from tests.service.builders import NOW, alice, magnet

pytestmark = pytest.mark.django_db


@pytest.fixture
def lease(tmp_path):
    lease = Lease(tmp_path / "workers")
    lease.hold(NOW, is_engine_alive=True)
    return lease


@pytest.fixture
def run(lease, tmp_path):
    """Return the run of a transfer that this worker holds, with a state that isn't written yet."""
    transfer = transfers.add_magnet(alice(), magnet(), 0, NOW)
    lease.take([transfer.pk], NOW)
    changes = {"state": "downloading", "progress_percent": 30}
    return Run(transfer, DownloadFolder(tmp_path), NOW, NOW, changes)


def written() -> tuple[str, float]:
    row = Transfer.objects.get()
    return row.state, row.progress_percent


def test_a_transfer_that_runs_shows_its_progress(lease, run):
    before = Account.objects.get().transfers_revision
    ProgressWriter(lease).write([run], NOW)
    assert written() == ("downloading", 30)
    assert Account.objects.get().transfers_revision == before + 1


@pytest.mark.parametrize("state", ["failed", "done"])
def test_a_transfer_that_is_over_does_not_run_again(lease, run, state):
    Transfer.objects.update(state=state, progress_percent=99)
    ProgressWriter(lease).write([run], NOW)
    assert written() == (state, 99)


def test_a_transfer_that_another_worker_has_taken_over_is_left_to_it(lease, run):
    Transfer.objects.update(leased_by="another")
    ProgressWriter(lease).write([run], NOW)
    assert written() == ("queued", 0)


def test_only_what_is_done_is_written_of_a_transfer_that_is_done(lease, run):
    """While it seeds, its row may have been reset to be fetched again."""
    run.transfer.state, run.changes = "done", {"progress_percent": 100}
    ProgressWriter(lease).write([run], NOW)
    assert written() == ("queued", 0)
    Transfer.objects.update(state="done")
    run.changes = {"progress_percent": 100}
    ProgressWriter(lease).close(run, NOW)
    assert written() == ("done", 100)
    assert Transfer.objects.get().leased_by == ""
