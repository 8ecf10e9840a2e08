"""What a foreign service reports about its account: the plan, and a wishlist to clear up."""

import secrets

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.browser.spilling import spilling
from tests.running import Ferry
from tests.webui import service
from tests.webui.service import Storage

pytestmark = pytest.mark.browser("Layout of long names, and accessibility")


@pytest.fixture(scope="module")
def ferry(far_ferry: Ferry) -> Ferry:
    return far_ferry


@pytest.fixture(params=["alice", "phone"])
def visitor(request: pytest.FixtureRequest) -> Visitor:
    return request.getfixturevalue(request.param)


def wishes(far: Storage, *names: str) -> None:
    """Make the service report these wishes in every response."""
    rows = []
    for name in names:
        mark = secrets.token_hex(20)
        magnet = f"magnet:?xt=urn:btih:{mark}&dn={name}"
        row = {"title": name, "size": 5_000_000, "torrent_hash": mark, "torrent_magnet": magnet}
        rows.append({**row, "id": int(mark[:7], 16) + 1})
    account = {"username": service.EMAIL, "package_name": "PRO", "wishlist": rows}
    far.is_back()
    far.says("/rest/user", *[httpx.Response(200, json={"account": account}) for _ in range(99)])


def test_a_long_name_stays_within_the_toast_that_tells_it(visitor, far):
    name = "W" * 200
    wishes(far, name)
    visitor.open("/account/server/")
    visitor.page.get_by_role("button", name="Try again").click()
    expect(visitor.page.locator("#toasts")).to_contain_text(f"{name}: Added")
    visitor.page.wait_for_load_state()
    assert spilling(visitor.page) == []


def test_a_wishlist_is_readable(phone, far):
    wishes(far, "A long name of a wish that nobody would ever say aloud" * 3, "Ferries")
    phone.open("/account/server/")
    expect(phone.page.locator("#plan").get_by_role("listitem")).to_have_count(2)
    assert faults_at(phone.page, 390) == []
