"""kill -9 of a worker at the steps of a transfer, from the queue to the library."""

import signal
from functools import partial

import pytest

from service.library import library
from service.models import File, Transfer
from service.transfers import transfers
from service.transfers.download_folders import ids_on_disk
from tests.service.builders import NOW, alice
from tests.service.fakes import Shift
from tests.service.test_kills import dying_at, whole

pytestmark = pytest.mark.django_db(transaction=True)
# A prime, so that the runs meet every kind of step without testing each of some 500.
STRIDE = 13


def live(transfer: Transfer) -> None:
    """Run a worker from its start until the transfer is done and its download folder gone."""
    shift = Shift()
    shift.rounds(2)
    for _ in range(4):
        if shift.state(transfer) != "done" and shift.engine.orders:
            shift.engine.metadata(transfer, files=[("film", 7)])
            shift.round()
            shift.engine.complete(transfer, b"content")
        shift.rounds(2)


@pytest.mark.slow
def test_a_kill_at_any_step_loses_and_doubles_nothing(library_folder):
    account, step, status = alice(), 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        uri = f"magnet:?xt=urn:btih:{step + 1:040x}&dn=film"
        transfer = transfers.add_magnet(account, uri, 0, NOW)
        status = dying_at(step, partial(live, transfer))
        live(transfer)
        transfer.refresh_from_db()
        assert (transfer.state, transfer.leased_by) == ("done", ""), step
        assert File.objects.get().pk == transfer.file_created_id
        assert list(ids_on_disk()) == []
        whole(account, library_folder)
        transfers.delete(account, transfer.pk, NOW)
        library.delete_file(account, transfer.file_created_id, NOW)
        step += STRIDE
    assert (status, step > 10 * STRIDE) == (0, True)
