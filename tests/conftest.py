import gc
import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.core.signals import setting_changed
from django.db import connections
from django.test import Client
from django.test.client import MULTIPART_CONTENT, ClientHandler, RequestFactory
from django.utils import timezone
from hypothesis import HealthCheck, settings

from common.passwords import Argon2
from config.embedded import upstream
from host import health
from host.static_files import collection
from service.accounts import accounts
from service.api.encoded import listings as encoded_listing_cache
from service.models import Account
from tests import databases
from tests.people import SignedIn, Stranger, make_person
from tests.running import (
    BASE,
    Ferry,
    bring_static_files,
    bring_tables,
    made_by_tests,
    running,
)
from tests.webui.service import Storage, storage_of
from webui.connection import connection
from webui.models import Role

FORM = "application/x-www-form-urlencoded"

# Each run tries the same examples, so that no change fails by chance. All examples of a test share
# its fixtures. To try other examples, and more of them:
# pytest -m hypothesis --hypothesis-profile search
BOUNDED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("bounded", BOUNDED)
settings.register_profile("few", BOUNDED, max_examples=10)
settings.register_profile("search", BOUNDED, derandomize=False, max_examples=3000)
settings.load_profile("bounded")


def pytest_configure(config: pytest.Config) -> None:
    """Try few examples in `make test`; `make test-all` tries all."""
    if config.option.tier == "test":
        settings.load_profile("few")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need the whole program as slow: it takes seconds to start.

    Leave out those that are about the other database.
    """
    for item in items:
        if "ferry" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")
    (other,) = {"sqlite", "postgresql"} - {connections["default"].vendor}
    config.hook.pytest_deselected(items=[each for each in items if each.get_closest_marker(other)])
    items[:] = [each for each in items if not each.get_closest_marker(other)]


def pytest_collection_finish() -> None:
    """Keep the garbage collector from scanning everything loaded: an eighth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Make once what each process of pytest-xdist would otherwise make."""
    if not session.config.getoption("numprocesses", None):
        return
    if databases.is_sqlite():
        environment = os.environ | {"DATA_DIR": str(made_by_tests() / "tables")}
        command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        subprocess.run(command, cwd=BASE, env=environment, check=True)
    collection.collect_static()


@pytest.fixture(scope="session", autouse=True)
def _static_files() -> None:
    bring_static_files(django_settings.DATA_DIR)
    collection.collect_static()


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """Use the tables that are already made, if they are."""
    return bring_tables(Path(connections["default"].settings_dict["TEST"]["NAME"] or os.devnull))


@pytest.fixture(scope="session", autouse=True)
def _forms_as_browsers_send_them() -> Iterator[None]:
    """Send forms as browsers do: as multipart only if they have files.

    Django's test client sends every form as multipart and has no setting for this. Ferry accepts
    no multipart from strangers.
    """
    post = RequestFactory.post

    def send(self: RequestFactory, path: str, data: Any = None, *given: Any, **more: Any) -> Any:
        kind = given[0] if given else more.get("content_type", MULTIPART_CONTENT)
        data = {} if data is None else data
        if kind != MULTIPART_CONTENT or not isinstance(data, dict) or has_files(data):
            return post(self, path, data, *given, **more)
        form = urlencode(data, doseq=True)
        more |= {"content_type": FORM, "CONTENT_TYPE": FORM, "CONTENT_LENGTH": str(len(form))}
        return post(self, path, form, *given[1:], **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RequestFactory, "post", send)
        yield


def has_files(data: dict[str, Any]) -> bool:
    values = [each for one in data.values() for each in (one if isinstance(one, list) else [one])]
    return any(hasattr(value, "read") for value in values)


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords() -> None:
    """Hash cheaply: the real cost, 30 ms for each of many hundred passwords, proves nothing."""
    Argon2.time_cost, Argon2.memory_cost = 1, 8


@pytest.fixture(scope="session", autouse=True)
def _middleware_loaded_once() -> Iterator[None]:
    """Share one chain of middleware among all test clients.

    Each client would load its own, and WhiteNoise would scan all static files for it: a fifth of
    the CPU time of tests that request pages. Django has no setting for this. Like a
    client's own chain, the shared one is made at the first request after settings changed.
    """
    load = ClientHandler.load_middleware
    chains: list[Any] = []

    def load_once(handler: ClientHandler, *_arguments: object, **_options: object) -> None:
        if not chains:
            load(handler)
            chains.append(handler._middleware_chain)  # noqa: SLF001  Django keeps it there.
        handler._middleware_chain = chains[0]  # noqa: SLF001  As above.

    def forget(**_change: object) -> None:
        chains.clear()

    setting_changed.connect(forget)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientHandler, "load_middleware", load_once)
        yield
    setting_changed.disconnect(forget)


@pytest.fixture(autouse=True)
def _library_as_old_as_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the library and this process know of the previous test's database.

    Each test begins with an empty database, and many share a data folder: the library's count from
    an earlier test would make this test's database look old. Each process also caches that finding
    for seconds; no setting clears the cache.
    """
    (Path(django_settings.DATA_DIR) / "library" / "generation").unlink(missing_ok=True)
    monkeypatch.setattr(health.library, "_checked_at", time.monotonic())
    monkeypatch.setattr(health.library, "_finding", None)


