"""ZIP files become folders: by mouse and by keyboard."""

import os
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import faults_at
from tests.browser.shelf import Folder, Shelf
from tests.browser.test_files import naming, open_menu, row
from tests.service.unpacking.zips import a_zip, encrypted

PATIENCE_MS = 60_000
CONTEXT = "kept"

pytestmark = pytest.mark.browser(
    "The page follows the unpacking: rows, messages, and the focus change while people act."
)
NEWS = "**/unpacking/*"
# The worker may have been faster than the person who cancels.
UNDONE = re.compile("Unpacking canceled|Folder deleted")


@pytest.fixture
def place(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    shelf.file(folder, "Photos.zip", a_zip(("a.txt", b"one"), ("Alps/b.txt", b"two")))
    shelf.file(folder, "Elms.txt", b"no ZIP file")
    return folder


def hold_news(page: Page) -> None:
    """Keep what the page says about unpacking as it is."""
    page.route(NEWS, lambda route: route.fulfill(status=204))


def arrives(page: Page, name: str) -> None:
    expect(row(page, name)).to_have_count(1, timeout=PATIENCE_MS)


def unpack_item(page: Page) -> Locator:
    return page.locator("#entry-menu").get_by_role("button", name="Unpack")


@pytest.mark.journey
def test_the_folder_appears_and_can_be_undone(alice, place):
    page, toast = alice.page, alice.page.locator("#toasts")
    alice.open(place.path)
    open_menu(page, "Elms.txt")
    expect(unpack_item(page)).to_be_hidden()
    page.keyboard.press("Escape")
    hold_news(page)
    open_menu(page, "Photos.zip")
    unpack_item(page).click()
    expect(toast).to_contain_text("Unpacking Photos.zip")
    page.unroute(NEWS)
    arrives(page, "Photos")
    expect(page.locator("#unpacking")).to_be_hidden()
    expect(toast).to_have_text(re.compile(r"^\s*Unpacked into Photos\s*Undo\s*$"))
    toast.get_by_role("button", name="Undo").click()
    expect(toast).to_contain_text("Folder deleted")
    expect(row(page, "Photos")).to_have_count(0)
    expect(row(page, "Photos.zip")).to_have_count(1)


def test_by_keyboard_alone(alice, place):
    page = alice.page
    alice.open(place.path)
    row(page, "Photos.zip").get_by_label("Actions for Photos.zip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#entry-menu").get_by_role("link", name="Open")).to_be_focused()
    unpack_item(page).focus()
    page.keyboard.press("Enter")
    arrives(page, "Photos")
    expect(page.locator("#listing :focus")).to_have_count(1)


def test_a_large_unpacking_shows_its_progress_until_it_is_canceled(alice, place, shelf):
    shelf.file(
        place, "Waits.zip", a_zip(("zeros", bytes(50_000_000)), ("noise", os.urandom(10**6)))
    )
    page, section = alice.page, alice.page.locator("#unpacking")
    alice.open(place.path)
    hold_news(page)
    open_menu(page, "Waits.zip")
    unpack_item(page).click()
    expect(section).to_contain_text("Waits")
    assert faults_at(page) == []
    section.get_by_role("button", name="Cancel Waits").click()
    expect(page.locator("#toasts")).to_contain_text(UNDONE)
    expect(row(page, "Waits")).to_have_count(0)
    expect(section).to_be_hidden()


def test_a_name_that_is_being_typed_stays_until_it_is_saved(alice, place):
    page = alice.page
    alice.open(place.path)
    hold_news(page)
    open_menu(page, "Photos.zip")
    unpack_item(page).click()
    expect(page.locator("#unpacking")).to_be_visible()
    row(page, "Elms.txt").locator(".entry").focus()
    page.keyboard.press("F2")
    name = naming(page, "Elms.txt")
    name.fill("Oaks.txt")
    page.unroute(NEWS)
    with page.expect_response(lambda answer: "/unpacking/" in answer.url and answer.ok):
        pass
    with page.expect_response(
        lambda answer: answer.headers.get("hx-retarget") == "#listing", timeout=PATIENCE_MS
    ):
        pass
    expect(name).to_have_value("Oaks.txt")
    page.keyboard.press("Enter")
    arrives(page, "Oaks.txt")
    arrives(page, "Photos")


def test_a_person_who_scrolled_far_stays_there_and_sees_the_message(alice, shelf):
    page, windows = alice.page, alice.page.locator("#listing .window:not(.ghosts)")
    path = shelf.crowd(150)
    place = Folder("Crowd", path, f"{path}upload/", f"{path}new/")
    shelf.file(place, "A.zip", a_zip(("a.txt", b"one")))
    alice.open(path)
    hold_news(page)
    open_menu(page, "A.zip")
    unpack_item(page).click()
    expect(page.locator("#unpacking")).to_be_visible()
    page.locator(".list-foot").first.scroll_into_view_if_needed()
    expect(windows).to_have_count(2)
    page.unroute(NEWS)
    expect(page.locator("#toasts")).to_contain_text("Unpacked into", timeout=PATIENCE_MS)
    expect(page.locator("#unpacking")).to_be_hidden()
    expect(windows).to_have_count(2)


def test_a_failure_says_what_to_do_and_is_removed(alice, place, shelf):
    shelf.file(place, "Locked.zip", encrypted(a_zip(("a", b"x"))))
    page, section = alice.page, alice.page.locator("#unpacking")
    alice.open(place.path)
    open_menu(page, "Locked.zip")
    unpack_item(page).click()
    words = "This ZIP file needs a password, so Ferry can't unpack it. Download it"
    expect(section).to_contain_text(words, timeout=PATIENCE_MS)
    assert faults_at(page) == []
    section.get_by_role("button", name="Remove Locked from this list").click()
    expect(page.locator("#toasts")).to_contain_text("Removed")
    expect(section).to_be_hidden()


def test_the_preview_unpacks_too(alice, place):
    page = alice.page
    alice.open(place.path)
    row(page, "Photos.zip").locator(".entry").click()
    page.locator("#viewer-name").wait_for()
    page.get_by_role("button", name="Unpack").click()
    arrives(page, "Photos")
