"""What a person types survives the end of the session, and no one else can see it."""

import secrets
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.browser.waiting import until
from tests.running import PASSWORD, Ferry

pytestmark = pytest.mark.browser(
    "Scripts keep what is typed in the tab, and put it back in its field"
)
CONTEXT = "kept"


@pytest.fixture
def bob(ferry: Ferry) -> Iterator[str]:
    ferry.make_owner("bob")
    yield "bob"
    remove = "from webui.models import User; User.objects.get(username='bob').delete()"
    ferry.manage("shell", "-c", remove)


def end_session(visitor: Visitor) -> None:
    visitor.page.context.clear_cookies(name=f"ferry_session_{visitor.ferry.port}")


def lines(count: int) -> str:
    tail = "&dn=" + "x" * 100
    return "\n".join(f"magnet:?xt=urn:btih:{secrets.token_hex(20)}{tail}" for _ in range(count))


def session_storage(page: Page) -> str:
    return page.evaluate("JSON.stringify(sessionStorage)")


@pytest.mark.parametrize("path", ["/add/", "/transfers/"])
def test_a_long_list_is_restored_in_its_field_and_can_be_sent(alice, path):
    """On the Add page, the banner links to the sign-in; Transfers redirects there."""
    page, text = alice.page, lines(1000)
    alice.open(path)
    page.locator("#omni").fill(text)
    # The server reads the list to count it, so it has to before the session ends.
    expect(page.get_by_role("button", name="Add 1,000")).to_be_visible()
    end_session(alice)
    if path == "/add/":
        page.get_by_role("button", name="Add 1,000").click()
        page.get_by_role("alert").get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    alice.fill_in("alice", PASSWORD)
    page.wait_for_url(f"**{path}")
    expect(page.locator("#omni")).to_have_value(text)
    expect(page.locator("#toasts")).to_contain_text("Ferry has restored what you typed")
    expect(page.get_by_role("button", name="Add 1,000")).to_be_visible()
    page.locator("#omni").fill(lines(1))
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#omni")).to_have_value("")
    assert "xt=urn" not in session_storage(page)


def test_a_list_from_the_bookmarklet_asks_for_confirmation_again(alice):
    page, text = alice.page, lines(30)
    alice.open(f"/add/?list#text={quote(text, safe='')}")
    expect(page.locator("#picks input")).to_have_count(30)
    end_session(alice)
    page.locator("#go:enabled").click()
    page.locator("#trouble").get_by_role("link", name="Sign in").click()
    alice.fill_in("alice", PASSWORD)
    expect(page.locator("#picks input")).to_have_count(30)
    page.locator("#go:enabled").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")


STORED = "Object.keys(sessionStorage).some((key) => key.startsWith('ferry-draft '))"
# A timer that begins behind the script's own, and lasts longer.
SAVED = "new Promise((resolve) => setTimeout(resolve, 400, true))"


def at_a_row(alice, shelf):
    """Focus a row; return the page, and the field for its new name, which F2 opens."""
    folder = shelf.folder()
    shelf.file(folder, "Clouds.mkv", b"clouds")
    alice.open(folder.path)
    alice.page.locator("#listing .entry").first.focus()
    return alice.page, alice.page.get_by_label("New name for Clouds.mkv")


def test_a_new_name_is_back_beside_its_row(alice, shelf):
    page, field = at_a_row(alice, shelf)
    page.keyboard.press("F2")
    expect(field).to_have_js_property("selectionEnd", len("Clouds"))
    field.fill("Storm and thunder.mkv")
    end_session(alice)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    alice.fill_in("alice", PASSWORD)
    expect(field).to_have_value("Storm and thunder.mkv")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Renamed: Storm and thunder.mkv")
    assert "thunder" not in session_storage(page)


def test_an_abandoned_name_is_forgotten(alice, shelf):
    page, field = at_a_row(alice, shelf)
    for _time in range(2):
        page.keyboard.press("F2")
        expect(field).to_be_focused()
        expect(field).to_have_value("Clouds.mkv")
        field.fill("Storm.mkv")
        until(page, STORED)
        page.keyboard.press("Escape")
        page.wait_for_function(SAVED)
        assert "Storm" not in session_storage(page)


