import secrets
from contextlib import closing

import pytest

from service.store.disk_store import DiskStore
from service.store.objects.store import ObjectStore
from tests import object_stores

LOANS_BYTES = 10**9


@pytest.fixture(scope="session")
def seaweedfs():
    with object_stores.seaweedfs() as server:
        yield server


@pytest.fixture
def objects(seaweedfs, tmp_path):
    """Yield a store in a prefix of its own."""
    with closing(
        ObjectStore(seaweedfs.bucket(secrets.token_hex(8)), tmp_path, LOANS_BYTES)
    ) as store:
        yield store


@pytest.fixture(params=["disk", "objects"])
def any_store(request, tmp_path):
    if request.param == "disk":
        return DiskStore(tmp_path / "library")
    return request.getfixturevalue("objects")
