"""What a foreign service reports about its account: the plan, and a wishlist to clear up."""

import secrets

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import faults_at
from tests.browser.conftest import PHONE
from tests.browser.people import Visitor
from tests.browser.spilling import spilling
from tests.running import Ferry
from tests.webui import service
from tests.webui.service import Storage

FULL = "not_enough_space_added_to_wishlist"


@pytest.fixture(scope="module")
def ferry(far_ferry: Ferry) -> Ferry:
    return far_ferry


@pytest.fixture(params=["alice", "phone", "scriptless"])
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


def test_a_wish_is_tried_again_and_another_is_forgotten(visitor, far):
    wishes(far, "Ferries", "Letters")
    page = visitor.page
    plan, toasts = page.locator("#plan"), page.locator("#toasts")
    visitor.open("/account/server/")
    expect(plan).to_contain_text("Hiding an item only hides it in Ferry")
    expect(plan.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="Try again: Ferries").click()
    expect(toasts).to_contain_text("Ferries: Added")
    expect(plan.get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="Hide Letters").click()
    expect(toasts).to_contain_text("Hidden. The item stays on the service's list.")
    expect(plan).to_be_visible()
    expect(plan.get_by_role("listitem")).to_have_count(0)
    visitor.open("/transfers/")
    expect(page.locator("#transfers")).to_contain_text("Ferries")


def test_a_long_name_stays_within_the_toast_that_tells_it(visitor, far):
    name = "W" * 200
    wishes(far, name)
    visitor.open("/account/server/")
    visitor.page.get_by_role("button", name="Try again").click()
    expect(visitor.page.locator("#toasts")).to_contain_text(f"{name}: Added")
    visitor.page.wait_for_load_state()
    assert spilling(visitor.page) == []


def test_a_wish_that_still_does_not_fit_stays_and_says_so(visitor, far):
    wishes(far, "Whales")
    far.fails("/rest/transfer/magnet", 413, FULL)
    far.fails("/rest/torrent/magnet", 413, FULL)
    page = visitor.page
    visitor.open("/account/server/")
    page.get_by_role("button", name="Try again: Whales").click()
    expect(page.locator("#toasts")).to_contain_text("enough space")
    expect(page.get_by_role("button", name="Try again: Whales")).to_be_visible()


def test_a_wish_hidden_on_one_device_is_hidden_on_the_other(alice, phone, far):
    wishes(far, "Tides")
    phone.open("/account/server/")
    expect(phone.page.locator("#plan")).to_contain_text("Tides")
    alice.open("/account/server/")
    alice.page.get_by_role("button", name="Hide Tides").click()
    expect(alice.page.locator("#toasts")).to_contain_text("Hidden")
    phone.page.reload()
    expect(phone.page.locator("#plan")).to_contain_text("PRO")
    expect(phone.page.locator("#plan")).not_to_contain_text("Tides")


def test_a_wishlist_is_readable(phone, far):
    wishes(far, "A long name of a wish that nobody would ever say aloud" * 3, "Ferries")
    phone.open("/account/server/")
    expect(phone.page.locator("#plan").get_by_role("listitem")).to_have_count(2)
    assert faults_at(phone.page, 390) == []


def test_the_page_shows_cached_data_while_the_service_hangs(alice, far, chromium: Browser):
    wishes(far, "Harbours")
    alice.open("/account/server/")
    expect(alice.page.locator("#plan")).to_contain_text("Harbours")
    far.fails("/rest/user", 503)
    with chromium.new_context(**PHONE) as context:
        elsewhere = Visitor(context.new_page(), alice.url, alice.ferry)
        elsewhere.bring_session()
        elsewhere.open("/account/server/")
        plan = elsewhere.page.locator("#plan")
        expect(plan).to_contain_text("isn't responding")
        expect(plan).to_contain_text("You're seeing the details from")
        expect(plan).to_contain_text("Harbours")
