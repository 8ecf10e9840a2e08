"""A worker in this process that really unpacks, without an engine."""

from threading import Event

from django.conf import settings

from service.fetching.pace import Pace
from service.fetching.pool import Fetching
from service.models import Account, File, Transfer
from service.store.blobs import library_store
from service.transfers import unpacking
from service.transfers.download_folders import download_folder
from service.worker.import_files import FileImport
from service.worker.transfer_control import Tools
from tests.service.builders import NOW, a_file, put
from tests.service.fakes import Chosen, FakeEngine, Shift
from tests.service.fetching.servers import LOOPBACK

MOST_ROUNDS = 500
BEAT_SECONDS = 0.5


class UnpackingShift(Shift):
    def begin(self):
        self.wake_up = Event()
        super().begin()

    def _tools(self):
        self.engine = FakeEngine()
        self.fetching = Fetching(LOOPBACK, Pace(), self.wake_up)
        return Tools(self.engine, self.fetching, FileImport(self.store, Chosen(self)))

    def until(self, is_so):
        for _ in range(MOST_ROUNDS):
            if is_so():
                return
            self.round()
            self.wake_up.wait(BEAT_SECONDS)
            self.wake_up.clear()
        raise AssertionError("the worker takes too long")

    def until_state(self, transfer, *states):
        self.until(lambda: self.state(transfer) in states)
        return transfer

    def until_over(self, transfer):
        """Run until the transfer is done or failed, and its folder removed."""
        self.until_state(transfer, *Transfer.OVER)
        self.until(lambda: not download_folder(transfer.pk).path.exists())
        return transfer


def a_zip_file(account: Account, content: bytes, name: str = "Photos.zip", **options) -> File:
    return a_file(account, name, blob=put(library_store(), content), **options)


def unpacked(account: Account, content: bytes, name: str = "Photos.zip") -> Transfer:
    """Unpack a new ZIP file, and return the transfer, which is over."""
    assert settings.DATA_DIR
    transfer = unpacking.unpack(account, a_zip_file(account, content, name).pk, NOW)
    return UnpackingShift().until_over(transfer)
