"""Unpack a ZIP file of an object store, from which it is read in blocks."""

import os
import secrets
from contextlib import closing

import pytest

from service.models import File
from service.store.blobs import library_store
from service.transfers.download_folders import ids_on_disk
from tests.object_stores import KEYS
from tests.service.builders import alice
from tests.service.unpacking.shift import unpacked
from tests.service.unpacking.zips import a_zip, with_wrong_sum

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account(db, seaweedfs, tmp_path, settings, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    settings.DATA_DIR = tmp_path
    settings.STORE_URL = seaweedfs.url(secrets.token_hex(8))
    with closing(library_store()):
        yield alice()


def test_the_files_are_objects(account):
    noise = os.urandom(5_000_000)
    transfer = unpacked(account, a_zip(("noise", noise), ("a/b.txt", b"two")))
    assert transfer.state == "done"
    for name, content in {"noise": noise, "b.txt": b"two"}.items():
        with library_store().open(File.objects.get(name=name).blob) as blob:
            assert blob.readall() == content
    assert list(ids_on_disk()) == []


def test_a_failure_leaves_no_objects(account):
    transfer = unpacked(account, with_wrong_sum(a_zip(("a", b"one"))))
    assert (transfer.state, transfer.reason) == ("failed", "zip_damaged")
    assert {each.blob for each in library_store().blobs()} == {File.objects.get().blob}
