"""Connecting another service on the Server page, and disconnecting it."""

import json
import os
import subprocess
import sys

import httpx
import pytest
from django.conf import settings as django_settings
from django.db import connection as database

from tests import databases
from tests.cases import each_case
from tests.people import page, words
from tests.running import BASE
from tests.webui.service import EMAIL, IMPATIENT, PASSWORD, storage_of
from webui.connection import connection
from webui.models import Connection
from webui.v1.client import Client
from webui.v1.errors import Unavailable, Unreadable

pytestmark = pytest.mark.django_db
URL = "https://storage.example/v"
HTMX = {"hx-request": "true"}
find_place = connection.service_address


@pytest.fixture(autouse=True)
def _nothing_remembered(db):
    """Clear the cache of whether a connection is stored, which a process keeps for a second."""
    connection.disconnect()
    yield
    connection.disconnect()


@pytest.fixture
def there(monkeypatch):
    """A foreign service. It replaces the client, since a test can't serve anything at the https
    address of a public host."""
    made = storage_of("there", is_embedded=False)
    made.places = []

    def client_for(place):
        made.places.append(place)
        origin = place.url.removesuffix("/v").removesuffix("/v1")
        return Client(origin, place.credentials, transport=made.fake, patience=IMPATIENT)

    monkeypatch.setattr(connection, "client_for", client_for)
    return made


def connect(person, *, htmx=False, follow=False, **fields):
    form = {"url": URL, "email": EMAIL, "password": PASSWORD, **fields}
    headers = HTMX if htmx else {}
    return person.client.post("/account/connection/", form, headers=headers, follow=follow)


def everything_stored() -> str:
    with database.cursor() as cursor:
        tables = database.introspection.table_names(cursor)
        # The index of search has no rows to read, only what they are found by.
        tables = [table for table in tables if not table.endswith("_search")]
        rows = [cursor.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables]
    return repr(rows)


def test_the_owner_connects_a_service(alice, there, caplog):
    caplog.set_level("DEBUG")
    answer = connect(alice, follow=True)
    assert answer.redirect_chain == [("/account/server/#connection", 302)]
    assert "Connected. Your files are at storage.example/v." in words(answer, "#toasts")
    assert "storage.example/v" in words(answer, "#connection strong")
    assert ("GET", "/rest/user") in there.calls
    assert Connection.objects.get().credentials() == (EMAIL, PASSWORD)
    assert "connected by='alice'" in caplog.text
    for secret in (EMAIL, PASSWORD):
        assert secret not in caplog.text
        assert secret not in everything_stored()
    assert PASSWORD not in answer.content.decode()
    assert "storage.example" in everything_stored()


def test_under_htmx_the_whole_page_is_sent_again(alice, there):
    answer = connect(alice, htmx=True)
    assert answer["HX-Redirect"] == "/account/server/#connection"
    assert Connection.objects.exists()


FAILURES = [
    (401, "", "didn't accept this email address and password"),
    (403, "premium_required", "doesn't have a paid plan"),
    (403, "suspended", "refused this account"),
    (404, "", "Check that it's a storage service"),
    (429, "", "is limiting requests"),
    (503, "", "has a problem"),
    (507, "not_enough_space", "refused this account"),
]


@pytest.mark.slow
@each_case("htmx", [False, True])
@each_case("failure", FAILURES)
def test_a_refused_connection_is_explained_and_not_saved(alice, there, caplog, failure, htmx):
    status, reason, said = failure
    caplog.set_level("DEBUG")
    there.fails("/rest/user", status, reason)
    answer = connect(alice, htmx=htmx)
    assert answer.status_code == 422
    assert said in words(answer, "#connection [role=alert]")
    assert "Nothing changed." in words(answer, "#connection [role=alert]")
    assert (page(answer).select_one("html") is None) == htmx
    fields = {each["name"]: each for each in page(answer).select("#connection input.input")}
    assert fields["url"]["value"] == URL
    assert "value" not in fields["password"].attrs
    assert [name for name, each in fields.items() if each.has_attr("autofocus")] == ["password"]
    assert not Connection.objects.exists()
    assert PASSWORD not in answer.content.decode() + caplog.text


