"""Other devices and other people: two browsers that meet."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import violations
from tests.browser.conftest import PHONE
from tests.browser.people import Visitor
from tests.running import PASSWORD, Ferry


@pytest.fixture
def other(chromium: Browser) -> Iterator[Page]:
    """A phone that nobody is signed in on."""
    with chromium.new_context(**PHONE) as context:
        page = context.new_page()
        page.set_default_timeout(10_000)
        yield page


def is_fine(page: Page) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def link_of(page: Page, ferry: Ferry) -> str:
    """As a camera on this machine would read it."""
    url = page.locator("#pairing").get_by_label("Link", exact=True).first.input_value()
    return f"{ferry.url}/{url.split('/', 3)[3]}"


def is_in(page: Page) -> None:
    page.wait_for_url(lambda url: re.search(r"/(files/)?$", url))
    expect(page.locator("h1")).to_have_text("Files")


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_phone_is_paired_by_a_link_and_the_desk_sees_it_happen(
    chromium, ferry, other, has_scripts
):
    with chromium.new_context(java_script_enabled=has_scripts) as context:
        alice = Visitor(context.new_page(), ferry.url, ferry)
        alice.sign_in()
        alice.open("/account/")
        page = alice.page
        page.get_by_role("button", name="Show a code for its camera").click()
        number = page.locator("#pairing strong").inner_text()
        if has_scripts:
            is_fine(page)
        other.goto(link_of(page, ferry))
        expect(other.locator("main")).to_contain_text(number)
        is_fine(other)
        other.get_by_role("button", name="Sign in here").tap()
        is_in(other)
        if has_scripts:
            expect(page.locator("#paired")).to_contain_text("is signed in")
            is_fine(page)


def test_a_link_that_was_used_lets_nobody_else_in(alice, ferry, other, chromium):
    alice.open("/account/")
    alice.page.get_by_role("button", name="Show a code for its camera").click()
    link = link_of(alice.page, ferry)
    other.goto(link)
    other.get_by_role("button", name="Sign in here").tap()
    is_in(other)
    with chromium.new_context() as third:
        late = third.new_page()
        late.goto(link)
        expect(late.get_by_role("button", name="Sign in here")).to_have_count(0)


def test_a_device_without_a_camera_is_let_in_by_its_code(alice, ferry, other):
    other.goto(f"{ferry.url}/signin/")
    other.get_by_role("link", name="Sign in with another device").tap()
    other.get_by_role("button", name="Show a code").tap()
    code = other.locator(".pair-code").inner_text()
    is_fine(other)
    page = alice.page
    alice.open("/account/")
    page.get_by_role("link", name="A device without a camera").click()
    page.get_by_label("Code").fill(code.lower())
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("main")).to_contain_text("asks to be signed in as you")
    is_fine(page)
    page.get_by_role("button", name="Sign it in").click()
    is_in(other)


def test_who_is_invited_chooses_a_password_and_is_in(alice, ferry, other):
    page = alice.page
    alice.open("/account/")
    page.get_by_role("link", name="Invite someone").click()
    is_fine(page)
    page.get_by_role("button", name="Make a link").click()
    url = page.get_by_label("Link", exact=True).first.input_value()
    is_fine(page)
    other.goto(f"{ferry.url}/{url.split('/', 3)[3]}")
    is_fine(other)
    other.get_by_label("Name").fill("bob")
    for field in other.locator("input[type=password]").all():
        field.fill(PASSWORD)
    other.locator("main button[type=submit]").tap()
    is_in(other)
    alice.open("/account/")
    expect(page.locator("#people")).to_contain_text("bob")


def test_a_device_is_signed_out_from_afar(alice, ferry, other):
    bob = Visitor(other, ferry.url, ferry)
    bob.sign_in()
    alice.open("/account/")
    devices = alice.page.locator("#devices")
    devices.get_by_role("button", name="Sign out all other devices").click()
    expect(devices.get_by_role("button", name="Sign out all other devices")).to_have_count(0)
    bob.open("/transfers/")
    other.wait_for_url("**/signin/**")


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_the_whole_account_page_is_fine(alice, width):
    alice.page.set_viewport_size({"width": width, "height": 900})
    alice.open("/account/")
    is_fine(alice.page)
