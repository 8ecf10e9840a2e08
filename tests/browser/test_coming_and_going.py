"""Welcome, sign-in, and sign-out, as people do them."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.people import PASSWORD
from tests.running import running

pytestmark = pytest.mark.browser(
    "The browser keeps the cookies of plain HTTP, here and from another device"
)


@pytest.mark.parametrize(
    "host", ["localhost", pytest.param("phone.lan", marks=pytest.mark.journey)]
)
def test_the_first_person_becomes_the_owner(page, tmp_path, host):
    with running(tmp_path / "data", ALLOWED_HOSTS="phone.lan") as ferry:
        visitor = Visitor(page, f"http://{host}:{ferry.port}", ferry)
        visitor.open(ferry.welcome_path)
        page.reload()
        assert faults_at(page, 320, 390, 1440) == []
        page.get_by_label("Name").fill("Astrid")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Repeat password").fill(PASSWORD)
        page.get_by_role("button").first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Files")
        assert faults_at(page, 320, 390, 768, 1440) == []
        page.get_by_label("Magnet link or web address").fill("magnet:?xt=urn:btih:" + "d" * 40)
        page.get_by_role("button", name="Add").click()
        expect(page.locator("#toasts")).to_contain_text("1 added")
        expect(page.locator(".transfer")).to_have_count(1)
        page.get_by_role("link", name="Open folder").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Files")
        visitor.open("/account/")
        expect(page.locator(".page-head")).to_contain_text("Astrid")
        visitor.open(ferry.welcome_path)
        expect(page.get_by_role("heading", level=1)).to_have_text("Ferry already has an owner")
        # If Ferry ends during a request, it resets the connection.
        page.wait_for_load_state("networkidle")


def test_signing_in_and_out(visitor):
    visitor.sign_in()
    assert visitor.heading() == "Files"
    visitor.page.get_by_role("navigation").get_by_role("link", name="Account").click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Account")
    visitor.page.get_by_role("button", name="Sign out", exact=True).click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.browser("The browser goes back to a page that it had kept")
@pytest.mark.parametrize(
    "visitor", [pytest.param("localhost", marks=pytest.mark.journey), "phone.lan"], indirect=True
)
def test_back_after_signing_out_shows_nothing_private(visitor):
    visitor.sign_in()
    visitor.open("/account/")
    expect(visitor.page.locator(".page-head")).to_contain_text("alice")
    visitor.page.get_by_role("button", name="Sign out", exact=True).click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    visitor.page.go_back()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert "alice" not in visitor.page.content()