@pytest.fixture(autouse=True)
def _listings_encoded_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep no encoded listings: each test starts again with the same ids, and so the same ETags.

    No setting clears the cache.
    """
    monkeypatch.setattr(encoded_listing_cache.listings, "find", lambda _etag, encode: encode())


@pytest.fixture
def client() -> Client:
    return Stranger(headers={"host": "localhost"}, enforce_csrf_checks=False)


@pytest.fixture(scope="session")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    """Run the whole program with Alice as its owner; tests leave it as they found it."""
    settings = {"ALLOWED_HOSTS": "phone.lan"}
    with running(tmp_path_factory.mktemp("ferry"), **settings) as program:
        program.make_owner()
        yield program


@pytest.fixture
def alice(db: None) -> SignedIn:
    """Return Alice, who owns this Ferry."""
    return make_person("alice", Role.OWNER)


@pytest.fixture
def bob(db: None) -> SignedIn:
    """Return Bob, who was invited as a member."""
    return make_person("bob", Role.MEMBER)


@pytest.fixture
def gwen(db: None) -> SignedIn:
    """Return Gwen, who is a guest."""
    return make_person("gwen", Role.GUEST)


@dataclass
class Clock:
    now: datetime

    def advance(self, by: timedelta) -> None:
        self.now += by


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stop this process's clock: on a slow machine, waits of a second would pass by themselves.

    The machine's clock can't be stopped, since all processes share it.
    """
    clock = Clock(timezone.now())
    monkeypatch.setattr(timezone, "now", lambda: clock.now)
    return clock


@pytest.fixture
def mallory(db: None, client: Client) -> Client:
    """Return a stranger's client."""
    return client


@pytest.fixture(autouse=True)
def _some_service(request: pytest.FixtureRequest) -> None:
    """Connect the site to a fake service, except in tests that request `own_service`."""
    if "own_service" not in request.fixturenames:
        request.getfixturevalue("storage")


@pytest.fixture
def own_service(db: None, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Let the site use the service in this process, and return the site's account there."""
    # See `storage` for the reason.
    monkeypatch.setattr(connection, "_known", None)
    account = accounts.ensure_default(
        upstream.EMBEDDED_ACCOUNT, upstream.secret_digest(), timezone.now()
    )
    # The site may have cached listings of other tests by this number.
    account.library_revision = random.getrandbits(48)
    account.save(update_fields=["library_revision"])
    return account


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> Storage:
    """Connect the site to a fake service, as if it were the one in this process.

    SERVICE_URL also leads to a fake; tests over sockets use it. Here each test
    needs its own client, which doesn't pause before it retries (a second for each failed call),
    and a fake that the test can inspect; no setting gives one.
    """
    monkeypatch.setattr(connection, "service_address", lambda: None)
    # Each process caches this for a second, and the previous test may have been shorter.
    monkeypatch.setattr(connection, "_known", None)
    return connected(storage_of(secrets.token_hex(8), is_embedded=True), monkeypatch)


@pytest.fixture
def foreign(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Storage:
    """Connect the site to a foreign service: cached data shows at once, then is refreshed."""
    return connected(storage_of(secrets.token_hex(8), is_embedded=False), monkeypatch)


def connected(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Storage:
    # See `storage` for the reason.
    monkeypatch.setattr(connection, "_service_at", lambda _place: storage.service)
    return storage
