"""Welcome, sign-in, sign-out, and password changes, as people do them."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.people import PASSWORD
from tests.running import running

NEW = "a louder harbour at night"


@pytest.mark.parametrize("host", ["localhost", "phone.lan"])
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
        expect(page.locator("#results-summary")).to_contain_text("1 transfer added")
        visitor.open("/transfers/")
        expect(page.locator(".transfer")).to_have_count(1)
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


def test_back_after_signing_out_shows_nothing_private(visitor):
    visitor.sign_in()
    visitor.open("/account/")
    expect(visitor.page.locator(".page-head")).to_contain_text("alice")
    visitor.page.get_by_role("button", name="Sign out", exact=True).click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    visitor.page.go_back()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert "alice" not in visitor.page.content()


def test_a_wrong_password_is_reported_and_the_name_stays(visitor):
    visitor.sign_in(password="wrong")
    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("The name or password is wrong")
    expect(visitor.page.get_by_label("Name")).to_have_value("alice")
    visitor.fill_in("alice", PASSWORD)
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Files")


def test_the_next_page_and_its_fragment_survive_signing_in(visitor):
    visitor.open("/account/#password")
    visitor.fill_in("alice", "wrong")
    expect(visitor.page.get_by_role("alert")).to_be_visible()
    visitor.fill_in("alice", PASSWORD)
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Account")
    assert visitor.page.url == f"{visitor.url}/account/#password"


def test_an_expired_session_under_htmx_leads_to_sign_in_as_a_whole_page(visitor):
    visitor.sign_in()
    visitor.open("/account/")
    visitor.page.context.clear_cookies(name=f"ferry_session_{visitor.ferry.port}")
    form = visitor.page.locator("#password")
    form.get_by_label("Current password").fill(PASSWORD)
    form.get_by_label("New password", exact=True).fill(NEW)
    form.get_by_label("Repeat new password").fill(NEW)
    form.get_by_role("button").click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(visitor.page.locator("nav")).to_have_count(0)
    visitor.fill_in("alice", PASSWORD)
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Account")


def change_password(visitor: Visitor, old: str, new: str) -> None:
    visitor.open("/account/")
    form = visitor.page.locator("#password")
    form.get_by_label("Current password").fill(old)
    form.get_by_label("New password", exact=True).fill(new)
    form.get_by_label("Repeat new password").fill(new)
    form.get_by_role("button").click()


def test_a_password_change_signs_the_other_devices_out(visitor, chromium):
    visitor.sign_in()
    with chromium.new_context() as other_device:
        elsewhere = Visitor(other_device.new_page(), visitor.url, visitor.ferry)
        elsewhere.sign_in()
        assert elsewhere.heading() == "Files"
        change_password(visitor, PASSWORD, NEW)
        expect(visitor.page.get_by_text("Password changed")).to_be_visible()
        elsewhere.open("/")
        assert elsewhere.heading() == "Sign in"
    change_password(visitor, NEW, PASSWORD)
    expect(visitor.page.get_by_text("Password changed").first).to_be_visible()


def test_a_refused_password_is_reported_at_its_field(visitor):
    visitor.sign_in()
    change_password(visitor, "wrong", NEW)
    field = visitor.page.get_by_label("Current password")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(visitor.page.get_by_text("This isn't your current password.")).to_be_visible()


def test_all_of_it_works_without_scripts(ferry, chromium):
    with chromium.new_context(java_script_enabled=False) as context:
        visitor = Visitor(context.new_page(), ferry.url, ferry)
        visitor.open("/account/")
        visitor.fill_in("alice", PASSWORD)
        assert visitor.heading() == "Account"
        change_password(visitor, PASSWORD, NEW)
        expect(visitor.page.locator("#toasts")).to_contain_text("Password changed")
        change_password(visitor, NEW, PASSWORD)
        visitor.page.get_by_role("button", name="Sign out", exact=True).click()
        assert visitor.heading() == "Sign in"
