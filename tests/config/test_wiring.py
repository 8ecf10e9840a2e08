"""The activity of other programs at /rest, as the owner sees it."""

from base64 import b64encode
from contextlib import closing

import httpx
import pytest
from django.core.signals import request_finished
from django.db import OperationalError, close_old_connections, connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from config.embedded import service, upstream
from service.accounts import credentials
from service.models import File
from service.transfers import transfers
from tests.people import page
from tests.service.builders import NOW, a_file, a_folder
from tests.service.builders import alice as an_account
from webui.activity.events import MOST_APART
from webui.models import Activity

pytestmark = pytest.mark.django_db
PASSWORD = "a quiet harbour at noon"
EMAIL = "alice@example.org"
ADDRESS = "198.51.100.7"


@pytest.fixture
def account(db):
    credentials.remembered.forget()
    return an_account(password=PASSWORD)


def ask(method: str, path: str, *pair: str, address: str = ADDRESS) -> int:
    """Send a request as another program would over a socket, and return the status."""
    name, password = pair or (EMAIL, PASSWORD)
    basic = b64encode(f"{name}:{password}".encode()).decode()
    headers = {"host": "localhost", "authorization": f"Basic {basic}"}
    request = RequestFactory().generic(method, path, headers=headers, REMOTE_ADDR=address)
    # As Django's test client does: the test's database connection outlives its requests.
    request_finished.disconnect(close_old_connections)
    try:
        with closing(service.handler().get_response(request)) as response:
            return response.status_code
    finally:
        request_finished.connect(close_old_connections)


def events(alice) -> list[str]:
    """Return the sentences on the owner's page, oldest first."""
    rows = page(alice.client.get("/account/activity/")).select("#events bdi")
    return [row.get_text() for row in rows][::-1]


def test_deletions_are_recorded_with_their_account_and_address(account, alice):
    file, folder = a_file(account, "100%s.txt"), a_folder(account, "Films")
    transfer = transfers.add_url(account, "https://example.org/song.flac", 0, NOW)
    assert ask("DELETE", f"/rest/file/{file.pk}") == 200
    assert ask("POST", f"/rest/folder/{folder.pk}/delete") == 200
    assert ask("DELETE", f"/rest/torrent/{transfer.pk}") == 200
    assert events(alice) == [
        f"Another program deleted “100%s.txt” as {EMAIL}",
        f"Another program deleted “Films” as {EMAIL}",
        f"Another program removed a transfer as {EMAIL}: song.flac",
    ]
    assert {row.address for row in Activity.objects.all()} == {ADDRESS}


def test_failed_deletions_are_not_recorded(account):
    assert ask("DELETE", "/rest/file/999") == 404
    assert ask("DELETE", "/rest/folder/0") == 422
    assert not Activity.objects.exists()


def test_the_site_records_by_itself_what_it_deletes(account):
    file = a_file(account, "a.txt")
    pair = httpx.BasicAuth(EMAIL, PASSWORD)
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL, auth=pair) as site:
        assert site.delete(f"/rest/file/{file.pk}").status_code == 200
    assert not Activity.objects.exists()


def test_a_deletion_costs_one_insert_and_a_read_none(account):
    file, other = a_file(account, "a.txt"), a_file(account, "b.txt")
    ask("GET", "/rest/folder")
    with CaptureQueriesContext(connection) as read:
        assert ask("GET", "/rest/folder") == 200
        assert ask("GET", f"/rest/file/{other.pk}") == 302
    with CaptureQueriesContext(connection) as deleted:
        ask("DELETE", f"/rest/file/{file.pk}")
    assert touching_activity(read) == []
    assert [sql.partition(" ")[0] for sql in touching_activity(deleted)] == ["SELECT", "INSERT"]


def touching_activity(seen: CaptureQueriesContext) -> list[str]:
    return [each["sql"] for each in seen if '"webui_activity"' in each["sql"]]


def test_programs_cannot_flood_it(account, alice):
    files = [a_file(account, f"{number}.txt") for number in range(MOST_APART + 5)]
    for file in files:
        ask("DELETE", f"/rest/file/{file.pk}")
    assert Activity.objects.count() == MOST_APART + 1
    assert events(alice)[-1] == "5 more deletions by other programs within an hour"


def test_wrong_passwords_of_an_hour_are_one_row_for_each_account_and_network(account, alice):
    for _time in range(3):
        assert ask("GET", "/rest/user", EMAIL, "guess") == 401
    ask("GET", "/rest/user", EMAIL, "guess", address="203.0.113.9")
    ask("GET", "/rest/user", "my password", "guess")
    assert events(alice) == [
        f"3 wrong passwords from other programs for {EMAIL} within an hour",
        f"1 wrong password from another program for {EMAIL}",
        "1 wrong password from another program for an unknown account",
    ]
    assert "my password" not in str(list(Activity.objects.values()))


def test_many_addresses_cannot_flood_it(account, alice):
    for number in range(MOST_APART + 3):
        ask("GET", "/rest/user", EMAIL, "guess", address=f"10.{number}.0.1")
    assert Activity.objects.count() == MOST_APART + 1
    expected = "3 more wrong passwords from programs at other addresses within an hour"
    assert events(alice)[-1] == expected


def test_no_credentials_are_no_wrong_password(account):
    request = RequestFactory().get("/rest/user", headers={"host": "localhost"})
    assert service.handler().get_response(request).status_code == 401
    assert ask("GET", "/rest/user") == 200
    assert not Activity.objects.exists()


def test_a_deletion_is_done_where_it_cannot_be_recorded(account, monkeypatch, caplog):
    def fail(**_facts):
        raise OperationalError("database or disk is full")

    file = a_file(account, "a.txt")
    # As on a disk that fills up between two writes of one request.
    monkeypatch.setattr(Activity.objects, "create", fail)
    assert ask("DELETE", f"/rest/file/{file.pk}") == 200
    assert not File.objects.exists()
    assert "activity not recorded kind=program_deleted" in caplog.text
