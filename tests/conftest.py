import gc
import secrets
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

from config import health
from config.passwords import Argon2
from config.static_files import collection
from tests.people import SignedIn, Stranger, make_person
from tests.running import Ferry, running
from tests.webui.service import Storage, storage_of
from webui.connection import connection
from webui.models import Role

FORM = "application/x-www-form-urlencoded"

# Each run tries the same examples, so that nobody's change fails by chance. Fixtures are shared by
# all of one test. For others, and more of them: pytest -m hypothesis --hypothesis-profile search
BOUNDED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("bounded", BOUNDED)
settings.register_profile("search", BOUNDED, derandomize=False, max_examples=3000)
settings.load_profile("bounded")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the whole program, which takes seconds to start."""
    for item in items:
        if "ferry" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """Keep the garbage collector from walking all that is loaded: an eighth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="session", autouse=True)
def _static_files() -> None:
    collection.collect_static()


@pytest.fixture(scope="session", autouse=True)
def _forms_as_browsers_send_them() -> Iterator[None]:
    """Django's test client sends every form as multipart, and a browser only one with files. Ferry
    takes no multipart from strangers. The client has no setting for this."""
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
    """The real cost, 30 ms for each of many hundred passwords, would prove nothing here."""
    Argon2.time_cost, Argon2.memory_cost = 1, 8


@pytest.fixture(scope="session", autouse=True)
def _no_connection_outlives_its_thread() -> None:
    """A server counts them, warns of those left open, and drops no database that has any. Here a
    thread of the worker ends with its test; there it closes what it has after each answer."""
    if connections["default"].vendor != "sqlite":
        connections["default"].settings_dict["CONN_MAX_AGE"] = 0


@pytest.fixture(scope="session", autouse=True)
def _middleware_loaded_once() -> Iterator[None]:
    """Each test client would load the middleware anew, and WhiteNoise look at all static files for
    it: a fifth of the CPU time of tests that ask for pages. Django has no setting that lets clients
    share it. Like a client's own, it is made at the first request after settings changed.
    """
    load = ClientHandler.load_middleware
    chains: list[Any] = []

    def load_once(handler: ClientHandler, *_arguments: object, **_options: object) -> None:
        if not chains:
            load(handler)
            chains.append(handler._middleware_chain)  # noqa: SLF001  Where Django keeps it.
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
    """Each test begins with an empty database, and many share a data folder: what the library has
    counted for another test would make this one's database look old. Each process also remembers
    for seconds what it has found; no setting makes it look again."""
    (Path(django_settings.DATA_DIR) / "library" / "generation").unlink(missing_ok=True)
    monkeypatch.setattr(health, "_doubt_known", (time.monotonic(), None))


@pytest.fixture
def client() -> Client:
    return Stranger(headers={"host": "localhost"}, enforce_csrf_checks=False)


@pytest.fixture(scope="session")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    """The whole program with Alice as its owner; tests leave it as they found it."""
    settings = {"ALLOWED_HOSTS": "phone.lan"}
    with running(tmp_path_factory.mktemp("ferry"), **settings) as program:
        program.make_owner()
        yield program


@pytest.fixture
def alice(db: None) -> SignedIn:
    """Owns this Ferry."""
    return make_person("alice", Role.OWNER)


@pytest.fixture
def bob(db: None) -> SignedIn:
    """Was invited."""
    return make_person("bob", Role.MEMBER)


@pytest.fixture
def gwen(db: None) -> SignedIn:
    """Stays in the guest room."""
    return make_person("gwen", Role.GUEST)


@dataclass
class Clock:
    now: datetime

    def advance(self, by: timedelta) -> None:
        self.now += by


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of this process, which stands still: on a slow machine, waits of a second would
    pass by themselves. That of the machine is everybody's."""
    clock = Clock(timezone.now())
    monkeypatch.setattr(timezone, "now", lambda: clock.now)
    return clock


@pytest.fixture
def mallory(db: None, client: Client) -> Client:
    """A stranger."""
    return client


@pytest.fixture(autouse=True)
def storage(monkeypatch: pytest.MonkeyPatch) -> Storage:
    """What the site shows in tests, as if it were the service in this process.

    V1_TRANSPORT and SERVICE_URL lead to a fake as well, and tests over sockets use them. Here each
    test needs a client of its own, that pauses for no second try (a second for each call that
    fails), with a fake that the test can ask; no setting gives one.
    """
    monkeypatch.setattr(connection, "service_address", lambda: None)
    # Each process remembers this for a second, which may be longer than the test before lasted.
    monkeypatch.setattr(connection, "_known", None)
    return connected(storage_of(secrets.token_hex(8), is_embedded=True), monkeypatch)


@pytest.fixture
def foreign(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Storage:
    """Somebody else's service, which is shown at once and asked behind."""
    return connected(storage_of(secrets.token_hex(8), is_embedded=False), monkeypatch)


def connected(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Storage:
    # `storage` says why.
    monkeypatch.setattr(connection, "_service_at", lambda _place: storage.service)
    return storage
