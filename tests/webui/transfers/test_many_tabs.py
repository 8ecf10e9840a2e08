"""What open pages cost a foreign service, while two processes answer them."""

import secrets
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection

import httpx
import pytest

from tests.contract.served import served
from tests.running import PASSWORD, Ferry, running
from tests.webui import service
from tests.webui.service import Storage, storage_of

PATIENCE_SECONDS = 60
RUNNING = {"progress": 42, "size": 1_000_000_000, "download_rate": 5_000_000, "connected_to": 9}


@pytest.fixture
def far() -> Storage:
    return storage_of(secrets.token_hex(8), is_embedded=False)


@pytest.fixture
def ferry(far: Storage, tmp_path) -> Iterator[Ferry]:
    with (
        served(far.fake, service.EMAIL, service.PASSWORD) as url,
        running(tmp_path, SERVICE_URL=url, WEB_PROCESSES="2") as program,
    ):
        program.make_owner()
        yield program


def test_ten_tabs_over_two_processes_cost_the_service_no_more_than_one(ferry, far):
    """Ten tabs poll as fast as they can until the site has asked the service three times."""
    far.transfer("Sintel", **RUNNING)
    patience = {"timeout": PATIENCE_SECONDS, "trust_env": False}
    with httpx.Client(base_url=ferry.url, follow_redirects=True, **patience) as person:
        sign_in(person)
        cookies = "; ".join(f"{key}={value}" for key, value in person.cookies.items())
    stop = threading.Event()
    tabs = [threading.Thread(target=poll, args=(ferry.port, cookies, stop)) for _tab in range(10)]
    started, begun = listings(far), time.monotonic()
    for tab in tabs:
        tab.start()
    while listings(far) < started + 3 and time.monotonic() < begun + PATIENCE_SECONDS:
        stop.wait(0.1)
    stop.set()
    for tab in tabs:
        tab.join(PATIENCE_SECONDS)
    seconds = time.monotonic() - begun
    assert 3 <= listings(far) - started <= seconds / 2 + 1


def listings(far: Storage) -> int:
    return sum(call == ("GET", "/rest/folder") for call in far.calls)


def sign_in(person: httpx.Client) -> None:
    person.get("/signin/")
    token = next(value for name, value in person.cookies.items() if "csrf" in name)
    form = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
    person.post("/signin/", data=form, headers={"Referer": str(person.base_url)})
    assert person.get("/transfers/").status_code == 200


def poll(port: int, cookies: str, stop: threading.Event) -> None:
    """Poll, each time over a new connection, so that both processes answer."""
    while not stop.wait(0.1):
        tab = HTTPConnection("localhost", port, timeout=PATIENCE_SECONDS)
        tab.request("GET", "/transfers/list/", headers={"Cookie": cookies})
        assert tab.getresponse().status == 200
        tab.close()
