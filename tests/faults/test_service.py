"""A service that carries out requests without confirming them. Nothing is done twice, Ferry never
reports a false success or failure, and the true state shows once the service responds again.

Tested elsewhere: every misbehavior on a socket (tests/webui/v1/test_misbehaving.py), plain pages
for each, and no action repeated at another host (tests/attacks/test_19_hostile_service.py), and
what is shown while the service is away (tests/webui/files/test_views.py,
tests/webui/transfers/test_views.py).
"""

import secrets
from datetime import UTC, datetime

import httpx
import pytest
from django.utils import timezone

from tests.contract.fake import FakeV1
from tests.faults.tally import Reckoning
from tests.people import page
from tests.webui.service import EMAIL, PASSWORD, URL, Storage
from tests.webui.uploads.test_form import body_of, send
from webui.connection import connection
from webui.connection.address_policy import LinkPolicy
from webui.connection.connection import Service
from webui.deleting.held_deletes import HELD, RETRY, delete_due
from webui.v1.client import Client
from webui.v1.connection import Patience
from webui.v1.network.address import Credentials

pytestmark = pytest.mark.django_db

FAULTS = {
    "answers 500": lambda: httpx.Response(500),
    "answers 504": lambda: httpx.Response(504, html="<h1>Gateway</h1>"),
    "answers 200 with a page": lambda: httpx.Response(200, html="<h1>Welcome</h1>"),
    "redirects": lambda: httpx.Response(302, headers={"Location": "https://elsewhere.example/"}),
    "cuts off": lambda: httpx.ReadError("reset"),
    "is silent": lambda: httpx.ReadTimeout("silent"),
}
ACTS = ["new folder", "rename", "delete", "upload", "magnet", "cancel"]


class Troubled(FakeV1):
    """A service that does every action, but answers with `fault` while that is set."""

    def __init__(self) -> None:
        super().__init__(EMAIL, PASSWORD)
        self.fault = None
        self.done: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        if request.method == "GET":
            return answer
        if answer.status_code == 200:
            self.done.append(f"{request.method} {request.url.path}")
        if self.fault is None:
            return answer
        heard = self.fault()
        if isinstance(heard, Exception):
            raise heard
        return heard


@pytest.fixture
def storage(monkeypatch):
    troubled = Troubled()
    client = Client(
        URL,
        Credentials(EMAIL, PASSWORD),
        transport=troubled,
        may_follow=LinkPolicy(URL, []).may_follow,
        patience=Patience(pauses_seconds=(0.0, 0.0)),
        now=lambda: datetime.now(UTC),
    )
    service = Service(secrets.token_hex(8), client, is_embedded=False)
    # No setting leads to a service in the test's own process.
    monkeypatch.setattr(connection, "_service_at", lambda _place: service)
    monkeypatch.setattr(connection, "service_address", lambda: None)
    yield Storage(troubled, service)
    client.close()


def act(name, bob, ids):
    """Do what a form without scripts does."""
    go = bob.client.post
    return {
        "new folder": lambda: go("/files/0/new/", {"name": "New"}),
        "rename": lambda: go(f"/files/0/file-{ids['old.txt']}/rename/", {"name": "new.txt"}),
        "delete": lambda: go("/files/0/delete/", {"entry": f"file-{ids['doomed.txt']}"}),
        "upload": lambda: send(bob.client, body_of(("sent.txt", "content")), x_file_size="7"),
        "magnet": lambda: go(
            "/transfers/send/", {"text": f"magnet:?xt=urn:btih:{'a' * 40}&dn=film"}
        ),
        "cancel": lambda: go(f"/transfers/t{ids['coming']}/remove/"),
    }[name]()


def names_in(storage):
    return sorted(each.name for each in storage.fake.items.values() if each.name)


@pytest.mark.promise(
    "a request takes effect once",
    cases=["new folder-answers 500", "rename-redirects", "upload-answers 500", "magnet-redirects"],
)
@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ACTS)
def test_a_request_whose_response_is_lost_takes_effect_once(name, fault, bob, storage, tally):
    troubled = storage.fake
    ids = {each: storage.file(each).id for each in ("old.txt", "doomed.txt")}
    ids["coming"] = storage.transfer("coming").id
    assert bob.client.get("/").status_code == 200
    assert bob.client.get("/transfers/").status_code == 200
    troubled.fault = FAULTS[fault]
    answer = act(name, bob, ids)
    delete_due(timezone.now() + HELD)
    tally.faults[f"service {fault}"] += 1
    troubled.fault = None
    assert troubled.done, "the act never reached the service"
    delete_due(timezone.now() + HELD + RETRY)
    assert answer.status_code in (200, 302, 409, 422, 502, 503)
    after = {
        "new folder": ["New", "doomed.txt", "old.txt"],
        "rename": ["doomed.txt", "new.txt"],
        "delete": ["old.txt"],
        "upload": ["doomed.txt", "old.txt", "sent.txt"],
    }.get(name, ["doomed.txt", "old.txt"])
    found = Reckoning(len(after), doubled=troubled.done[1:])
    if names_in(storage) != after:
        found.lost.append(str(names_in(storage)))
    tally.add(found)
    assert found.is_even, found
    shown = bob.client.get("/", follow=True, headers={"cache-control": "no-cache"})
    listed = {tag["title"] for tag in page(shown).select(".entry-name")}
    assert listed == set(after)


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_counts_as_done_until_the_service_reports_it(fault, bob, storage):
    assert "Folder created" in page_after_creating(bob, "Kelp")
    storage.fake.fault = FAULTS[fault]
    assert "Folder created" not in page_after_creating(bob, "Films")


def page_after_creating(bob, name):
    return bob.client.post("/files/0/new/", {"name": name}, follow=True).content.decode()