@each_case(
    ("failure", "said"),
    [
        (Unavailable("no_connection"), "Nothing responds at this address"),
        (Unavailable("too_slow"), "is taking too long"),
        (Unavailable("bad_certificate"), "certificate isn't valid"),
        (Unavailable("cut_off"), "has a problem"),
        (Unreadable("not_json"), "Check that it's a storage service"),
    ],
)
def test_an_unreachable_service_is_explained_and_not_saved(alice, monkeypatch, failure, said):
    def fail(*_arguments):
        raise failure

    # A test server can't outlast the real timeouts, and has no certificate of this kind.
    monkeypatch.setattr(connection, "check", fail)
    assert said in words(connect(alice), "#connection [role=alert]")
    assert not Connection.objects.exists()


def test_an_unrelated_web_page_is_not_a_service(alice, there):
    there.says("/rest/user", httpx.Response(200, html="<h1>Router</h1>"))
    assert "Check that it's a storage service" in words(connect(alice), "#connection [role=alert]")


def test_a_failed_check_leaves_the_saved_connection(alice, there):
    connect(alice)
    assert connect(alice, password="guess").status_code == 422
    assert Connection.objects.get().credentials() == (EMAIL, PASSWORD)


@pytest.mark.promise("an impossible address is refused")
@pytest.mark.slow
@each_case(
    ("wrong", "field"),
    [
        ({"url": ""}, "url"),
        ({"url": "ftp://a.example"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": "https:///x"}, "url"),
        ({"url": "https://a.example/?x=1"}, "url"),
        ({"url": "https://a.example/../x"}, "url"),
        ({"url": "https://a example"}, "url"),
        ({"url": "x" * 501}, "url"),
        ({"url": "http://169.254.169.254/"}, "url"),
        ({"url": "http://192.0.0.192/"}, "url"),
        ({"url": "http://0xa9fea9fe/"}, "url"),
        ({"url": "http://[fd00:ec2::254]/"}, "url"),
        ({"url": "http://[fe80::1]/"}, "url"),
        ({"url": "http://0.0.0.0:9/"}, "url"),
        ({"url": "http://localhost:8000/"}, "url"),
        ({"url": "http://127.0.0.1:8000"}, "url"),
        ({"url": "http://LOCALHOST"}, "url"),
        ({"email": "me"}, "email"),
        ({"email": "me:you@example.org"}, "email"),
        ({"email": ""}, "email"),
        ({"password": ""}, "password"),
        ({"password": "x" * 1025}, "password"),
    ],
)
def test_an_impossible_address_is_refused_at_its_field_without_a_request(
    alice, there, wrong, field
):
    answer = connect(alice, **wrong)
    assert answer.status_code == 422
    assert page(answer).select_one(f"#connection [name={field}][aria-invalid=true]")
    assert there.places == []


@each_case(
    "url", ["https://me:secret99@a.example", "me:secret99@a.example", f"me:secret99@{'x' * 500}"]
)
def test_a_password_in_the_address_is_not_shown_again(alice, there, url):
    answer = connect(alice, url=url)
    assert answer.status_code == 422
    assert page(answer).select_one("#connection [name=url]")["value"] == ""
    assert "secret99" not in answer.content.decode()
    assert there.places == []


@each_case(
    ("typed", "meant"),
    [
        ("storage.example", "https://storage.example"),
        (" https://storage.example/ ", "https://storage.example"),
        ("http://192.168.1.20:9000/v1", "http://192.168.1.20:9000/v1"),
        ("http://localhost:9000", "http://localhost:9000"),
    ],
)
def test_an_address_is_taken_as_people_type_it(alice, there, typed, meant):
    assert connect(alice, url=typed).status_code == 302
    assert Connection.objects.get().url == meant


# Forgetting


def test_forgetting_says_first_what_happens(alice, there):
    connect(alice)
    dialog = alice.client.get("/account/connection/forget/")
    assert "Disconnect from storage.example/v?" in words(dialog, "h1")
    assert "stay there" in words(dialog, ".sheet")
    assert words(dialog, "a[autofocus]") == "Keep"
    assert Connection.objects.exists()
    done = alice.client.post("/account/connection/forget/", follow=True)
    assert "Disconnected" in words(done, "#toasts")
    assert "This machine" in words(done, "#connection strong")
    assert not Connection.objects.exists()


@each_case("method", ["get", "post"])
def test_disconnecting_without_a_connection_works(alice, method):
    answer = getattr(alice.client, method)("/account/connection/forget/")
    assert answer["Location"] == "/account/server/#connection"


def test_a_connection_encrypted_with_another_key_is_explained_and_can_be_replaced(
    alice, there, monkeypatch
):
    connect(alice)
    Connection.objects.update(sealed="nonsense")
    # `storage` replaces this function, which is the one that fails on the unreadable password.
    monkeypatch.setattr(connection, "service_address", find_place)
    shown = alice.client.get("/account/server/")
    assert "rejected Ferry's sign-in" in words(shown, "#service")
    assert "storage.example" in words(shown, "#connection")
    assert connect(alice).status_code == 302
    assert "rejected" not in words(alice.client.get("/account/server/"), "#service")


# Roles


@each_case("name", ["bob", "gwen"])
def test_only_owners_see_the_storage_location(alice, bob, gwen, there, name):
    connect(alice)
    assert page(alice.client.get("/account/server/")).select_one("#connection")
    shown = {"bob": bob, "gwen": gwen}[name].client.get("/account/server/")
    assert page(shown).select_one("#service")
    assert not page(shown).select_one("#connection")
    assert "storage.example" not in shown.content.decode()


@each_case("name", ["bob", "gwen"])
def test_only_owners_may_change_the_storage_location(alice, bob, gwen, there, name):
    connect(alice)
    person = {"bob": bob, "gwen": gwen}[name]
    assert connect(person, url="https://evil.example").status_code == 403
    assert person.client.post("/account/connection/forget/").status_code == 403
    assert Connection.objects.get().url == URL


def test_the_environments_connection_is_shown_without_its_secrets(alice, there, settings):
    assert page(alice.client.get("/account/server/")).select_one("#connection form")
    settings.SERVICE_URL = "https://me%40example.org:se%3Acret@host.example/prefix"
    shown = alice.client.get("/account/server/")
    assert "host.example/prefix" in words(shown, "#connection strong")
    assert "SERVICE_URL" in words(shown, "#connection")
    assert not page(shown).select_one("#connection form, #connection a, #connection input")
    for secret in ("me@example.org", "me%40example", "se:cret", "cret"):
        assert secret not in shown.content.decode()
    assert connect(alice).status_code == 409
    assert alice.client.post("/account/connection/forget/").status_code == 409
    assert there.places == []


# Two processes

OTHER = """
import json, sys
import django
django.setup()
from django.conf import settings
from webui.connection import connection
for line in sys.stdin:
    settings.SECRET_KEY = line.strip()
    found = connection.service()
    url = found.v1.address.base_url
    said = [url, found.is_embedded, connection.is_embedded(lambda: next(clock))]
    print(json.dumps(said), flush=True)
"""


@pytest.mark.promise("processes share settings")
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_change_is_seen_by_the_other_process(alice, there):
    """The other process has used the connection before, and has a client."""
    code = OTHER.replace("for line", "from itertools import count\nclock = count(0, 2)\nfor line")
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=BASE,
        env=other_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:

        def seen() -> list:
            other.stdin.write(f"{django_settings.SECRET_KEY}\n")
            other.stdin.flush()
            return json.loads(other.stdout.readline())

        assert seen() == ["http://localhost", True, True]
        connect(alice)
        assert seen() == [URL, False, False]
        alice.client.post("/account/connection/forget/")
        assert seen() == ["http://localhost", True, True]
        other.stdin.close()


def other_environment() -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": databases.shared_url(),
    }


def test_the_database_is_queried_once_per_second(django_assert_num_queries, monkeypatch):
    now = [100.0]
    with django_assert_num_queries(1):
        assert all(connection.is_embedded(lambda: now[0]) for _range in range(50))
    Connection.store(URL, EMAIL, PASSWORD)
    assert connection.is_embedded(lambda: now[0])
    now[0] += connection.KNOWN_SECONDS
    assert not connection.is_embedded(lambda: now[0])


def test_a_persons_own_change_shows_at_once():
    assert connection.is_embedded()
    connection.store(URL, EMAIL, PASSWORD)
    assert not connection.is_embedded()
    connection.disconnect()
    assert connection.is_embedded()
