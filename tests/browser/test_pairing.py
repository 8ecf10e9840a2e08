"""Pairing and invitations, between two browsers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import faults_at, faults_of
from tests.browser.conftest import PHONE
from tests.browser.people import Visitor, forgive
from tests.running import PASSWORD, Ferry

pytestmark = pytest.mark.browser("Open pages notice by polling what the other device did")


# Expire all pairings.
OVER = (
    "from webui.models import Pairing; from django.utils import timezone;"
    "Pairing.objects.update(expires_at=timezone.now())"
)


@pytest.fixture(scope="module", autouse=True)
def _forgiven(ferry: Ferry) -> None:
    forgive(ferry)


@pytest.fixture
def other(chromium: Browser) -> Iterator[Page]:
    """Yield a phone on which no one is signed in."""
    with chromium.new_context(**PHONE) as context:
        page = context.new_page()
        yield page


def is_fine(page: Page) -> None:
    page.wait_for_load_state()
    assert faults_of(page) == []


def link_of(page: Page, ferry: Ferry) -> str:
    """Return the link of the QR code, with an address that this machine can reach."""
    url = page.locator("#pairing").get_by_label("Link", exact=True).first.input_value()
    return f"{ferry.url}/{url.split('/', 3)[3]}"


def is_in(page: Page) -> None:
    page.wait_for_url(lambda url: urlsplit(url).path in {"/", "/files/"})
    expect(page.locator("h1")).to_have_text("Files")


@pytest.mark.journey
def test_a_phone_is_paired_by_a_link_and_the_desktop_shows_it(alice, ferry, other):
    alice.open("/account/")
    page = alice.page
    page.get_by_role("button", name="Show QR code").click()
    number = page.locator("#pairing strong").inner_text()
    is_fine(page)
    other.goto(link_of(page, ferry))
    expect(other.locator("main")).to_contain_text(number)
    is_fine(other)
    other.get_by_role("button", name="Sign in here").tap()
    is_in(other)
    expect(page.locator("#paired")).to_contain_text("is signed in")
    is_fine(page)


def test_a_device_without_a_camera_is_signed_in_by_its_code(alice, ferry, other):
    other.goto(f"{ferry.url}/signin/")
    other.get_by_role("link", name="Sign in with another device").tap()
    other.get_by_role("button", name="Show code").tap()
    code = other.locator(".pair-code").inner_text()
    is_fine(other)
    page = alice.page
    alice.open("/account/")
    page.get_by_role("link", name="A device without a camera").click()
    page.get_by_label("Code").fill(code.lower())
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("main")).to_contain_text("wants to sign in as you")
    is_fine(page)
    page.get_by_role("button", name="Allow").click()
    is_in(other)


@pytest.mark.browser("Accessibility of the forms, and the browser keeps the session")
def test_invited_people_choose_a_password_and_are_signed_in(alice, ferry, other):
    page = alice.page
    alice.open("/account/server/")
    page.get_by_role("link", name="Invite someone").click()
    is_fine(page)
    page.get_by_role("button", name="Create link").click()
    url = page.get_by_label("Link", exact=True).first.input_value()
    is_fine(page)
    other.goto(f"{ferry.url}/{url.split('/', 3)[3]}")
    is_fine(other)
    other.get_by_label("Name").fill("paula")
    for field in other.locator("input[type=password]").all():
        field.fill(PASSWORD)
    other.locator("main button[type=submit]").tap()
    is_in(other)
    alice.open("/account/server/")
    remove(page, "paula")


@pytest.mark.browser("A page that was offline asks again; Back shows nothing private")
@pytest.mark.journey
def test_a_phone_that_was_signed_out_from_afar_leaves_by_itself_when_it_wakes(alice, ferry, other):
    Visitor(other, ferry.url, ferry).sign_in()
    other.goto(f"{ferry.url}/transfers/")
    expect(other.locator("h1")).to_have_text("Transfers")
    other.context.set_offline(True)
    alice.open("/account/")
    devices = alice.page.locator("#devices")
    phones = devices.get_by_role("listitem").filter(has_text="Just now")
    phones.first.get_by_role("button", name="Sign out").click()
    expect(devices.get_by_role("status")).to_have_text("Device signed out")
    other.context.set_offline(False)
    # Each request that waited leads there, and the next one breaks off the one before.
    expect(other.locator("h1")).to_have_text("Sign in")
    assert "alice" not in other.content()
    other.go_back()
    expect(other.locator("h1")).to_have_text("Sign in")


# Phones that sleep, and wrong clocks


def code_on(other: Page, ferry: Ferry) -> str:
    other.goto(f"{ferry.url}/pair/")
    other.get_by_role("button", name="Show code").tap()
    code = other.locator(".pair-code").inner_text()
    # If the phone fell asleep earlier, it would have no script to wake up with.
    other.wait_for_load_state()
    return code


def remove(page: Page, name: str) -> None:
    page.locator("#people").get_by_role("link", name=f"Change {name}").click()
    page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.locator("#toasts")).to_contain_text(f"{name} removed")


def approve(alice: Visitor, code: str) -> None:
    alice.open("/account/pair/code/")
    alice.page.get_by_label("Code").fill(code)
    alice.page.get_by_role("button", name="Continue").click()
    alice.page.get_by_role("button", name="Allow").click()
    expect(alice.page.locator("#toasts")).to_contain_text("will be signed in")


def test_a_phone_approved_while_asleep_is_signed_in_when_it_wakes(alice, ferry, other):
    code = code_on(other, ferry)
    other.context.set_offline(True)
    approve(alice, code)
    expect(other.locator(".pair-code")).to_have_text(code)
    other.context.set_offline(False)
    is_in(other)


def test_a_phone_that_slept_too_long_says_so_and_gets_a_new_code(alice, ferry, other):
    code = code_on(other, ferry)
    other.context.set_offline(True)
    ferry.manage("shell", "-c", OVER)
    other.context.set_offline(False)
    expect(other.locator("main")).to_contain_text("This code has expired")
    is_fine(other)
    other.get_by_role("button", name="Show code").tap()
    expect(other.locator(".pair-code")).not_to_have_text(code)
    approve(alice, other.locator(".pair-code").inner_text())
    is_in(other)


@pytest.mark.browser("The clock of the page is wrong")
@pytest.mark.parametrize("hours", [-1, 1])
def test_a_phone_whose_clock_is_an_hour_off_can_be_paired(alice, ferry, other, hours):
    other.clock.install(time=datetime.now(UTC) + timedelta(hours=hours))
    other.clock.resume()
    approve(alice, code_on(other, ferry))
    is_in(other)
    other.goto(f"{ferry.url}/transfers/")
    expect(other.locator("h1")).to_have_text("Transfers")


@pytest.mark.browser("Layout and accessibility at three widths")
def test_the_whole_account_page_is_fine(alice):
    alice.open("/account/")
    assert faults_at(alice.page, 320, 390, 1440) == []
