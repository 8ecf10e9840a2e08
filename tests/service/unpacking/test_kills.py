"""kill -9 of a worker at the steps of an unpacking."""

import signal
from functools import partial

import pytest

from service.library import library
from service.models import File, Folder
from service.transfers import unpacking
from service.transfers.download_folders import ids_on_disk
from tests.service.builders import NOW, alice
from tests.service.dying import dying_at
from tests.service.test_kills import whole
from tests.service.unpacking.shift import UnpackingShift, a_zip_file
from tests.service.unpacking.zips import a_zip

pytestmark = pytest.mark.django_db(transaction=True)
# A prime, so that the runs meet every kind of step without testing each of them.
STRIDE = 11
CONTENT = a_zip(("a", b"1"), ("below/b", b"2"), ("below/c", b""))


def live(transfer):
    UnpackingShift().until_over(transfer)


@pytest.mark.slow
def test_a_kill_at_any_step_leaves_the_whole_folder_or_none(library_folder):
    account, step, status = alice(), 0, -signal.SIGKILL
    zip_file = a_zip_file(account, CONTENT)
    while status == -signal.SIGKILL:
        transfer = unpacking.unpack(account, zip_file.pk, NOW)
        status = dying_at(step, partial(live, transfer))
        assert File.objects.count() in (1, 4)
        assert Folder.objects.count() == (1 if File.objects.count() == 1 else 3)
        live(transfer)
        transfer.refresh_from_db()
        assert (transfer.state, transfer.leased_by) == ("done", ""), step
        assert File.objects.count() == 4
        assert list(ids_on_disk()) == []
        whole(account, library_folder)
        library.delete_folder(account, transfer.folder_created_id, NOW)
        step += STRIDE
    assert (status, step > 10 * STRIDE) == (0, True)
