"""The connection: from the environment, from the owner, or to the embedded service."""

import io
from contextlib import closing

import pytest
from django.core.management import CommandError, call_command
from django.db import connection as database

from host import health
from tests.cases import each_case
from tests.people import words
from tests.webui.service import EMAIL, PASSWORD, storage_of
from webui import encryption
from webui.connection import connection
from webui.connection.connection import ServiceAddress, client_for
from webui.models import Connection
from webui.v1.dialect import Dialect
from webui.v1.errors import Unauthorized, Unavailable
from webui.v1.network.address import Credentials

pytestmark = pytest.mark.django_db
URL = "https://storage.example/v"
find_place = connection.service_address
service_at = connection._service_at  # noqa: SLF001  See its only use.


@pytest.fixture(autouse=True)
def really(storage, monkeypatch):
    """Restore `service_address`, which `storage` replaces and these tests check."""
    monkeypatch.setattr(connection, "service_address", find_place)


def test_without_anything_it_is_the_service_in_this_process(settings):
    place = connection.service_address()
    assert place.is_embedded
    assert place.credentials.password


def test_the_environment_comes_first(settings):
    Connection.store(URL, "stored", "secret")
    settings.SERVICE_URL = "https://me%40example.org:se%3Acret@host.example/prefix/"
    place = connection.service_address()
    assert (place.url, place.is_embedded) == ("https://host.example/prefix", False)
    assert (place.credentials.name, place.credentials.password) == ("me@example.org", "se:cret")


def test_the_stored_connection_comes_second():
    Connection.store(URL, EMAIL, PASSWORD)
    place = connection.service_address()
    assert (place.url, place.credentials.password) == (URL, PASSWORD)
    assert PASSWORD not in repr(place)
    Connection.objects.all().delete()
    assert connection.service_address().is_embedded


def test_a_secret_at_rest_is_encrypted_and_useless_with_another_key(settings):
    Connection.store(URL, EMAIL, PASSWORD)
    row = Connection.objects.get()
    for secret in (EMAIL, PASSWORD):
        assert secret not in row.sealed + str(row)
    settings.SECRET_KEY = "another"
    with pytest.raises(Unauthorized):
        connection.service_address()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_waiting_for_another_service_holds_no_database_connection():
    nowhere = ServiceAddress("http://127.0.0.1:1", Credentials(EMAIL, PASSWORD), is_embedded=False)
    with client_for(nowhere) as v1:
        database.ensure_connection()
        with pytest.raises(Unavailable):
            v1.account()
    assert database.connection is None


def test_tampered_encrypted_data_is_not_read():
    encrypted = encryption.encrypt("herring")
    assert encryption.decrypt(encrypted) == "herring"
    with pytest.raises(encryption.CannotDecrypt):
        encryption.decrypt(encrypted[:-3] + "abc")


def test_each_address_has_one_client(settings, monkeypatch):
    # Restore what `storage` replaces and this test checks.
    monkeypatch.setattr(connection, "_service_at", service_at)
    first = connection.service()
    assert connection.service() is first
    settings.SERVICE_URL = "https://me:secret@host.example"
    other = connection.service()
    assert other is not first
    assert other.key != first.key
    assert not other.is_embedded


def test_how_a_service_wants_to_be_spoken_to_outlives_the_process():
    place = ServiceAddress(URL, Credentials(EMAIL, PASSWORD), is_embedded=False)
    with closing(connection.client_for(place)) as client:
        assert client.dialect == Dialect()
    connection.save_dialect(place.key, Dialect(naming="torrent"))
    with closing(connection.client_for(place)) as client:
        assert client.dialect == Dialect(naming="torrent")
    connection.store(URL, EMAIL, PASSWORD)
    with closing(connection.client_for(place)) as client:
        assert client.dialect == Dialect()


# manage.py connect


@pytest.fixture
def there(monkeypatch):
    """A foreign service that checks its password."""
    made = storage_of("there", is_embedded=False)

    def client_for(place):
        assert (place.url, place.credentials.name) == (URL, EMAIL)
        if place.credentials.password != PASSWORD:
            made.fails("/rest/user", 401)
        return made.service.v1

    # A test can't serve anything at the https address of a public host.
    monkeypatch.setattr(connection, "client_for", client_for)
    return made


def connect(monkeypatch, *lines, url=URL, **options):
    out = io.StringIO()
    # Without a terminal to prompt at, the command reads its answers from standard input.
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    call_command("connect", *([url] if url else []), stdout=out, stderr=out, **options)
    return out.getvalue()


def test_a_connection_is_checked_and_then_saved(monkeypatch, there):
    said = connect(monkeypatch, EMAIL, PASSWORD)
    assert "Connected as" in said
    assert PASSWORD not in said
    assert Connection.objects.get().credentials() == (EMAIL, PASSWORD)
    assert ("GET", "/rest/user") in there.calls


def test_a_wrong_password_is_reported_and_nothing_saved(monkeypatch, there):
    with pytest.raises(CommandError) as refused:
        connect(monkeypatch, EMAIL, "guess")
    assert "sign-in" in str(refused.value)
    assert "guess" not in str(refused.value)
    assert not Connection.objects.exists()


@each_case(
    "url", ["", "ftp://a.example", "storage.example", "https://me:secret@a.example", "https:///x"]
)
def test_a_malformed_address_or_one_with_a_secret_is_refused(monkeypatch, url):
    with pytest.raises(CommandError):
        connect(monkeypatch, EMAIL, PASSWORD, url=url)


def test_empty_standard_input_is_reported(monkeypatch):
    with pytest.raises(CommandError):
        connect(monkeypatch, EMAIL)


def test_a_connection_is_forgotten(monkeypatch):
    Connection.store(URL, EMAIL, PASSWORD)
    assert "Removed" in connect(monkeypatch, url=None, forget=True)
    assert not Connection.objects.exists()


def test_the_environment_cannot_be_overruled_from_the_terminal(monkeypatch, settings):
    settings.SERVICE_URL = "https://me:secret@host.example"
    with pytest.raises(CommandError):
        connect(monkeypatch, EMAIL, PASSWORD)


# Health


@pytest.fixture
def _unknown_health(monkeypatch):
    """Empty the cache of whether the service answers, which lasts ten seconds and which nothing
    public clears. What the test caches is dropped as well."""
    monkeypatch.setattr(health.service, "_checked_at", float("-inf"))
    monkeypatch.setattr(health.service, "_finding", None)


@pytest.mark.usefixtures("_unknown_health")
def test_readiness_asks_the_service_now_and_then_only(client, storage):
    for _time in range(5):
        assert client.get("/readyz").status_code == 200
    assert storage.calls == [("GET", "/rest/user")]


@pytest.mark.usefixtures("_unknown_health")
def test_an_unreachable_service_makes_the_site_not_ready(alice, storage):
    storage.fails("/rest/user", 503)
    answer = alice.client.get("/readyz")
    assert answer.status_code == 503
    assert "isn't responding" in answer.json()["parts"]["service"]


def test_a_connection_encrypted_with_another_key_is_explained(gwen, settings):
    Connection.store(URL, EMAIL, PASSWORD)
    row = Connection.objects.get()
    row.sealed = "nonsense"
    row.save()
    answer = gwen.client.get("/")
    assert answer.status_code == 502
    assert "sign-in" in words(answer, "h1")
