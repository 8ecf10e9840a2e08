"""Search as people use it: while they type, and by keyboard."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_at, too_wide
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.waiting import hold

CONTEXT = "kept"

pytestmark = pytest.mark.browser(
    "Results arrive while people type; the focus and the address follow."
)
WIDTHS = [320, 390, 1440]


@pytest.fixture
def films(shelf: Shelf) -> Folder:
    return shelf.films()


def names(page: Page) -> list[str]:
    return page.locator("#results .name").all_inner_texts()


@pytest.mark.journey
def test_search_from_any_page_while_typing(alice: Visitor, films: Folder):
    alice.open("/account/")
    page = alice.page
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="Names of files and folders")
    expect(field).to_be_focused()
    field.press_sequentially("dunes", delay=20)
    expect(page.locator("#results .name").first).to_have_text(re.compile("Dunes"))
    expect(page).to_have_url(re.compile(r"/search/\?q=dunes$"))
    expect(page.locator("#said")).to_have_text(re.compile("result"))
    page.keyboard.press("ArrowDown")
    expect(page.locator("#results .name").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/view/"))
    page.go_back()
    expect(field).to_have_value("dunes")
    expect(page.locator("#results .name").first).to_have_text(re.compile("Dunes"))
    field.focus()
    page.keyboard.press("Escape")
    expect(field).to_have_value("")
    expect(page.get_by_role("heading", name="New files")).to_be_attached()


def test_limits_apply_at_once(alice: Visitor, films: Folder):
    alice.open("/search/")
    page = alice.page
    page.get_by_label("Kind").select_option("Document")
    expect(page).to_have_url(re.compile("kind=text"))
    expect(page.locator("#results .name", has_text=".mkv")).to_have_count(0)
    assert names(page)
    page.get_by_label("Size").select_option("10 GB or more")
    expect(page.get_by_text("No file or folder matches")).to_be_visible()


def test_the_focus_stays_when_later_results_arrive(alice: Visitor, films: Folder):
    alice.open("/search/?q=dune")
    page = alice.page
    held = hold(page, re.compile(r"/search/results/\?q=dunes"))
    field = page.get_by_role("searchbox", name="Names of files and folders")
    first = page.locator("#results .name").first
    expect(first).to_have_text(re.compile("Dunes"))
    field.press("End")
    with page.expect_request(re.compile("q=dunes")):
        field.press("s")
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    held.pop().continue_()
    expect(page).to_have_url(re.compile(r"/search/\?q=dunes$"))
    expect(page.locator("#said")).to_have_text(re.compile("result"))
    expect(first).to_be_focused()


PATHS = ["/search/", "/search/?q=dunes", "/search/?q=zzzz", "/search/?q=nnnn", "/files/largest/"]
PATHS += ["/files/deleted/", "/search/folder/", "/search/folder/?q=mmmm"]


@pytest.mark.browser("axe and widths need a rendered page.")
@pytest.mark.parametrize("path", PATHS)
def test_the_page_has_no_faults_at_any_width(
    alice: Visitor, films: Folder, shelf: Shelf, path: str
):
    long = shelf.folder("m" * 200, inside=shelf.folder())
    for name in [f"{number} {'n' * 200}.mkv" for number in range(7)]:
        shelf.file(long, name)
        shelf.watch(long, name)
    shelf.delete(long, shelf.file_named(long, name))
    alice.open(path)
    assert faults_at(alice.page, *WIDTHS) == []
    alice.page.set_viewport_size({"width": 320, "height": 900})
    assert too_wide(alice.page) == []


def pick(page: Page, act: str) -> None:
    page.locator("#results .more").first.click()
    page.locator("#entry-menu").get_by_text(act, exact=True).click()


@pytest.mark.browser("Scripts open the menu of a row, and refresh the results afterward.")
def test_the_menu_of_a_result_acts_and_the_search_stays(alice: Visitor, shelf: Shelf):
    folder = shelf.folder()
    shelf.file(folder, "Unlike any other.txt")
    alice.open("/search/?q=unlike")
    page = alice.page
    results = page.locator("#results .name")
    pick(page, "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No file or folder matches")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(results).to_have_text("Unlike any other.txt")
    pick(page, "Move or copy")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Move here")).to_be_enabled()
    dialog.get_by_role("button", name="Move here").click()
    expect(page.locator(".toast").last).to_contain_text("1 item moved to All files")
    expect(page.locator("#results small")).to_contain_text("All files")
    expect(page.locator("#results .name")).to_be_focused()
    pick(page, "Rename")
    page.get_by_label("New name").fill("Unlike any other two.txt")
    page.get_by_role("button", name="Rename").click()
    expect(results).to_have_text("Unlike any other two.txt")
    expect(page).to_have_url(re.compile(r"/search/\?q=unlike$"))
    with page.expect_download() as download:
        pick(page, "Download")
    assert download.value.suggested_filename == "Unlike any other two.txt"


@pytest.mark.browser("Scripts act on a row of another folder; the listing stays.")
def test_a_match_in_another_folder_is_deleted_and_the_listing_stays(alice: Visitor, shelf: Shelf):
    here, there = shelf.folder(), shelf.folder()
    shelf.file(here, "Heron here.txt")
    shelf.file(there, "Heron there.txt")
    alice.open(f"{here.path}?q=heron")
    page = alice.page
    page.get_by_label("Actions for Heron there.txt").click()
    page.locator("#entry-menu").get_by_text("Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".elsewhere")).to_have_count(0)
    expect(page.get_by_title("Heron here.txt", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text(here.name)


@pytest.mark.browser("A script puts the folder from the dialog into the list of destinations.")
def test_any_folder_can_be_a_destination(alice: Visitor, shelf: Shelf):
    inner = shelf.folder("Deep dunes", inside=shelf.folder())
    alice.open("/add/")
    page = alice.page
    page.get_by_role("link", name="Other folder").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Find a folder").press_sequentially("deep dun", delay=20)
    expect(dialog.locator(".places button").first).to_contain_text("Deep dunes")
    dialog.locator(".places button").first.click()
    expect(dialog.locator(".crumbs strong")).to_have_text("Deep dunes")
    dialog.get_by_label("New folder").fill("Deeper")
    dialog.get_by_label("New folder").press("Enter")
    expect(dialog.locator(".crumbs strong")).to_have_text("Deeper")
    dialog.locator(".crumbs button").last.click()
    expect(dialog.locator(".crumbs strong")).to_have_text("Deep dunes")
    dialog.get_by_role("link", name="Choose this folder").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#omni-folder")).to_have_value(inner.key.removeprefix("folder-"))
    expect(page.locator("#omni-folder option:checked")).to_contain_text("/Deep dunes")
    expect(page.locator("#omni")).to_be_focused()
