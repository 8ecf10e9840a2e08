"""Work on files beside the worker's rounds."""

import os
from concurrent.futures import ThreadPoolExecutor

from service.store.blobs import library_store
from service.store.sums import Sums
from service.worker.import_files import FileImport
from tests.service.media.waiting import wait_until

LONG_BYTES = 2**37


def test_a_stop_waits_for_no_file_that_is_hashed_on_the_way(tmp_path):
    (tmp_path / "film").touch()
    os.truncate(tmp_path / "film", LONG_BYTES)
    imports, sums = FileImport(library_store(), ThreadPoolExecutor(1)), Sums()
    imports.hash_ahead(tmp_path / "film", sums, LONG_BYTES)
    wait_until(lambda: sums.size_bytes > 0)
    imports.stop(0)
    assert sums.size_bytes < LONG_BYTES