def test_a_folder_that_was_given_up_is_forgotten(alice, shelf):
    page = alice.page
    alice.open(shelf.folder().path)
    page.locator("#new").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Storms")
    until(page, STORED)
    page.keyboard.press("Escape")
    page.wait_for_function(SAVED)
    assert "Storms" not in session_storage(page)


LOADED = (
    "performance.getEntriesByType('resource').find(({ name }) => name.includes('unsent-forms'))"
)
GIVE_UP = """(field) => {
  field.value = "Storm.mkv";
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
}"""


def test_a_rename_abandoned_before_the_script_loads_is_not_saved(alice, shelf):
    """Type and give up in one task of the page, so that the script can't load in between."""
    page, field = at_a_row(alice, shelf)
    page.keyboard.press("F2")
    expect(field).to_be_focused()
    field.evaluate(GIVE_UP)
    until(page, LOADED)
    # The import resolves after the module has run, and so have the tasks that waited for it.
    page.evaluate(f"import({LOADED}.name).then(() => null)")
    assert "Storm" not in session_storage(page)


TYPE_AFTER_SWAP = """() => addEventListener("htmx:afterSwap", () => {
  document.querySelector("dialog [name=name]").value = "Caves";
})"""


@pytest.mark.journey
def test_the_name_of_a_new_folder_is_back_in_its_dialog(alice, shelf):
    folder = shelf.folder()
    page = alice.page
    alice.open(folder.path)
    page.locator("#new").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Herring and harbors")
    end_session(alice)
    dialog.get_by_role("button", name="Create folder").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    alice.fill_in("alice", PASSWORD)
    expect(dialog.get_by_label("Name")).to_have_value("Herring and harbors")
    dialog.get_by_role("button", name="Create folder").click()
    expect(page.locator("#listing")).to_contain_text("Herring and harbors")
    assert "Herring" not in session_storage(page)


def test_input_typed_before_a_form_settles_stays(alice, shelf):
    folder = shelf.folder()
    shelf.folder("Alps", inside=folder)
    page = alice.page
    alice.open(folder.path)
    page.evaluate(TYPE_AFTER_SWAP)
    page.locator("#new").click()
    field = page.get_by_role("dialog").get_by_label("Name")
    field.fill("Alps")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.wait_for_function(SAVED)
    assert field.input_value() == "Caves"


@pytest.mark.browser("Scripts leave alone what the server restores; accessibility")
def test_a_form_sent_by_the_browser_is_restored_too(alice):
    page = alice.page
    alice.open("/account/pair/code/")
    page.get_by_label("Code").fill("WXYZ-1234")
    end_session(alice)
    page.get_by_role("button", name="Continue").click()
    alice.fill_in("alice", PASSWORD)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not sent yet")
    expect(page.get_by_label("Code")).to_have_value("WXYZ-1234")
    assert faults_at(page, 320, 390, 1440) == []
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Code")).to_have_value("WXYZ-1234")


def test_input_is_hidden_from_the_next_person_in_the_tab_and_dropped_at_sign_out(alice, bob):
    page = alice.page
    alice.open("/add/")
    page.locator("#omni").fill("a private line")
    end_session(alice)
    alice.open("/add/")
    assert "a private line" not in page.content()
    alice.fill_in(bob, PASSWORD)
    page.wait_for_url("**/add/")
    expect(page.locator("#omni")).to_have_value("")
    assert "a private line" not in session_storage(page)
    page.locator("#omni").fill("another line")
    alice.open("/account/")
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert "another line" not in session_storage(page)


def test_passwords_never_wait(alice):
    page = alice.page
    alice.open("/account/")
    for field in page.locator("input[type=password]").all():
        field.fill("a quiet harbor")
    alice.open("/")
    assert "harbor" not in session_storage(page)
