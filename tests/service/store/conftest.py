import secrets
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from service.store.disk_store import DiskStore
from service.store.objects.store import ObjectStore
from tests import object_stores, postgresql
from tests.object_stores import ObjectServer
from tests.postgresql import Server
from tests.running import PASSWORD, Ferry, free_port, running
from tests.service.api.serving import add_account
from tests.service.store.clients import EMAILS, client

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


@dataclass
class Cluster:
    """Two Ferrys that share everything but their disks."""

    database: Server
    objects: ObjectServer
    prefix: str
    settings: dict[str, str]
    stack: ExitStack
    machines: list[Ferry] = field(default_factory=list)

    def start(self, data_dir: Path) -> Ferry:
        address = f"127.0.0.1:{free_port()}"
        settings = self.settings | {"WORKER_ADDRESS": address}
        return self.stack.enter_context(running(data_dir, **settings))


@pytest.fixture(scope="package")
def cluster(seaweedfs, tmp_path_factory):
    prefix = secrets.token_hex(8)
    # Commits that wait for the disk can be held up there.
    with postgresql.cluster(synchronous_commit="on") as database:
        shared = {
            "DATABASE_URL": database.url,
            "STORE_URL": seaweedfs.url(prefix),
            "SECRET_KEY": secrets.token_hex(32),
            "WEB_PROCESSES": "1",
            "FETCH_PRIVATE": "true",
            **object_stores.KEYS,
        }
        with ExitStack() as stack:
            made = Cluster(database, seaweedfs, prefix, shared, stack)
            made.machines = [made.start(tmp_path_factory.mktemp(name)) for name in ("one", "other")]
            for email in EMAILS:
                add_account(made.machines[0], email, PASSWORD)
            yield made


@pytest.fixture
def one(cluster):
    with client(cluster.machines[0]) as made:
        yield made


@pytest.fixture
def other(cluster):
    with client(cluster.machines[1]) as made:
        yield made
